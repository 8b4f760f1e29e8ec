import { expect, test } from "vitest";
import { black, white } from "../../lib/color.ts";
import { contrast, parseColor, toCss } from "./color.ts";

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
