import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { deriveKey } from "../../../lib/keys.ts";
import { everyScope } from "../../../model/scope.ts";
import type { TokenClaims } from "../../../model/token.ts";
import { createTokenSigner, createTokenVerifier } from "./tokens.ts";

const key = deriveKey("a master secret for tests", "access-tokens");
const sign = createTokenSigner(key);
const verify = createTokenVerifier(key);
const claims: TokenClaims = {
  tokenId: "0190f0c0-0000-7000-8000-000000000001",
  workspaceId: "0190f0c0-0000-7000-8000-000000000002",
  keyType: "SECRET",
  environment: "live",
  scope: everyScope,
  issuedAt: new Date("2026-01-02T03:04:05Z"),
};

test("a live token is a plain JWT, and a sandbox token carries the prefix", async () => {
  expect(await sign(claims)).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(await sign({ ...claims, environment: "test" })).toMatch(/^svc_test_eyJ/);
});

test("a token holds the scopes it was granted, and a publishable token holds none", async () => {
  expect(await verify(await sign(claims))).toEqual({
    kind: "verified",
    token: {
      tokenId: claims.tokenId,
      workspaceId: claims.workspaceId,
      keyType: "SECRET",
      environment: "live",
      scope: "*",
      expiresAtMs: Number.POSITIVE_INFINITY,
    },
  });
  const publishable = await verify(
    await sign({ ...claims, keyType: "PUBLISHABLE", scope: "", expiresAt: new Date(5_000) }),
  );
  expect(publishable).toMatchObject({ token: { scope: "", expiresAtMs: 5_000 } });
});

test("prefix and environment claim must agree, both ways", async () => {
  const live = await sign(claims);
  const sandbox = await sign({ ...claims, environment: "test" });
  expect((await verify(sandbox)).kind).toBe("verified");
  expect((await verify(`svc_test_${live}`)).kind).toBe("environment-mismatch");
  expect((await verify(sandbox.slice("svc_test_".length))).kind).toBe("environment-mismatch");
});

test("a token is refused when it is damaged, unsigned, of another key or of another algorithm", async () => {
  const token = await sign(claims);
  const [header, payload, signature] = token.split(".");
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  const otherKey = createTokenSigner(deriveKey("a master secret for tests", "file-urls"));
  const otherAlgorithm = new SignJWT({ workspace_id: claims.workspaceId, key_type: "secret", scope: "*" });
  const refused = [
    "",
    "x",
    `${header}.${payload}`,
    `${header}.${payload}.`,
    `${none}.${payload}.`,
    `${header}.${Buffer.from("{}").toString("base64url")}.${signature}`,
    `${token}x`,
    await otherKey(claims),
    await otherAlgorithm
      .setProtectedHeader({ alg: "HS512" })
      .setJti(claims.tokenId)
      .setIssuedAt()
      .sign(Buffer.concat([key, key])),
  ];
  for (const each of refused) expect(await verify(each), each).toEqual({ kind: "invalid" });
});

test("a token signed by us with other claims than a workspace token has is refused", async () => {
  const whole = { workspace_id: claims.workspaceId, key_type: "secret", scope: "*", environment: "live" };
  const wrong = [
    { ...whole, workspace_id: "x" },
    { ...whole, key_type: "root" },
    { ...whole, environment: "staging" },
    { ...whole, scope: 5 },
  ];
  const signed = (payload: Record<string, unknown>) =>
    new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).setJti(claims.tokenId).setIssuedAt().sign(key);
  expect((await verify(await signed(whole))).kind).toBe("verified");
  for (const payload of wrong) expect((await verify(await signed(payload))).kind).toBe("invalid");
});
