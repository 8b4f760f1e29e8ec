import fc from "fast-check";
import { expect, test } from "vitest";
import { black, type Color, white } from "../../lib/color.ts";
import { contrast, leastContrast, parseColor, readable, toCss } from "./color.ts";

test.each([
  ["#abc", "#aabbcc"],
  ["#abcd", "#aabbccdd"],
  ["#A1B2C3", "#a1b2c3"],
  ["#a1b2c380", "#a1b2c380"],
  ["rgb(1, 2, 3)", "#010203"],
  ["rgb(1 2 3 / 50%)", "#01020380"],
  ["rgba(300,-5,3.6,0.5)", "#ff000480"],
  ["rgb(100%, 50%, 0%)", "#ff8000"],
  ["hsl(0, 100%, 50%)", "#ff0000"],
  ["hsl(120deg 100% 25%)", "#008000"],
  ["hsla(-120, 100%, 50%, 0)", "#0000ff00"],
])("reads %s and writes it anew as %s", (text, css) => {
  const color = parseColor(text);
  expect(color && toCss(color)).toBe(css);
});

test.each([
  "",
  "red",
  "#ab",
  "#abcde",
  "#gggggg",
  "rgb(1,2)",
  "rgb(1,2,3,4,5)",
  "rgb(1,2,x)",
  "rgb(1,2,3,x)",
  "url(x)",
  "rgb(1,2,3);}*{color:red",
  "#fff;background:url(//evil.example)",
  "expression(alert(1))",
  "var(--x)",
])("takes %j for no color", (text) => {
  expect(parseColor(text)).toBeUndefined();
});

test("measures contrast as WCAG does", () => {
  expect(contrast(white, black)).toBe(21);
  expect(contrast(white, white)).toBe(1);
  expect(contrast({ red: 118, green: 118, blue: 118, alpha: 1 }, white)).toBeCloseTo(4.54, 2);
});

test("leaves a readable color as it is, and moves any other no farther than it must", () => {
  const blue: Color = { red: 37, green: 99, blue: 235, alpha: 1 };
  const lightBlue: Color = { red: 147, green: 197, blue: 253, alpha: 1 };
  expect(readable(blue, [white], 4.5)).toEqual(blue);
  const moved = readable(lightBlue, [white], 4.5);
  expect(contrast(moved, white)).toBeGreaterThanOrEqual(4.5);
  expect(contrast(moved, white)).toBeLessThan(5.5);
  expect(moved.blue).toBeGreaterThan(moved.red);
});

test("makes any color readable on any single ground", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const solid = fc.record({ red: byte, green: byte, blue: byte, alpha: fc.constant(1) });
  const any = fc.record({
    red: byte,
    green: byte,
    blue: byte,
    alpha: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(any, solid, (wanted, ground) => {
      const color = readable(wanted, [ground], 4.5);
      expect(leastContrast(color, [ground])).toBeGreaterThanOrEqual(4.5);
      expect(parseColor(toCss(color))).toEqual(color);
    }),
    { seed: 20_261_121, numRuns: 2_000 },
  );
});
