import { create } from "@bufbuild/protobuf";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { LinksService, ListLinksRequestSchema } from "../../../../gen/signpost/v1/links_service_pb.js";
import { MembersService } from "../../../../gen/signpost/v1/members_service_pb.js";
import { tickingClock } from "../../../../test/support/clock.ts";
import { granted, issuerOf } from "../../../../test/support/grants.ts";
import { newCall } from "../../../../test/support/new-call.ts";
import { signInAs } from "../../../../test/support/sign-in.ts";
import { masterSecret, startApi } from "../../../../test/support/start-api.ts";
import { deriveKey } from "../../../lib/keys.ts";
import { endGrants, findGrant } from "../../../oauth/grants.ts";
import type { Resource } from "../../../oauth/resources.ts";
import { createSigningKeys, deleteOldKeys } from "../../../oauth/signing-keys.ts";

const clock = tickingClock();
const api = await startApi({ clock });
const other = await startApi({ clock, database: api.database });
const workspace = await api.newWorkspace();
const { workspaceId } = workspace;

/** The outcome of listing links in a process, at a resource. */
async function outcomeAt(resource: Resource, token: string, { invoke } = api) {
  const read = () => create(ListLinksRequestSchema);
  const outcome = await invoke(LinksService.method.list, read, newCall({ token, resource }));
  return outcome.ok
    ? { code: "OK" }
    : { code: outcome.error.code, challenge: outcome.error.refusal.headers?.["www-authenticate"] };
}

test("an access token calls with the scopes it was granted, over REST and gRPC", async () => {
  const member = await signInAs(api, workspace);
  const { accessToken } = await granted(api, { ...member, scopes: ["links:read", "workspace:read"] });
  const rest = api.rest(accessToken);
  expect((await rest("GET", "/v1/links")).status).toBe(200);
  const refused = await rest("GET", "/v1/webhooks");
  expect([refused.status, refused.json.error.message]).toEqual([
    403,
    "the grant lacks the scope webhooks:read",
  ]);
  expect((await rest("POST", "/v1/links", { destination: "https://example.com" })).status).toBe(403);
  expect(await api.client(LinksService, accessToken).list({})).toBeDefined();
  await expect(api.client(MembersService, accessToken).list({})).rejects.toMatchObject({ code: 7 });
});

