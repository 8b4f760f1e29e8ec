import { expect, test } from "vitest";
import { deriveKey } from "./keys.ts";

test("the same secret and purpose give the same key, and any other secret or purpose gives another", () => {
  const key = deriveKey("one secret of many", "access-tokens");
  expect(key).toHaveLength(32);
  expect(deriveKey("one secret of many", "access-tokens")).toEqual(key);
  expect(deriveKey("one secret of many", "file-urls")).not.toEqual(key);
  expect(deriveKey("another secret", "access-tokens")).not.toEqual(key);
});

test("keys stay the same over versions, so that existing tokens stay valid", () => {
  expect(deriveKey("one secret of many", "access-tokens").toString("base64url")).toBe(
    "I5PPxzbGiV73Hb2TK-iT6PfUgtZrHNQ88b7rnFu9D4g",
  );
});
