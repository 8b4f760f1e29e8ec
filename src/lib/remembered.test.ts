import { expect, test } from "vitest";
import { remembered } from "./remembered.ts";

function setup(max: number) {
  const asked: string[] = [];
  const lengthOf = remembered(max, (text) => {
    asked.push(text);
    return text === "" ? undefined : text.length;
  });
  return { asked, lengthOf };
}

test("finds the value of a text once, also when the value is 0 or empty", () => {
  let calls = 0;
  const nothing = remembered(10, () => {
    calls += 1;
    return "";
  });
  expect([nothing("a"), nothing("a")]).toEqual(["", ""]);
  expect(calls).toBe(1);
});

test("holds at most as many texts as it may, and begins again with more", () => {
  const { asked, lengthOf } = setup(2);
  for (const text of ["a", "bb", "a", "ccc", "bb", "ccc"]) expect(lengthOf(text)).toBe(text.length);
  expect(asked).toEqual(["a", "bb", "ccc", "bb"]);
});

test("asks again where there was no value", () => {
  const { asked, lengthOf } = setup(2);
  expect([lengthOf(""), lengthOf("")]).toEqual([undefined, undefined]);
  expect(asked).toEqual(["", ""]);
});
