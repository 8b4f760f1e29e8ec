import { expect, test } from "vitest";
import { over, white } from "../../lib/color.ts";
import { lumaOf, readColor } from "./color.ts";

test.each([
  ["#f80", [255, 136, 0, 1]],
  ["#F808", [255, 136, 0, 136 / 255]],
  ["#0a141e", [10, 20, 30, 1]],
  ["#0a141e80", [10, 20, 30, 128 / 255]],
  ["rgb(10, 20, 30)", [10, 20, 30, 1]],
  ["rgb(10 20 30 / 50%)", [10, 20, 30, 0.5]],
  ["rgba(10,20,30,.25)", [10, 20, 30, 0.25]],
  ["rgb(100%, 0%, 50%)", [255, 0, 128, 1]],
  ["rgb(300, -5, 0)", [255, 0, 0, 1]],
  ["hsl(0, 100%, 50%)", [255, 0, 0, 1]],
  ["hsl(120deg 100% 25%)", [0, 128, 0, 1]],
  ["hsla(-120, 100%, 50%, 0.5)", [0, 0, 255, 0.5]],
  ["hsl(200, 0%, 50%)", [128, 128, 128, 1]],
])("reads %s as browsers do", (text, [red, green, blue, alpha]) => {
  expect(readColor(text)).toEqual({ red, green, blue, alpha });
});

test.each([
  "",
  "red",
  "#12",
  "#12345",
  "#ggg",
  "rgb(1, 2)",
  "rgb(1, 2, 3, 4, 5)",
  "url(#a)",
  '#fff"/><script>',
])("takes %j for no color", (text) => {
  expect(readColor(text)).toBeUndefined();
});

test("mixes a color that is not opaque with what is behind it, and knows how light that is", () => {
  const half = over({ red: 0, green: 0, blue: 0, alpha: 0.5 }, white);
  expect(half).toEqual({ red: 128, green: 128, blue: 128, alpha: 1 });
  expect(lumaOf(white)).toBeCloseTo(1, 9);
  expect(lumaOf(half)).toBeCloseTo(128 / 255, 9);
});
