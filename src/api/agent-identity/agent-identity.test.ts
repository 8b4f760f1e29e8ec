import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ApiScope } from "../../../gen/signpost/options/v1/access_pb.js";
import { AgentClaimStatus } from "../../../gen/signpost/v1/agent_claim_link_pb.js";
import { AgentIdentityService } from "../../../gen/signpost/v1/agent_identity_service_pb.js";
import { newAgent, testAgents } from "../../../test/support/agents.ts";
import { tickingClock } from "../../../test/support/clock.ts";
import { projectId, startIdentityServer } from "../../../test/support/identity-server.ts";
import { type Reply, startApi } from "../../../test/support/start-api.ts";
import { beginAttempt } from "../../agents/attempts.ts";
import { createFederatedVerifier } from "../../people/federated.ts";

const firebase = await startIdentityServer();
const clock = tickingClock();
const verifyFederated = createFederatedVerifier({ config: firebase.config, now: clock.now });
const api = await startApi({ clock, deps: { verifyFederated } });
/** Another process of the same service. */
const other = await startApi({ clock, database: api.database, deps: { verifyFederated } });
const { db, now } = api;
const password = "correct horse battery";
const lookupPath = "/v1/agent-identity/claim/lookup";
const completePath = "/v1/agent-identity/claim/complete";
const lookup = (token: string) => api.rest()("POST", lookupPath, { claimAttemptToken: token });
const complete = (body: object, headers: Record<string, string> = {}, process = api) =>
  process.rest()("POST", completePath, body, headers);
const outcome = ({ status, json }: Reply) => [status, json?.error?.codeType];
const minuteMs = 60_000;

/** A code that is none of the agent's. */
function wrongCode(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, "0");
}

async function register(change: Parameters<typeof newAgent>[1] = {}) {
  const agent = await newAgent(api, change);
  return { ...agent, claim: { claimAttemptToken: agent.attempt.token, userCode: agent.attempt.userCode } };
}

test("whoever holds a claim link sees whose it is, until when it works and what the agent may do then", async () => {
  const { email, claim, attempt } = await register({ scope: "links:write media:read" });
  const { status, json } = await lookup(claim.claimAttemptToken);
  expect(status).toBe(200);
  expect(json).toEqual({
    ...{ email, status: "AGENT_CLAIM_STATUS_PENDING", expiresAt: attempt.expiresAt.toISOString() },
    registeredAt: expect.stringMatching(/Z$/),
    postClaimScopes: ["API_SCOPE_LINKS_WRITE", "API_SCOPE_MEDIA_READ"],
  });
  const { claimLink } = await api
    .client(AgentIdentityService)
    .lookupClaim({ claimAttemptToken: attempt.token });
  expect(claimLink).toMatchObject({ email, status: AgentClaimStatus.PENDING });
  expect(claimLink?.postClaimScopes).toEqual([ApiScope.LINKS_WRITE, ApiScope.MEDIA_READ]);
});

test("a person claims with link, code and password, signs in, and administers the workspace; the agent's token goes on", async () => {
  const { email, claim, workspaceId, accessToken } = await register();
  const made = await api.rest(accessToken)("POST", "/v1/links", { destination: "https://example.com" });
  expect(made.status).toBe(200);
  expect((await api.rest(accessToken)("GET", "/v1/workspace")).status).toBe(403);
  const { status, json } = await complete({
    ...claim,
    userCode: ` ${claim.userCode.slice(0, 3)} ${claim.userCode.slice(3)} `,
    password,
  });
  expect(status).toBe(200);
  expect(json).toMatchObject({ email, workspaceId, role: "ROLE_ADMIN" });
  for (const field of ["emailVerifiedAt", "lastSigninAt"]) expect(json[field]).toMatch(/Z$/);
  const workspace = await api.rest(json.accessToken)("GET", "/v1/workspace");
  expect(workspace.json).toMatchObject({ id: workspaceId });
  expect(workspace.json.verifiedAt).toMatch(/Z$/);
  expect((await api.rest(json.accessToken)("GET", "/v1/member")).json.id).toBe(json.id);
  const links = await api.rest(accessToken)("GET", "/v1/links");
  expect(links.json.links.map(({ id }: { id: string }) => id)).toEqual([made.json.link.id]);
  expect((await lookup(claim.claimAttemptToken)).json.status).toBe("AGENT_CLAIM_STATUS_CLAIMED");
  expect(outcome(await complete({ ...claim, password }))).toEqual([412, "CLAIM_ALREADY_COMPLETED"]);
  // The member can end the agent's access.
  const { json: members } = await api.rest(json.accessToken)("GET", "/v1/members");
  expect(members.totalCount).toBe("1");
});

