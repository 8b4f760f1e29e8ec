import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { newId } from "../lib/ids.ts";
import { deriveKey } from "../lib/keys.ts";
import { createSessionSigner, createSessionVerifier, isSessionToken } from "./sessions.ts";

const key = deriveKey("a master secret for tests", "member-sessions");
const sign = createSessionSigner(key);
const verify = createSessionVerifier(key);
const at = new Date("2026-01-02T03:04:05.678Z");
const member = { workspaceId: newId(at), memberId: newId(at), epoch: 3 };

test("a session says who signed in, in which epoch, and ends after 30 days", async () => {
  const { accessToken, ...session } = await sign(member, at);
  expect(isSessionToken(accessToken)).toBe(true);
  expect(session).toMatchObject({ ...member, expiresAtMs: Date.parse("2026-02-01T03:04:05Z") });
  expect(await verify(accessToken)).toEqual(session);
  expect((await sign(member, at)).sessionId).not.toBe(session.sessionId);
});

test("a session is refused when it is damaged, unsigned, of another key or with other claims", async () => {
  const { accessToken } = await sign(member, at);
  const [header, payload] = accessToken.split(".");
  const other = createSessionSigner(deriveKey("a master secret for tests", "access-tokens"));
  const claims = { workspace_id: member.workspaceId, epoch: 3, environment: "live" };
  const signed = (change: Record<string, unknown>, subject = member.memberId) =>
    new SignJWT({ ...claims, ...change })
      .setProtectedHeader({ alg: "HS256", typ: "session+jwt" })
      .setJti(newId(at))
      .setSubject(subject)
      .setIssuedAt(at)
      .setExpirationTime("1h")
      .sign(key);
  expect(await verify(await signed({}))).toBeDefined();
  const refused = [
    "",
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${accessToken}x`,
    `${accessToken}=`,
    `${Buffer.from('{"alg":"none","typ":"session+jwt"}').toString("base64url")}.${payload}.`,
    (await other(member, at)).accessToken,
    await signed({ environment: "test" }),
    await signed({ epoch: "3" }),
    await signed({ workspace_id: "x" }),
    await signed({}, "x"),
  ];
  for (const each of refused) expect(await verify(each), each).toBeUndefined();
});
