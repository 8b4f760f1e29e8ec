import { expect, test } from "vitest";
import { composed, stacksMarks } from "./compose.ts";

const acute = "\u0301";
const vertical = "\u0316";
/** A mark outside of the basic plane, which takes two UTF-16 units. */
const musical = "\u{1d165}";

test.each([
  ["plain", false],
  [`e${acute}`.repeat(500), false],
  [`e${acute.repeat(30)}`.repeat(20), false],
  [`e${acute.repeat(31)}`, true],
  [`${"x".repeat(1_000)}${acute.repeat(31)}${"x".repeat(1_000)}`, true],
  [`${"x".repeat(29)}${musical.repeat(31)}`, true],
  ["क्षत्रिय".repeat(100), false],
])("a text stacks marks when more than 30 stand in a row: %#", (text, stacks) => {
  expect(stacksMarks(text)).toBe(stacks);
});

test("a stack of marks is found anywhere in a text", () => {
  for (let before = 0; before < 100; before++)
    expect(stacksMarks("x".repeat(before) + acute.repeat(31))).toBe(true);
});

test("a text is brought to NFC and keeps at most 30 marks of a stack", () => {
  expect(composed(`cafe${acute}`)).toBe("caf\u00e9");
  expect(composed(`e${vertical.repeat(40)}!`)).toBe(`e${vertical.repeat(30)}!`);
});

test("a megabyte of marks is processed in less than a second", () => {
  const before = process.threadCpuUsage().user;
  expect(composed(`a${(acute + vertical).repeat(250_000)}`).length).toBeLessThan(40);
  // Sorting them all would take hours.
  expect(process.threadCpuUsage().user - before).toBeLessThan(1_000_000);
});