test("gRPC claims alike, and refuses with the same reasons", async () => {
  const { claim, email } = await register();
  const client = api.client(AgentIdentityService);
  const wrong = client.completeClaim({ ...claim, userCode: wrongCode(claim.userCode), password });
  await expect(wrong).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(client.completeClaim(claim)).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(client.lookupClaim({ claimAttemptToken: "x" })).rejects.toMatchObject({ code: Code.NotFound });
  const { member } = await client.completeClaim({ ...claim, password });
  expect(member).toMatchObject({ email, accessToken: expect.any(String) });
  await expect(client.completeClaim({ ...claim, password })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
});

test.each(["google.com", "microsoft.com"])(
  "a person claims with a sign-in at %s, and has no password",
  async (provider) => {
    const { claim, email } = await register();
    const firebaseToken = await firebase.sign(now(), { email, firebase: { sign_in_provider: provider } });
    const { status, json } = await complete({ ...claim, firebaseToken });
    expect(status).toBe(200);
    expect(json).toMatchObject({ email, role: "ROLE_ADMIN", accessToken: expect.any(String) });
    const member = await db
      .selectFrom("members")
      .selectAll()
      .where("id", "=", json.id)
      .executeTakeFirstOrThrow();
    expect(member.password_hash).toBeNull();
  },
);

/** What a workspace consists of besides the counted tries. */
async function traces(workspaceId: string) {
  const workspaces = await db.selectFrom("workspaces").selectAll().where("id", "=", workspaceId).execute();
  const members = await db
    .selectFrom("members")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .execute();
  return { workspaces, members };
}

test("a claim that is refused writes nothing", async () => {
  const { claim, email, workspaceId } = await register();
  const token = (claims: object) => firebase.sign(now(), { email, ...claims });
  const before = await traces(workspaceId);
  const refused: [object, number, string][] = [
    [claim, 400, "ONE_OF_REQUIRED"],
    [{ ...claim, password: "" }, 400, "ONE_OF_REQUIRED"],
    [{ ...claim, password, firebaseToken: "x" }, 400, "ONE_OF_REQUIRED"],
    [{ ...claim, password: "too short" }, 400, "INVALID_ARGUMENT"],
    [{ ...claim, password: "a".repeat(1025) }, 400, "INVALID_ARGUMENT"],
    [{ userCode: claim.userCode, password }, 400, "INVALID_ARGUMENT"],
    [{ claimAttemptToken: claim.claimAttemptToken, password }, 400, "INVALID_ARGUMENT"],
    [{ ...claim, claimAttemptToken: "x", password }, 404, "NOT_FOUND"],
    [{ ...claim, claimAttemptToken: claim.claimAttemptToken.replace(/.$/, "!"), password }, 404, "NOT_FOUND"],
    [{ ...claim, firebaseToken: "x" }, 400, "INVALID_ARGUMENT"],
    [{ ...claim, firebaseToken: await token({ email: "eve@example.com" }) }, 400, "CLAIM_EMAIL_MISMATCH"],
    [{ ...claim, firebaseToken: await token({ email_verified: false }) }, 400, "CLAIM_EMAIL_MISMATCH"],
    [{ ...claim, firebaseToken: await token({ aud: `not-${projectId}` }) }, 400, "INVALID_ARGUMENT"],
    [{ ...claim, userCode: wrongCode(claim.userCode), password }, 400, "INVALID_USER_CODE"],
    [{ ...claim, userCode: "", password }, 400, "INVALID_ARGUMENT"],
  ];
  for (const [body, status, reason] of refused)
    expect.soft(outcome(await complete(body)), JSON.stringify(body)).toEqual([status, reason]);
  expect(await traces(workspaceId)).toEqual(before);
  // Only the one wrong code counted.
  const left = await complete({ ...claim, userCode: wrongCode(claim.userCode), password });
  expect(left.json.error.details[0].metadata).toEqual({ triesLeft: "3" });
  expect((await complete({ ...claim, password })).status).toBe(200);
});

test("an address that has an account elsewhere keeps it, and the claim stays open", async () => {
  const taken = await register();
  expect((await complete({ ...taken.claim, password })).status).toBe(200);
  const again = await register({ email: taken.email });
  expect(outcome(await complete({ ...again.claim, password }))).toEqual([409, "EMAIL_ALREADY_REGISTERED"]);
  expect((await lookup(again.claim.claimAttemptToken)).json.status).toBe("AGENT_CLAIM_STATUS_PENDING");
  expect((await traces(again.workspaceId)).members).toEqual([]);
});

test("of two claims at the same moment, in two processes, one succeeds", async () => {
  const { claim, workspaceId } = await register();
  const replies = await Promise.all([
    complete({ ...claim, password }),
    complete({ ...claim, password }, {}, other),
  ]);
  expect(replies.map(outcome).toSorted()).toEqual([
    [200, undefined],
    [412, "CLAIM_ALREADY_COMPLETED"],
  ]);
  expect((await traces(workspaceId)).members).toHaveLength(1);
});

test("the fifth wrong code voids the link for good, however many come at once to however many processes", async () => {
  const { claim } = await register();
  const wrong = { ...claim, userCode: wrongCode(claim.userCode), password };
  const replies = await Promise.all(
    Array.from({ length: 16 }, (_, index) => complete(wrong, {}, index % 2 === 0 ? api : other)),
  );
  const reasons = replies.map(({ json }) => json.error.codeType);
  // The address has its own limit of five, so that more are not even compared.
  expect(reasons.filter((reason) => reason === "INVALID_USER_CODE")).toHaveLength(5);
  expect(
    reasons.every((reason) => ["INVALID_USER_CODE", "CLAIM_EXPIRED", "RATE_LIMITED"].includes(reason)),
  ).toBe(true);
  expect((await lookup(claim.claimAttemptToken)).json.status).toBe("AGENT_CLAIM_STATUS_EXPIRED");
  for (const process of [api, other])
    expect(outcome(await complete({ ...claim, password }, {}, process))).toEqual([412, "CLAIM_EXPIRED"]);
});

test("a link expires after 30 minutes, and with a newer one", async () => {
  const agent = await register();
  clock.advance(29 * minuteMs);
  expect((await lookup(agent.attempt.token)).json.status).toBe("AGENT_CLAIM_STATUS_PENDING");
  clock.advance(minuteMs);
  expect((await lookup(agent.attempt.token)).json.status).toBe("AGENT_CLAIM_STATUS_EXPIRED");
  expect(outcome(await complete({ ...agent.claim, password }))).toEqual([412, "CLAIM_EXPIRED"]);
  const { tokens } = testAgents(api);
  const attempts = [];
  for (const _ of [1, 2]) {
    const begun = await beginAttempt({ db, now, tokens }, agent.claimToken);
    if (typeof begun === "string") throw new Error(begun);
    attempts.push({
      claimAttemptToken: tokens.attemptToken(begun),
      userCode: tokens.userCode(begun.attemptId),
    });
  }
  const [older, newer] = attempts;
  expect(outcome(await complete({ ...older, password }))).toEqual([412, "CLAIM_EXPIRED"]);
  expect((await complete({ ...newer, password })).status).toBe(200);
});

test("a retry with the same key gets a fresh session of the same member, and nobody else gets one", async () => {
  const { claim } = await register();
  const key = { "idempotency-key": randomUUID() };
  const body = { ...claim, password };
  const first = await complete(body, key);
  const retry = await complete(body, key, other);
  expect([first.status, retry.status]).toEqual([200, 200]);
  expect(retry.headers["idempotent-replayed"]).toBe("true");
  expect(retry.json.id).toBe(first.json.id);
  expect(retry.json.accessToken).not.toBe(first.json.accessToken);
  for (const { json } of [first, retry])
    expect((await api.rest(json.accessToken)("GET", "/v1/member")).json.id).toBe(json.id);
  // Whoever lacks the password has another request, and learns nothing of the answer.
  const guessed = await complete({ ...claim, password: "another password" }, key);
  expect(outcome(guessed)).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  expect(guessed.text).not.toContain(first.json.id);
  const { rows } = await api.database.pool.query<{ outcome: Buffer }>("select outcome from idempotency_keys");
  for (const { outcome: stored } of rows)
    expect(stored.toString("latin1")).not.toContain(first.json.accessToken.split(".").at(-1));
});

test("a retry after the member changed the password, needs a code or was suspended begins no session", async () => {
  const change = async (values: { password_hash?: string; access_revoked_at?: Date }, id: string) =>
    db.updateTable("members").set(values).where("id", "=", id).execute();
  const changes: ((member: { id: string; workspaceId: string }) => Promise<unknown>)[] = [
    ({ id }) =>
      change(
        {
          password_hash:
            "$argon2id$v=19$m=19456,t=2,p=1$mVsK4yOME8C7O8oZzmZE3Q$7C9vl9AkzGfo5ojIohNu0ISmYB3eaHBO03QoWxgOrxE",
        },
        id,
      ),
    ({ id }) => change({ access_revoked_at: now() }, id),
    ({ workspaceId }) =>
      db.updateTable("workspaces").set({ enforce_mfa: true }).where("id", "=", workspaceId).execute(),
  ];
  for (const apply of changes) {
    const { claim } = await register();
    const key = { "idempotency-key": randomUUID() };
    const first = await complete({ ...claim, password }, key);
    await apply(first.json);
    expect(outcome(await complete({ ...claim, password }, key))).toEqual([401, "UNAUTHENTICATED"]);
  }
});

test("while the keys of sign-ins elsewhere cannot be fetched, a claim waits for better times", async () => {
  const away = await startIdentityServer();
  away.setAway(true);
  const read = createFederatedVerifier({ config: away.config, now });
  const process = await startApi({ clock, database: api.database, deps: { verifyFederated: read } });
  const { claim, email } = await register();
  const firebaseToken = await away.sign(now(), { email });
  expect(outcome(await complete({ ...claim, firebaseToken }, {}, process))).toEqual([503, "UNAVAILABLE"]);
  const without = await startApi({ clock, database: api.database });
  expect(outcome(await complete({ ...claim, firebaseToken }, {}, without))).toEqual([
    400,
    "INVALID_ARGUMENT",
  ]);
  expect((await complete({ ...claim, password }, {}, without)).status).toBe(200);
});
