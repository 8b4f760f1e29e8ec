import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../test/support/test-database.ts";
import { newId } from "../lib/ids.ts";
import {
  challengeCode,
  challengeLink,
  challengeSecret,
  challengeToken,
  closeChallenges,
  deleteOldChallenges,
  makeChallenge,
  readChallengeToken,
} from "./challenges.ts";

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

test("a link is read back by the holder of the key, and nobody else's link is", () => {
  const challenge = { workspaceId: newId(new Date()), challengeId: newId(new Date()) };
  const link = challengeLink({ key, authUrl: "https://example.com/auth" }, "EMAIL_CONFIRMATION", challenge);
  const token = new URL(link).searchParams.get("challenge") ?? "";
  expect(link).toBe(`https://example.com/auth/confirm?challenge=${challengeToken(key, challenge)}`);
  expect(readChallengeToken(key, token)).toEqual(challenge);
  expect(readChallengeToken(randomBytes(32), token)).toBeUndefined();
  const another = newId(new Date());
  for (const forged of [
    "",
    token.slice(1),
    `${token}a`,
    `${token}\n`,
    token.replace(challenge.challengeId, another),
    `${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`,
    ".".repeat(1_000_000),
  ])
    expect(readChallengeToken(key, forged)).toBeUndefined();
});

test("challenges are closed for one member, and deleted a day after their end", async () => {
  const { db } = await testDatabase();
  const at = new Date("2026-11-22T12:00:00Z");
  const [ada, bob] = ["ada", "bob"].map((name) => ({
    workspaceId: newId(at),
    memberId: newId(at),
    email: `${name}@example.com`,
  }));
  if (ada === undefined || bob === undefined) throw new Error("both are there");
  await makeChallenge(db, ada, { kind: "SIGN_IN_CODE", at });
  const week = await makeChallenge(db, ada, { kind: "INVITATION", at });
  const hour = await makeChallenge(db, bob, { kind: "PASSWORD_RESET", at });
  await closeChallenges(db, ada, at);
  const open = db.selectFrom("member_challenges").select("id").where("used_at", "is", null);
  expect(await open.execute()).toEqual([{ id: hour }]);
  expect(await deleteOldChallenges(db, new Date("2026-11-23T12:15:00Z"))).toBe(0);
  expect(await deleteOldChallenges(db, new Date("2026-11-23T13:00:01Z"))).toBe(2);
  expect(await db.selectFrom("member_challenges").select("id").execute()).toEqual([{ id: week }]);
});
