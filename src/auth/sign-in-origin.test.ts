import { expect, test } from "vitest";
import { signInAs } from "../../test/support/sign-in.ts";
import { startApi } from "../../test/support/start-api.ts";
import { memberPassword, openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";
import type { FindPlace } from "../people/sign-in-origin.ts";

const api = await startApi();
const startOn = (findPlace?: FindPlace) =>
  startSignIn({ database: api.database, clock: api.clock, deps: findPlace ? { findPlace } : {} });
const server = await startOn();

const unset = { lastKnownCountry: "", lastKnownIp: "", lastKnownLanguage: "", lastKnownTimezone: "" };

/** Signs a new member in as a program; returns what the session says of where that was. */
async function signedInFrom(address: string, language?: string, { newMember, port } = server) {
  const { email } = await newMember();
  const headers: Record<string, string> = language === undefined ? {} : { "accept-language": language };
  const session = { email, password: memberPassword };
  const reply = await openTestBrowser(port, address).json("POST", "/auth/session", session, headers);
  expect(reply.status).toBe(200);
  const { accessToken, ...member } = JSON.parse(reply.text);
  return { member, rest: api.rest(accessToken), email };
}

test("a member's record says from where, and in which language, the last sign-in came", async () => {
  // The first look-up loads the places, for which a busy machine may need longer than a sign-in waits.
  await expect
    .poll(async () => (await signedInFrom("8.8.8.8")).member.lastKnownCountry, { timeout: 30_000 })
    .toBe("US");
  const { member, rest, email } = await signedInFrom("8.8.8.8", "de-CH,de;q=0.9,en;q=0.8");
  const known = { lastKnownCountry: "US", lastKnownIp: "8.8.8.8", lastKnownLanguage: "de-CH" };
  expect(member).toMatchObject({ ...unset, ...known });
  const first = await rest("GET", "/v1/member");
  expect(first.json).toMatchObject({ ...unset, ...known });

  // The pages note it too.
  await openTestBrowser(server.port, "fd00::1").signIn(email, memberPassword);
  expect((await rest("GET", "/v1/member")).json).toMatchObject({ ...unset, lastKnownIp: "fd00::1" });
});

test("a member who never signed in has no last sign-in", async () => {
  const member = await signInAs(api, await api.newWorkspace());
  const { json } = await member.rest("GET", "/v1/member");
  expect(json).toMatchObject({ id: member.memberId, ...unset });
  expect(json).not.toHaveProperty("lastSigninAt");
});

test.each([
  ["de", "de"],
  [" pt-BR ; q=0.5", "pt-BR"],
  [`zh-${"a1234567-".repeat(4)}`.slice(0, 35), `zh-${"a1234567-".repeat(4)}`.slice(0, 35)],
  [`zh-${"a1234567-".repeat(4)}12`.slice(0, 36), ""],
  ["*", ""],
  ["", ""],
  [",de", ""],
  ["<script>", ""],
  ["a".repeat(8_000), ""],
  ["-".repeat(8_000), ""],
])("of Accept-Language %j the language %j is kept", async (header, language) => {
  const { member } = await signedInFrom("198.18.0.1", header);
  expect(member).toMatchObject({ lastKnownIp: "198.18.0.1", lastKnownLanguage: language });
});

test("a sign-in goes on without its place when that cannot be looked up, or takes too long", async () => {
  const broken = await startOn(() => Promise.reject(new Error("the file is gone")));
  expect((await signedInFrom("8.8.8.8", "de", broken)).member).toMatchObject({
    ...{ ...unset, lastKnownIp: "8.8.8.8", lastKnownLanguage: "de" },
  });
  const stuck = await startOn(() => new Promise(() => {}));
  expect((await signedInFrom("8.8.8.8", "de", stuck)).member).toMatchObject({
    ...unset,
    lastKnownIp: "8.8.8.8",
    lastKnownLanguage: "de",
  });
});

test("the time zone is kept where the places know one", async () => {
  const zoned = await startOn(async () => ({ country: "CH", timezone: "Europe/Zurich" }));
  expect((await signedInFrom("203.0.113.7", undefined, zoned)).member).toMatchObject({
    ...{ lastKnownCountry: "CH", lastKnownTimezone: "Europe/Zurich" },
  });
});
