import fc from "fast-check";
import { expect, test } from "vitest";
import { randomStyling } from "../../../test/pages/random-themes.ts";
import { black, type Color, over, white } from "../../lib/color.ts";
import { contrast, mix, parseColor } from "./color.ts";
import { movedColors } from "./moved-colors.ts";
import { nightOf } from "./night-theme.ts";
import { builtInTheme, pageTheme } from "./page-theme.ts";
import { type ColorRole, type Palette, paletteOf } from "./palette.ts";

/** What stands on the page itself, and how well it must be told apart (WCAG 2.2, 1.4.3 and 1.4.11). */
const onPage: readonly (readonly [ColorRole, number])[] = [
  ["ink", 4.5],
  ["quiet", 4.5],
  ["title", 3],
  ["fault", 4.5],
  ["accent", 3],
  ["line", 3],
];
const others: readonly (readonly [ColorRole, ColorRole, number])[] = [
  ["fault", "field", 4.5],
  ["fieldInk", "field", 4.5],
  ["fieldQuiet", "field", 4.5],
  ["accent", "field", 3],
  ["line", "field", 3],
  ["onAccent", "accent", 4.5],
  ["onTint", "tint", 4.5],
  ["badgeInk", "tint", 3],
];

/** The colors that a browser paints for a paint at some places. */
function painted(colors: readonly Color[], share: number): Color[] {
  return [...colors, ...colors.slice(1).map((to, index) => mix(colors[index] ?? to, to, share))];
}

/** Every pair that cannot be told apart, with the pixels of an image where one lies behind. */
function faintPairs(palette: Palette, titleRatio: number, image: readonly Color[], share: number): string[] {
  const { colors, canvas, element, box } = palette;
  const pixels = [...painted(canvas.colors, share), ...image];
  const pages =
    box.background === undefined ? pixels : pixels.map((pixel) => over(box.background ?? pixel, pixel));
  const faint: string[] = [];
  const check = (name: string, front: Color, back: Color, ratio: number) => {
    const found = contrast(front, back);
    if (found < ratio) faint.push(`${name} on ${JSON.stringify(back)}: ${found.toFixed(3)}`);
  };
  for (const page of pages)
    for (const [role, ratio] of onPage)
      check(role, colors[role], page, role === "title" ? titleRatio : ratio);
  for (const [front, back, ratio] of others) check(`${front}/${back}`, colors[front], colors[back], ratio);
  for (const color of painted(element.colors, share)) {
    check("onElement", colors.onElement, color, 4.5);
    // A button has a line around it where any of its colors is hard to tell from the page.
    if (colors.elementLine.alpha === 0) for (const page of pages) check("element", color, page, 3);
  }
  if (colors.elementLine.alpha !== 0)
    for (const page of pages) check("elementLine", colors.elementLine, page, 3);
  if (box.border.size > 0) for (const page of pages) check("border", box.border.color, page, 3);
  return faint;
}

test("every pair of colors that a page paints can be told apart, in any theme and over any cover", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const pixel = fc.record({ red: byte, green: byte, blue: byte, alpha: fc.constant(1) });
  fc.assert(
    fc.property(
      randomStyling,
      fc.boolean(),
      pixel,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (stored, hasCover, one, share) => {
        const given = pageTheme(stored);
        const image = hasCover && given.coverMode === "FULL" ? [black, white, one] : [];
        for (const theme of given.followsDevice ? [given, nightOf(given)] : [given]) {
          const palette = paletteOf(theme, hasCover);
          expect(faintPairs(palette, theme.title.size >= 24 ? 3 : 4.5, image, share)).toEqual([]);
        }
      },
    ),
    { seed: 20_261_122, numRuns: 10_000 },
  );
});

test("is computed once for a theme with a cover, and once without", () => {
  const theme = pageTheme({ canvasColor: { colors: ["#123456"] } });
  for (const hasCover of [false, true]) expect(paletteOf(theme, hasCover)).toBe(paletteOf(theme, hasCover));
  expect(paletteOf(theme, true)).not.toEqual(paletteOf(theme, false));
});

