import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { tickingClock } from "../../test/support/clock.ts";
import { projectId, startIdentityServer } from "../../test/support/identity-server.ts";
import { createFederatedVerifier } from "./federated.ts";

const firebase = await startIdentityServer();
const clock = tickingClock();
const verify = createFederatedVerifier({ config: firebase.config, now: clock.now });
const email = "ada@example.com";

test.each(["google.com", "microsoft.com"])(
  "a token of a sign-in with %s tells the address",
  async (provider) => {
    const token = await firebase.sign(clock.now(), {
      email: "Ada@Example.com",
      firebase: { sign_in_provider: provider },
    });
    expect(await verify(token)).toEqual({ email });
  },
);

test.each<[string, Record<string, unknown>, string]>([
  ["of another project", { aud: "another-project" }, "INVALID_ARGUMENT"],
  ["of another issuer", { iss: "https://securetoken.google.com/another" }, "INVALID_ARGUMENT"],
  ["of another host", { iss: `https://evil.example/${projectId}` }, "INVALID_ARGUMENT"],
  ["that has expired", { exp: 1_000_000 }, "INVALID_ARGUMENT"],
  ["without an end", { exp: undefined }, "INVALID_ARGUMENT"],
  ["of nobody", { sub: "" }, "INVALID_ARGUMENT"],
  ["without a subject", { sub: undefined }, "INVALID_ARGUMENT"],
  ["without a sign-in", { auth_time: undefined }, "INVALID_ARGUMENT"],
  ["of a sign-in to come", { auth_time: 33_000_000_000 }, "INVALID_ARGUMENT"],
  ["of a password", { firebase: { sign_in_provider: "password" } }, "INVALID_ARGUMENT"],
  ["of a custom token", { firebase: { sign_in_provider: "custom" } }, "INVALID_ARGUMENT"],
  ["of an anonymous person", { firebase: { sign_in_provider: "anonymous" } }, "INVALID_ARGUMENT"],
  ["without a provider", { firebase: null }, "INVALID_ARGUMENT"],
  ["with an address that is not verified", { email_verified: false }, "CLAIM_EMAIL_MISMATCH"],
  ["with a word for verified", { email_verified: "true" }, "CLAIM_EMAIL_MISMATCH"],
  ["without an address", { email: undefined }, "CLAIM_EMAIL_MISMATCH"],
])("a token %s is refused", async (_what, claims, reason) => {
  const token = await firebase.sign(clock.now(), { email, ...claims });
  await expect(verify(token)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", reason });
});

test.each([
  ["no token at all", async () => "token"],
  [
    "a token without a signature",
    async () => `${await firebase.sign(clock.now(), { email })}`.replace(/\.[^.]*$/, "."),
  ],
  [
    "a token with another's signature",
    async () => {
      const [head, , signature] = (await firebase.sign(clock.now(), { email: "eve@example.com" })).split(".");
      const [, body] = (await firebase.sign(clock.now(), { email })).split(".");
      return `${head}.${body}.${signature}`;
    },
  ],
  [
    "a token of a shared secret",
    async () =>
      new SignJWT({ email })
        .setProtectedHeader({ alg: "HS256", kid: "one" })
        .sign(new TextEncoder().encode("secret")),
  ],
  [
    "a token that says it needs no signature",
    async () => `${Buffer.from('{"alg":"none","kid":"one"}').toString("base64url")}.e30.AA`,
  ],
  ["a header that is no JSON", async () => "AAAA.AAAA.AAAA"],
  [
    "a token without a key",
    async () =>
      new SignJWT({ email }).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode("secret")),
  ],
])("%s is refused", async (_what, make) => {
  await expect(verify(await make())).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    reason: "INVALID_ARGUMENT",
  });
});

test("keys are fetched once for all, and anew when they are too old or a token names a newer one", async () => {
  const own = await startIdentityServer();
  const read = createFederatedVerifier({ config: own.config, now: clock.now });
  const token = await own.sign(clock.now(), { email });
  await Promise.all([read(token), read(token), read(token)]);
  expect(own.asked()).toBe(1);
  clock.advance(11_000);
  await own.addKey("two");
  await read(await own.sign(clock.now(), { email }, { kid: "two" }));
  await read(token);
  expect(own.asked()).toBe(2);
  clock.advance(3_601_000);
  await read(await own.sign(clock.now(), { email }));
  expect(own.asked()).toBe(3);
});

test("nobody makes the service fetch keys often by naming keys that are not published", async () => {
  const own = await startIdentityServer();
  const read = createFederatedVerifier({ config: own.config, now: clock.now });
  await own.addKey("secret", false);
  const token = await own.sign(clock.now(), { email }, { kid: "secret" });
  for (let tries = 0; tries < 5; tries++)
    await expect(read(token)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(own.asked()).toBe(1);
});

test.each<[string, string | undefined, number]>([
  ["no word of it", undefined, 60 * 60],
  ["a second", "max-age=1", 5 * 60],
  ["a year", "public, max-age=31536000", 24 * 60 * 60],
  ["nonsense", "max-age=soon", 60 * 60],
])("with %s as their age, keys are kept within bounds", async (_what, header, seconds) => {
  const own = await startIdentityServer();
  own.keepFor(header);
  const read = createFederatedVerifier({ config: own.config, now: clock.now });
  const isGood = async () => read(await own.sign(clock.now(), { email }));
  await isGood();
  clock.advance((seconds - 2) * 1000);
  await isGood();
  expect(own.asked()).toBe(1);
  clock.advance(3_000);
  await isGood();
  expect(own.asked()).toBe(2);
});

test.each<[string, string]>([
  ["no JSON", "<html>"],
  ["no set of keys", '{"keys":[1]}'],
  ["more than they may be", " ".repeat(70_000)],
])(
  "while the keys cannot be fetched, because they are %s, nobody is refused for good, and known keys go on",
  async (_what, text) => {
    const own = await startIdentityServer();
    const read = createFederatedVerifier({ config: own.config, now: clock.now });
    const token = () => own.sign(clock.now(), { email });
    own.answer(text);
    await expect(read(await token())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    own.answer(undefined);
    // It asks again, but not at once.
    await expect(read(await token())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(own.asked()).toBe(1);
    clock.advance(11_000);
    expect(await read(await token())).toEqual({ email });
    own.setAway(true);
    clock.advance(60_000);
    expect(await read(await token())).toEqual({ email });
    clock.advance(3_600_000);
    await expect(read(await token())).rejects.toMatchObject({ code: "UNAVAILABLE" });
  },
);
