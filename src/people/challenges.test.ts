import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { newId } from "../lib/ids.ts";
import { challengeCode, challengeSecret } from "./challenges.ts";

const key = randomBytes(32);

test("each challenge has a link and a code of its own, which only the holder of the key can make", () => {
  const ids = Array.from({ length: 1_000 }, () => newId(new Date()));
  const secrets = ids.map((id) => challengeSecret(key, id));
  const codes = ids.map((id) => challengeCode(key, id));
  for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
  for (const code of codes) expect(code).toMatch(/^\d{6}$/);
  expect(new Set(secrets).size).toBe(ids.length);
  // Of a million codes, a thousand random ones share few.
  expect(new Set(codes).size).toBeGreaterThan(980);
  const [id = ""] = ids;
  expect(challengeSecret(key, id)).toBe(secrets[0]);
  expect(challengeCode(key, id)).toBe(codes[0]);
  expect(challengeSecret(randomBytes(32), id)).not.toBe(secrets[0]);
});