test("a grant of an administrator with every scope is no member: it reads no member's own record and has no full access", async () => {
  const member = await signInAs(api, workspace);
  const scopes = ["members:write", "workspace:write", "tokens:write", "links:read"];
  const { accessToken } = await granted(api, { ...member, scopes });
  const rest = api.rest(accessToken);
  const answers = await Promise.all([
    rest("GET", "/v1/member"),
    rest("PUT", "/v1/member", { name: "x" }),
    rest("DELETE", "/v1/workspace"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
});

test("a token for the tools is refused at the API, a token for the API is refused at the tools, and each says where to ask", async () => {
  const member = await signInAs(api, workspace);
  const ofApi = await granted(api, { ...member, scopes: ["links:read"] });
  const ofTools = await granted(api, { ...member, scopes: ["links:read"], resource: "MCP" });
  expect(await outcomeAt("API", ofApi.accessToken)).toEqual({ code: "OK" });
  expect(await outcomeAt("MCP", ofTools.accessToken)).toEqual({ code: "OK" });
  expect(await outcomeAt("MCP", ofApi.accessToken)).toEqual({
    code: "UNAUTHENTICATED",
    challenge: 'Bearer resource_metadata="http://api.test/.well-known/oauth-protected-resource/mcp"',
  });
  expect(await outcomeAt("API", ofTools.accessToken)).toEqual({
    code: "UNAUTHENTICATED",
    challenge: 'Bearer resource_metadata="http://api.test/.well-known/oauth-protected-resource"',
  });
  expect((await api.rest(ofTools.accessToken)("GET", "/v1/links")).status).toBe(401);
  await expect(api.client(LinksService, ofTools.accessToken).list({})).rejects.toMatchObject({ code: 16 });
});

test("the tools take neither workspace tokens nor sessions", async () => {
  const member = await signInAs(api, workspace);
  for (const token of [workspace.token, member.accessToken])
    expect((await outcomeAt("MCP", token)).code).toBe("UNAUTHENTICATED");
});

test("an access token ends after an hour, or when its grant says so", async () => {
  const member = await signInAs(api, workspace);
  const scopes = ["links:read"];
  const usual = await granted(api, { ...member, scopes });
  const long = await granted(api, {
    ...{ workspaceId, scopes },
    expiresAt: new Date(clock.now().getTime() + 2 * 60 * 60 * 1000),
  });
  const statuses = () =>
    Promise.all([usual, long].map(async (each) => (await outcomeAt("API", each.accessToken)).code));
  expect(await statuses()).toEqual(["OK", "OK"]);
  clock.advance(60 * 60 * 1000);
  expect(await statuses()).toEqual(["UNAUTHENTICATED", "OK"]);
  clock.advance(60 * 60 * 1000);
  expect(await statuses()).toEqual(["UNAUTHENTICATED", "UNAUTHENTICATED"]);
});

test("an ended grant ends in every process within 5 s", async () => {
  const member = await signInAs(api, workspace);
  const { grantId, accessToken } = await granted(api, { ...member, scopes: ["links:read"] });
  for (const process of [api, other])
    expect(await outcomeAt("API", accessToken, process)).toEqual({ code: "OK" });
  expect(await endGrants(api.db, { workspaceId, grantId }, clock.now())).toEqual([grantId]);
  clock.advance(5_001);
  for (const process of [api, other])
    expect((await outcomeAt("API", accessToken, process)).code).toBe("UNAUTHENTICATED");
  expect(await findGrant(api.db, { workspaceId, grantId }, clock.now())).toBeUndefined();
});

test("a narrower role narrows the scopes within 5 s, and a suspended or deleted member has none", async () => {
  const member = await signInAs(api, workspace);
  const { memberId } = member;
  const { accessToken } = await granted(api, { ...member, scopes: ["links:write"] });
  const rest = api.rest(accessToken);
  const wrong = () => rest("POST", "/v1/links", { destination: 5 }).then(({ status }) => status);
  expect(await wrong()).toBe(400);
  const change = (to: object) =>
    api.db
      .updateTable("members")
      .set(to)
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", memberId)
      .execute();
  await change({ role: "VIEWER" });
  clock.advance(5_000);
  expect([await wrong(), (await rest("GET", "/v1/links")).status]).toEqual([403, 200]);
  await change({ access_revoked_at: clock.now() });
  clock.advance(5_000);
  expect((await rest("GET", "/v1/links")).status).toBe(401);
  await change({ access_revoked_at: null });
  clock.advance(5_000);
  expect((await rest("GET", "/v1/links")).status).toBe(200);
  await api.db
    .deleteFrom("members")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", memberId)
    .execute();
  clock.advance(5_000);
  expect((await rest("GET", "/v1/links")).status).toBe(401);
});

test("a deleted workspace ends its grants", async () => {
  const doomed = await api.newWorkspace();
  const { accessToken } = await granted(api, { workspaceId: doomed.workspaceId, scopes: ["links:read"] });
  expect((await outcomeAt("API", accessToken)).code).toBe("OK");
  await api.rest(doomed.token)("DELETE", "/v1/workspace");
  clock.advance(5_001);
  expect((await outcomeAt("API", accessToken)).code).toBe("UNAUTHENTICATED");
});

test("a token is refused when it is unsigned, damaged, of another issuer, of an unknown key, or of another algorithm", async () => {
  const { accessToken } = await granted(api, { workspaceId, scopes: ["links:read"] });
  const [header = "", payload = "", signature = ""] = accessToken.split(".");
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const key = await createSigningKeys({
    ...{ db: api.db, now: api.now, sealingKey: deriveKey(masterSecret, "oauth-signing-keys") },
  }).current();
  const kid = key.id;
  const grantId = await granted(api, { workspaceId, scopes: ["links:read"] }).then((each) => each.grantId);
  const grant = await findGrant(api.db, { workspaceId, grantId }, clock.now());
  if (grant === undefined) throw new Error("the grant is missing");
  const wanted = { scope: "links:read", audience: "http://api.test" };
  const foreign = await issuerOf(api, "http://evil.test/auth").accessToken(grant, wanted);
  const symmetric = await new SignJWT(JSON.parse(Buffer.from(payload, "base64url").toString()))
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid })
    .sign(Buffer.from(key.id));
  const refused = [
    `${header}.${payload}.`,
    `${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
    `${header}.${encoded({ scope: "links:write" })}.${signature}`,
    `${encoded({ alg: "none", typ: "at+jwt", kid })}.${payload}.`,
    `${encoded({ alg: "ES256", typ: "at+jwt", kid: "01900000-0000-7000-8000-000000000000" })}.${payload}.${signature}`,
    `${encoded({ alg: "ES256", typ: "at+jwt", kid: 5 })}.${payload}.${signature}`,
    symmetric,
    foreign.access_token,
  ];
  expect((await outcomeAt("API", accessToken)).code).toBe("OK");
  for (const each of refused) expect((await outcomeAt("API", each)).code, each).toBe("UNAUTHENTICATED");
});

test("keys change every 30 days: earlier tokens go on, and another process knows the new key at once", async () => {
  const long = { workspaceId, scopes: ["links:read"] };
  // The first token of all makes the first key.
  await granted(api, long);
  clock.advance(60 * 60_000);
  const before = await granted(api, {
    ...long,
    expiresAt: new Date(clock.now().getTime() + 30 * 86_400_000),
  });
  expect((await outcomeAt("API", before.accessToken, other)).code).toBe("OK");
  clock.advance(30 * 86_400_000 - 60_000);
  const after = await granted(api, long);
  const keyOf = ({ accessToken }: { readonly accessToken: string }) =>
    JSON.parse(Buffer.from(accessToken.split(".")[0] ?? "", "base64url").toString()).kid;
  expect(keyOf(after)).not.toBe(keyOf(before));
  for (const process of [api, other])
    for (const { accessToken } of [before, after])
      expect(await outcomeAt("API", accessToken, process)).toEqual({ code: "OK" });
});

test("of many tokens that are signed at once when a key is too old, one makes the next key", async () => {
  const later = new Date(clock.now().getTime() + 200 * 86_400_000);
  const keys = createSigningKeys({ db: api.db, now: () => later, sealingKey: Buffer.alloc(32, 1) });
  const used = await Promise.all(Array.from({ length: 20 }, () => keys.current()));
  const made = await api.db
    .deleteFrom("oauth_keys")
    .where("created_at", ">=", later)
    .returning("id")
    .execute();
  expect(made).toEqual([{ id: used[0]?.id }]);
  expect(new Set(used.map(({ id }) => id)).size).toBe(1);
});

test("the database has no private key in the clear, and forgets a key once no token of it can live", async () => {
  await granted(api, { workspaceId, scopes: ["links:read"] });
  const keys = () => api.db.selectFrom("oauth_keys").select(["id", "private_key"]).execute();
  // The name of elliptic curves, with which every private key of PKCS #8 begins.
  const name = Buffer.from("06072a8648ce3d0201", "hex");
  for (const { private_key } of await keys()) expect(private_key.includes(name)).toBe(false);
  const count = (await keys()).length;
  await deleteOldKeys(api.db, new Date(clock.now().getTime() + 365 * 86_400_000));
  expect((await keys()).length).toBe(count);
  await deleteOldKeys(api.db, new Date(clock.now().getTime() + 397 * 86_400_000));
  expect(await keys()).toEqual([]);
});

test("an idempotency key belongs to the grant that used it", async () => {
  const member = await signInAs(api, workspace);
  const scopes = ["links:write"];
  const [first, second] = [
    await granted(api, { ...member, scopes }),
    await granted(api, { ...member, scopes }),
  ];
  const made = async ({ accessToken }: { readonly accessToken: string }) => {
    const given = { destination: "https://example.com" };
    return (await api.rest(accessToken)("POST", "/v1/links", given, { "idempotency-key": "one" })).json.link
      .id;
  };
  const id = await made(first);
  expect([await made(first), (await made(second)) === id]).toEqual([id, false]);
});

test("log lines name the grant and never hold its token", async () => {
  const { grantId, accessToken } = await granted(api, { workspaceId, scopes: ["links:read"] });
  await outcomeAt("API", accessToken);
  expect(api.log()).toContain(grantId);
  expect(api.log()).not.toContain(accessToken.split(".")[2]);
});
