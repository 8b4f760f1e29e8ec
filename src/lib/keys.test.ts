import { expect, test } from "vitest";
import { deriveKey } from "./keys.ts";

test("a key is the same for the same secret and purpose, and another for any other", () => {
  const key = deriveKey("one secret of many", "access-tokens");
  expect(key).toHaveLength(32);
  expect(deriveKey("one secret of many", "access-tokens")).toEqual(key);
  expect(deriveKey("one secret of many", "file-urls")).not.toEqual(key);
  expect(deriveKey("another secret", "access-tokens")).not.toEqual(key);
});

test("keys stay what they are over versions, or every token in use would die", () => {
  expect(deriveKey("one secret of many", "access-tokens").toString("base64url")).toBe(
    "I5PPxzbGiV73Hb2TK-iT6PfUgtZrHNQ88b7rnFu9D4g",
  );
});
