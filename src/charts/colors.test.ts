import { expect, test } from "vitest";
import { black, type Color } from "../lib/color.ts";
import { contrast, parseColor } from "../model/look/color.ts";
import { type Colors, colorsOf } from "./colors.ts";

const themes = ["light", "dark"] as const;

function read(css: string): Color {
  return parseColor(css) ?? black;
}

test.each(themes)("texts and shapes of the %s theme stand out from its ground", (theme) => {
  const { ground, ink, quiet, track, rest, series } = colorsOf({ theme, colors: [] });
  for (const color of [ink, quiet]) expect(contrast(read(color), read(ground))).toBeGreaterThanOrEqual(4.5);
  for (const color of [rest, ...series])
    expect(contrast(read(color), read(ground))).toBeGreaterThanOrEqual(3);
  expect(contrast(read(series[0] ?? ""), read(track))).toBeGreaterThanOrEqual(3);
});

/** What people without one kind of cones see, in linear light: Machado, Oliveira and Fernandes 2009, severity 1. */
const visions: Readonly<Record<string, readonly (readonly [number, number, number])[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function seen(css: string, vision: readonly (readonly [number, number, number])[]): number[] {
  const { red, green, blue } = read(css);
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return vision.map(([x, y, z]) => Math.min(1, Math.max(0, x * r + y * g + z * b)));
}

/** The difference of two colors in Oklab, times 100: about 2 is just noticed. */
function difference(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [oklab(one), oklab(other)];
  return 100 * Math.hypot(...a.map((value, index) => value - (b[index] ?? 0)));
}

function oklab([r = 0, g = 0, b = 0]: readonly number[]): number[] {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test.each(Object.entries(visions))("neighboring colors differ clearly for eyes with %s", (_name, vision) => {
  for (const theme of themes) {
    const { series } = colorsOf({ theme, colors: [] });
    for (const [index, color] of series.slice(1).entries()) {
      const before = series[index] ?? "";
      expect(difference(seen(before, vision), seen(color, vision))).toBeGreaterThan(15);
    }
  }
});

test("colors of the caller are used in their order, moved until they stand out, and never written as they came", () => {
  const hostile = ['"/><script>', "url(https://example.com)", "var(--x)", "red;fill:url(#x)"];
  const colors = ["#fff", "rgb(200, 30, 30)", ...hostile];
  const firstOf = (given: Colors) => given.series.slice(0, 2);
  const [moved = "", kept] = firstOf(colorsOf({ theme: "light", colors }));
  expect([contrast(read(moved), read("#fff")) >= 3, kept]).toEqual([true, "#c81e1e"]);
  expect(firstOf(colorsOf({ theme: "dark", colors }))[0]).toBe("#ffffff");
  expect(colorsOf({ theme: "light", colors: hostile })).toEqual(colorsOf({ theme: "light", colors: [] }));
});
