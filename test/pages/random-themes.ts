import fc from "fast-check";

const color = fc
  .tuple(fc.integer({ min: 0, max: 0xffffff }), fc.constantFrom(100, 100, 100, 60, 15, 0))
  .map(([rgb, opacity]) => `rgba(${rgb >> 16},${(rgb >> 8) & 255},${rgb & 255},${opacity}%)`);
const paint = fc.record({
  type: oneOf("THEME_COLOR_TYPE_", "SOLID", "LINEAR", "RADIAL"),
  colors: fc.array(color, { minLength: 2, maxLength: 4 }),
});
const font = fc.record({
  color: fc.record({ colors: fc.tuple(color) }),
  fontSize: fc.integer({ min: 8, max: 96 }),
});

/** Stored stylings of all kinds: with any colors, and with any of their values left out. */
export const randomStyling = fc.record(
  {
    canvasColor: paint,
    canvasCoverMode: oneOf("PAGE_THEME_BACKGROUND_COVER_MODE_", "FULL", "PROGRESSIVE_TOP"),
    elementColor: paint,
    titleFont: font,
    bodyFont: font,
    elementFont: font,
    badgeEnabled: fc.constant(true),
    badgeIconColor: paint,
    containerEnabled: fc.boolean(),
    containerConfig: fc.record({
      backgroundColor: paint,
      opacity: fc.integer({ min: 0, max: 100 }),
      borderSize: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { requiredKeys: [] },
);

function oneOf(prefix: string, ...choices: readonly string[]) {
  return fc.constantFrom(...choices.map((choice) => prefix + choice));
}
