import { expect, test } from "vitest";
import { fieldsToChange, mayChange } from "./field-mask.ts";

const values = { name: "x", tags: [], dots_options: undefined };

test("a mask names fields, `*` all of them, and without one those count that hold something", () => {
  expect([...fieldsToChange(values, ["tags", "id"])]).toEqual(["tags"]);
  expect([...fieldsToChange(values, ["*"])]).toEqual(["name", "tags", "dots_options"]);
  expect([...fieldsToChange(values)]).toEqual(["name"]);
});

test("a part of a field names the field, and no field that only begins with its name", () => {
  const paths = ["dots_options.type", "tagsets.first"];
  expect([...fieldsToChange(values, paths)]).toEqual(["dots_options"]);
  expect(["dots_options", "tags", "name"].map((field) => mayChange({ paths }, field))).toEqual([
    true,
    false,
    false,
  ]);
});
