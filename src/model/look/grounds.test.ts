import fc from "fast-check";
import { expect, test } from "vitest";
import { type Color, white } from "../../lib/color.ts";
import { contrast, luminance, mix, parseColor, toCss } from "./color.ts";
import { groundOf, groundsOfGradient, leastContrast, readable } from "./grounds.ts";

const seed = 20_261_122;
const byte = fc.integer({ min: 0, max: 255 });
const solid = fc.record({ red: byte, green: byte, blue: byte, alpha: fc.constant(1) });
const clear = fc.double({ min: 0, max: 1, noNaN: true });
const any = fc.record({ red: byte, green: byte, blue: byte, alpha: clear });

test("leaves a readable color as it is, and moves any other no farther than it must", () => {
  const blue: Color = { red: 37, green: 99, blue: 235, alpha: 1 };
  const lightBlue: Color = { red: 147, green: 197, blue: 253, alpha: 1 };
  expect(readable(blue, [groundOf(white)], 4.5)).toEqual(blue);
  const moved = readable(lightBlue, [groundOf(white)], 4.5);
  expect(contrast(moved, white)).toBeGreaterThanOrEqual(4.5);
  expect(contrast(moved, white)).toBeLessThan(4.6);
  expect(moved.blue).toBeGreaterThan(moved.red);
});

test("moves a color to the nearer of two readable shades, one darker and one lighter", () => {
  const ground = groundOf({ red: 128, green: 120, blue: 118, alpha: 1 });
  const gray = (value: number): Color => ({ red: value, green: value, blue: value, alpha: 1 });
  expect(luminance(readable(gray(170), [ground], 3))).toBeGreaterThan(ground.most);
  expect(luminance(readable(gray(70), [ground], 3))).toBeLessThan(ground.least);
});

test("gives a shade of the ground for a color on the wrong side of it", () => {
  const yellow: Color = { red: 255, green: 230, blue: 0, alpha: 1 };
  const { red, green, blue } = readable(white, [groundOf(yellow)], 4.5);
  expect(blue).toBe(0);
  expect(red).toBeGreaterThan(green - 1);
});

test("makes any color readable on any single ground", () => {
  fc.assert(
    fc.property(any, solid, (wanted, ground) => {
      const color = readable(wanted, [groundOf(ground)], 4.5);
      expect(contrast(color, ground)).toBeGreaterThanOrEqual(4.5);
      expect(parseColor(toCss(color))).toEqual(color);
    }),
    { seed, numRuns: 2_000 },
  );
});

test("knows the least contrast with every color of a gradient", () => {
  fc.assert(
    fc.property(fc.array(solid, { minLength: 2, maxLength: 5 }), solid, clear, (colors, front, share) => {
      const grounds = groundsOfGradient(colors);
      const seen = colors.slice(1).map((to, index) => mix(colors[index] ?? to, to, share));
      const least = Math.min(...seen.map((color) => contrast(front, color)));
      expect(leastContrast(front, grounds)).toBeLessThanOrEqual(least);
    }),
    { seed, numRuns: 2_000 },
  );
});
