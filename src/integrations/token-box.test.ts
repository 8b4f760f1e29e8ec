import { expect, test } from "vitest";
import { deriveKey } from "../lib/keys.ts";
import { createTokenBox } from "./token-box.ts";

const box = createTokenBox(deriveKey("a master secret", "integration-tokens"));
const place = { kind: "slack", workspaceId: "a", integrationId: "1" } as const;

test("a sealed token opens in its own row only, and not with another master secret", () => {
  const sealed = box.seal("xoxb-secret", place);
  expect(sealed.includes("xoxb")).toBe(false);
  expect(box.open(sealed, place)).toBe("xoxb-secret");
  for (const other of [
    { ...place, workspaceId: "b" },
    { ...place, integrationId: "2" },
    { ...place, kind: "google-forms" as const },
  ])
    expect(() => box.open(sealed, other)).toThrow();
  const elsewhere = createTokenBox(deriveKey("another", "integration-tokens"));
  expect(() => elsewhere.open(sealed, place)).toThrow();
});
