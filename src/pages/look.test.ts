import fc from "fast-check";
import { expect, test } from "vitest";
import type { Color } from "../lib/color.ts";
import { contrast, parseColor } from "../model/look/color.ts";
import { builtInTheme, pageTheme } from "../model/look/page-theme.ts";
import { lookOf } from "./look.ts";

/** The custom properties of a look that are colors. */
function colorsOf(look: string): ReadonlyMap<string, Color> {
  const colors = new Map<string, Color>();
  for (const [, name = "", value = ""] of look.matchAll(/--([a-z-]+):([^;{}]+)/g)) {
    const color = parseColor(value);
    if (color !== undefined) colors.set(name, color);
  }
  return colors;
}

/** What stands on what, and how well it must be told apart (WCAG 2.2, 1.4.3 and 1.4.11). */
const pairs = [
  ["ink", "ground", 4.5],
  ["quiet", "ground", 4.5],
  ["title", "ground", 3],
  ["fault", "ground", 4.5],
  ["fault", "field", 4.5],
  ["field-ink", "field", 4.5],
  ["field-quiet", "field", 4.5],
  ["on-element", "element", 4.5],
  ["on-accent", "accent", 4.5],
  ["accent", "ground", 3],
  ["accent", "field", 3],
  ["line", "ground", 3],
  ["line", "field", 3],
  ["on-tint", "tint", 4.5],
  ["badge-ink", "tint", 3],
] as const;

function faintPairs(colors: ReadonlyMap<string, Color>): string[] {
  return pairs.flatMap(([front, back, ratio]) => {
    const [one, other] = [colors.get(front), colors.get(back)];
    if (one === undefined || other === undefined) return [`${front} or ${back} is no color`];
    const found = contrast(one, other);
    return found >= ratio ? [] : [`${front} on ${back}: ${found.toFixed(2)}`];
  });
}

test("can be read by day and by night in the built-in look", () => {
  const [day = "", night = ""] = lookOf(builtInTheme, false).split("@media(prefers-color-scheme:dark)");
  expect(faintPairs(colorsOf(day))).toEqual([]);
  expect(faintPairs(colorsOf(night))).toEqual([]);
});

test("can be read in any colors that an owner chooses", () => {
  const color = fc
    .tuple(fc.integer({ min: 0, max: 0xffffff }), fc.integer({ min: 0, max: 100 }))
    .map(([rgb, opacity]) => ({
      colors: [`rgba(${rgb >> 16},${(rgb >> 8) & 255},${rgb & 255},${opacity}%)`],
    }));
  const opaque = fc
    .integer({ min: 0, max: 0xffffff })
    .map((rgb) => ({ colors: [`#${rgb.toString(16).padStart(6, "0")}`] }));
  const styling = fc.record({
    canvasColor: opaque,
    elementColor: opaque,
    titleFont: fc.record({ color }),
    bodyFont: fc.record({ color }),
    elementFont: fc.record({ color }),
    badgeEnabled: fc.constant(true),
    badgeIconColor: color,
  });
  fc.assert(
    fc.property(styling, (stored) => {
      expect(faintPairs(colorsOf(lookOf(pageTheme(stored), false)))).toEqual([]);
    }),
    { seed: 20_261_121, numRuns: 2_000 },
  );
});

test("gives what stands on an image a ground of its own, unless the owner has given it one", () => {
  const box = (styling: object, hasCover: boolean) =>
    /--box:([^;]+)/.exec(lookOf(pageTheme(styling), hasCover))?.[1];
  const white = { colors: ["#ffffff"] };
  const container = { variant: "PAGE_THEME_CONTAINER_VARIANT_ROUNDED", backgroundColor: white };
  const boxed = (opacity: number) => ({
    canvasColor: { colors: ["#000000"] },
    containerEnabled: true,
    containerConfig: { ...container, opacity },
  });
  expect(box({}, false)).toBe("none");
  expect(box({}, true)).toBe("#ffffffe6");
  expect(box({ canvasCoverMode: "PAGE_THEME_BACKGROUND_COVER_MODE_PROGRESSIVE_TOP" }, true)).toBe("none");
  expect(box(boxed(10), false)).toBe("#ffffff1a");
  expect(box(boxed(10), true)).toBe("#1a1a1ae6");
  expect(box(boxed(80), true)).toBe("#ffffffcc");
});
