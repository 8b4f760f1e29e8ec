import { expect, test } from "vitest";
import { fieldsToChange } from "./field-mask.ts";

const values = { name: "x", tags: [], dots_options: undefined };

test("a mask names fields, `*` names all, and without a mask the fields with a value change", () => {
  expect([...fieldsToChange(values, ["tags", "id"], ["id"])]).toEqual(["tags"]);
  expect([...fieldsToChange(values, ["*"])]).toEqual(["name", "tags", "dots_options"]);
  expect([...fieldsToChange(values)]).toEqual(["name"]);
});

test("a name that no update can change is refused", () => {
  expect(() => fieldsToChange(values, ["created_at"])).toThrow("names created_at, which no update changes");
  expect(() => fieldsToChange(values, ["created_at.seconds"])).toThrow("names created_at.seconds");
});

test("a part of a field is refused with the name to use instead, because fields are replaced whole", () => {
  expect(() => fieldsToChange(values, ["dots_options.type"])).toThrow(
    "names dots_options.type, a part of dots_options: name dots_options and send it whole",
  );
});