test("names what it moved, by how much, and nothing else", () => {
  const solid = (text: string) => ({ colors: [text] });
  const theme = pageTheme({
    canvasColor: solid("#ffffff"),
    titleFont: { color: solid("#777777") },
    bodyFont: { color: solid("#dddddd") },
    elementColor: { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#000000", "#ffffff"] },
    elementFont: { color: solid("#ffffff") },
  });
  const { moved, colors, element } = paletteOf(theme, false);
  expect(moved.map(({ field }) => field)).toEqual(["bodyFont.color", "elementColor"]);
  const [body, button] = moved;
  expect([body?.from, parseColor(body?.to ?? "")]).toEqual(["#dddddd", colors.ink]);
  expect(contrast(colors.ink, white)).toBeLessThan(4.6);
  expect(button?.from).toBe("#000000 #ffffff");
  expect(contrast(white, element.colors[1] ?? white)).toBeGreaterThan(4.5);
  expect(paletteOf(builtInTheme, false).moved).toEqual([]);
  expect(paletteOf(pageTheme({ canvasColor: solid("#101010") }), false).moved).toEqual([]);
});

test("gives what stands on an image or a harsh gradient a ground, no more of it than it takes", () => {
  const boxed = (opacity: number) => ({
    canvasColor: { colors: ["#000000"] },
    containerEnabled: true,
    containerConfig: { backgroundColor: { colors: ["#ffffff"] }, opacity },
  });
  const opacityOf = (stored: object, hasCover: boolean) =>
    paletteOf(pageTheme(stored), hasCover).box.background?.alpha;
  expect(opacityOf({}, false)).toBeUndefined();
  expect(opacityOf({}, true)).toBeCloseTo(0.9, 2);
  expect(opacityOf(boxed(10), false)).toBeCloseTo(0.1, 2);
  expect(opacityOf(boxed(10), true)).toBeCloseTo(0.9, 2);
  expect(opacityOf(boxed(80), true)).toBeCloseTo(0.8, 2);
  const harsh = { canvasColor: { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#000000", "#ffffff"] } };
  expect(opacityOf(harsh, false)).toBeCloseTo(0.9, 2);
});

test("a border is told from what lies on both of its sides, as far as a color can be", () => {
  const bordered = (canvas: string, background: string, border: string) => {
    const theme = pageTheme({
      canvasColor: { colors: [canvas] },
      containerEnabled: true,
      containerConfig: {
        backgroundColor: { colors: [background] },
        opacity: 100,
        borderSize: 2,
        borderColor: { colors: [border] },
      },
    });
    return paletteOf(theme, false);
  };
  const read = (text: string) => parseColor(text) ?? white;
  const { box, moved } = bordered("#ffffff", "#eeeeee", "#dddddd");
  expect(contrast(box.border.color, read("#eeeeee"))).toBeGreaterThanOrEqual(3);
  expect(contrast(box.border.color, read("#eeeeee"))).toBeLessThan(3.1);
  expect(moved.map(({ field, from }) => [field, from])).toEqual([["containerConfig.borderColor", "#dddddd"]]);
  const between = bordered("#000000", "#ffffff", "#ffffff").box.border.color;
  for (const side of [black, white]) expect(contrast(between, side)).toBeGreaterThanOrEqual(3);
  expect(bordered("#ffffff", "#ffffff", "#123456").moved).toEqual([]);
  // No color is enough for both.
  const gray = bordered("#000000", "#777777", "#777777").box.border.color;
  expect(contrast(gray, read("#777777"))).toBeGreaterThanOrEqual(3);
});

test("a styling is told what moves in the light and, where it follows the device, in the dark", () => {
  const solid = (text: string) => ({ colors: [text] });
  const badge = { badgeEnabled: true, badgeIconColor: solid("#000000") };
  expect(movedColors({})).toEqual([]);
  expect(movedColors({ canvasCoverId: "id" })).toEqual([]);
  expect(movedColors(badge)).toMatchObject([{ field: "badgeIconColor", from: "#000000" }]);
  expect(movedColors({ ...badge, canvasColor: solid("#ffffff") })).toEqual([]);
  const dark = movedColors({
    ...badge,
    canvasColor: solid("#000000"),
    bodyFont: { color: solid("#111111") },
  });
  expect(dark.map(({ field }) => field)).toEqual(["bodyFont.color", "badgeIconColor"]);
});
