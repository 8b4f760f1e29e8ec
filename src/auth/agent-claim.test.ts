import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { newAgent } from "../../test/support/agents.ts";
import { tickingClock } from "../../test/support/clock.ts";
import { startApi } from "../../test/support/start-api.ts";
import { openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";

const clock = tickingClock();
const api = await startApi({ clock });
// The API takes tokens of this issuer.
const oauth = { issuer: "http://api.test/auth" };
const server = await startSignIn({ database: api.database, clock, oauth });
/** Another process of the same service. */
const other = await startSignIn({ database: api.database, clock, oauth });
const { db } = api;
const password = "correct horse battery";
const registerPath = "/auth/agent/identity";
const newEmail = () => `person-${randomUUID()}@example.com`;

/** An agent with an address of its own. */
function openAgent(port = server.port, address?: string) {
  const { json } = openTestBrowser(port, address);
  return async (path: string, body: unknown, headers?: Record<string, string>) => {
    const reply = await json("POST", path, body, headers);
    return { ...reply, json: JSON.parse(reply.text) };
  };
}

const countWorkspaces = async () => {
  const { rows } = await api.database.pool.query<{ count: string }>(
    "select count(*)::text as count from workspaces",
  );
  return rows[0]?.count;
};

test("an agent registers with an address alone, and works at once within narrow scopes", async () => {
  const email = newEmail();
  const { status, headers, json } = await openAgent()(registerPath, {
    type: "service_auth",
    login_hint: ` ${email.toUpperCase()} `,
  });
  expect(status).toBe(200);
  expect(headers["cache-control"]).toBe("no-store");
  const preClaim =
    "analytics:read links:read links:write qrcodes:read qrcodes:write visitors:read workflows:read workflows:write";
  expect(json).toEqual({
    registration_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    registration_type: "service_auth",
    claim_token: expect.stringMatching(/^[0-9a-f-]{36}\.[0-9a-f-]{36}\.[\w-]{43}$/),
    claim_token_expires: expect.stringMatching(/Z$/),
    post_claim_scopes: expect.arrayContaining(["links:write", "workspace:write"]),
    claim: {
      user_code: expect.stringMatching(/^\d{6}$/),
      verification_uri: expect.stringContaining(`${server.authUrl}/agent/claim?claim_attempt_token=`),
      interval: 5,
      expires_in: expect.any(Number),
    },
    access_token: expect.any(String),
    ...{ token_type: "Bearer", scope: preClaim },
  });
  expect(json.post_claim_scopes).toHaveLength(26);
  for (const never of ["members:write", "tokens:write", "billing:write"])
    expect(json.post_claim_scopes).not.toContain(never);
  expect(json.claim.expires_in).toBeGreaterThan(1_790);
  const rest = api.rest(json.access_token);
  expect((await rest("POST", "/v1/links", { destination: "https://example.com" })).status).toBe(200);
  for (const [method, path] of [
    ["GET", "/v1/workspace"],
    ["GET", "/v1/members"],
    ["POST", "/v1/webhooks"],
  ] as const)
    expect((await rest(method, path, method === "POST" ? {} : undefined)).json.error.codeType).toBe(
      "INSUFFICIENT_SCOPE",
    );
  expect(await server.queued("send-mail", email)).toEqual([]);
});

test("an agent gets the scopes that it asks for, also those that nobody gets unasked", async () => {
  const ask = (scopes: unknown) =>
    openAgent()(registerPath, { type: "service_auth", login_hint: newEmail(), client_name: "Clark", scopes });
  expect((await ask(["tokens:write", "links:read"])).json.post_claim_scopes).toEqual([
    "links:read",
    "tokens:write",
  ]);
  expect((await ask("media:write links:read")).json.post_claim_scopes).toEqual(["links:read", "media:write"]);
});

test("a registration that is refused makes nothing, and says why in OAuth's form", async () => {
  const send = openAgent();
  const before = await countWorkspaces();
  const good = { type: "service_auth", login_hint: newEmail() };
  const refused: [unknown, number, string][] = [
    [{ ...good, type: "anonymous" }, 400, "invalid_request"],
    [{ login_hint: good.login_hint }, 400, "invalid_request"],
    [{ type: "service_auth" }, 400, "invalid_login_hint"],
    [{ ...good, login_hint: "nobody" }, 400, "invalid_login_hint"],
    [{ ...good, login_hint: ["a@example.com"] }, 400, "invalid_login_hint"],
    [{ ...good, login_hint: `${"a".repeat(250)}@example.com` }, 400, "invalid_login_hint"],
    [{ ...good, client_name: "a".repeat(101) }, 400, "invalid_request"],
    [{ ...good, client_name: 7 }, 400, "invalid_request"],
    [{ ...good, scopes: [] }, 400, "invalid_scope"],
    [{ ...good, scopes: ["links:read", "moon:write"] }, 400, "invalid_scope"],
    [{ ...good, scopes: { links: true } }, 400, "invalid_scope"],
    [[good], 400, "invalid_request"],
    ["{", 400, "invalid_request"],
    [`{"type":"${"a".repeat(20_000)}"}`, 413, "invalid_request"],
  ];
  for (const [body, status, error] of refused) {
    const reply = await send(registerPath, body);
    expect
      .soft([reply.status, reply.json.error], JSON.stringify(body).slice(0, 100))
      .toEqual([status, error]);
    expect.soft(reply.json.error_description).toMatch(/\w/);
  }
  const form = await send(registerPath, good, { "content-type": "application/x-www-form-urlencoded" });
  expect([form.status, form.json.error]).toEqual([415, "invalid_request"]);
  const read = await openTestBrowser(server.port).open(registerPath);
  expect([read.status, read.headers.allow]).toEqual([405, "POST"]);
  expect(await countWorkspaces()).toBe(before);
});

test("whether an address has an account makes no difference to who registers for it", async () => {
  const { email } = await server.newMember();
  const [known, unknown] = [
    await openAgent()(registerPath, { type: "service_auth", login_hint: email }),
    await openAgent()(registerPath, { type: "service_auth", login_hint: newEmail() }),
  ];
  expect([known.status, unknown.status]).toEqual([200, 200]);
  expect(Object.keys(known.json)).toEqual(Object.keys(unknown.json));
});

test("one network registers ten agents in an hour over all processes, and five for one address", async () => {
  const network = "2001:db8:7:7::";
  const tries = Array.from({ length: 14 }, (_, index) =>
    openAgent(index % 2 === 0 ? server.port : other.port, `${network}${index + 1}`)(registerPath, {
      type: "service_auth",
      login_hint: newEmail(),
    }),
  );
  const statuses = (await Promise.all(tries)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  const refused = await openAgent(other.port, `${network}ff`)(registerPath, {
    type: "service_auth",
    login_hint: newEmail(),
  });
  expect([refused.status, refused.json.error]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  const email = newEmail();
  const same = openAgent(server.port, "203.0.113.77");
  const statusesOfOne = [];
  for (let tries = 0; tries < 6; tries++)
    statusesOfOne.push((await same(registerPath, { type: "service_auth", login_hint: email })).status);
  expect(statusesOfOne).toEqual([200, 200, 200, 200, 200, 429]);
});

test("where the operator allows none, no agent registers", async () => {
  const { agents } = server;
  const closed = await startSignIn({
    database: api.database,
    clock,
    deps: { agents: { ...agents, mayRegister: false } },
  });
  const reply = await openAgent(closed.port)(registerPath, { type: "service_auth", login_hint: newEmail() });
  expect([reply.status, reply.json.error]).toEqual([403, "access_denied"]);
});

test("a newer link ends the older one, and only the agent's secret makes one", async () => {
  const send = openAgent();
  const agent = await newAgent(api);
  const { status, json } = await send(`${registerPath}/claim`, { claim_token: agent.claimToken });
  expect(status).toBe(200);
  expect(json).toEqual({
    registration_id: agent.registrationId,
    claim_attempt: {
      user_code: expect.stringMatching(/^\d{6}$/),
      verification_uri: expect.stringContaining("/agent/claim?claim_attempt_token="),
      ...{ interval: 5, expires_in: expect.any(Number) },
    },
  });
  const browser = openTestBrowser(server.port);
  const open = (token: string) => browser.open(`/auth/agent/claim?claim_attempt_token=${token}`);
  expect((await open(agent.attempt.token)).status).toBe(410);
  expect(
    (
      await browser.open(
        new URL(json.claim_attempt.verification_uri).pathname +
          new URL(json.claim_attempt.verification_uri).search,
      )
    ).status,
  ).toBe(200);
  for (const [body, code, error] of [
    [{}, 400, "invalid_request"],
    [{ claim_token: agent.attempt.token }, 400, "invalid_claim_token"],
    [{ claim_token: agent.claimToken.replace(/.$/, "!") }, 400, "invalid_claim_token"],
  ] as const) {
    const reply = await send(`${registerPath}/claim`, body);
    expect([reply.status, reply.json.error]).toEqual([code, error]);
  }
});

/** Opens the claim page of an agent as its person. */
async function openClaim(agent: Awaited<ReturnType<typeof newAgent>>) {
  const browser = openTestBrowser(server.port);
  const page = await browser.open(`/auth/agent/claim?claim_attempt_token=${agent.attempt.token}`);
  const send = (fields: Record<string, string>) =>
    browser.submit("/auth/agent/claim", { claim_attempt_token: agent.attempt.token, ...fields });
  return { browser, page, send };
}

test("the page says who asks for what, claims with code and password, and signs in", async () => {
  const agent = await newAgent(api, { clientName: "<b>Clark</b>", scope: "links:write media:read" });
  const { browser, page, send } = await openClaim(agent);
  expect(page.status).toBe(200);
  for (const said of [
    "&lt;b&gt;Clark&lt;/b&gt;",
    agent.email,
    "Create, change and delete links",
    "Read media files.",
  ])
    expect(page.text).toContain(said);
  expect(page.text).not.toContain("<b>Clark");
  expect(page.text).not.toContain(agent.attempt.userCode);
  const claimed = await send({ code: agent.attempt.userCode, password });
  expect([claimed.status, claimed.to]).toEqual([303, "/auth/account"]);
  expect((await browser.open("/auth/account")).text).toContain(agent.email);
  const again = openTestBrowser(server.port);
  expect((await again.signIn(agent.email, password)).to).toBe("/auth/account");
  expect((await send({ code: agent.attempt.userCode, password })).status).toBe(410);
});

test("opening the page changes nothing, and neither does a form of another site or browser", async () => {
  const agent = await newAgent(api);
  const { browser, send } = await openClaim(agent);
  const fields = { claim_attempt_token: agent.attempt.token, code: agent.attempt.userCode, password };
  expect((await browser.submit("/auth/agent/claim", fields, { origin: "https://evil.example" })).status).toBe(
    403,
  );
  const stale = await browser.submit("/auth/agent/claim", { ...fields, form: "x" });
  expect([stale.status, stale.text.includes(agent.email)]).toEqual([403, true]);
  const members = () =>
    db.selectFrom("members").select("id").where("workspace_id", "=", agent.workspaceId).execute();
  expect(await members()).toEqual([]);
  expect((await send({ code: agent.attempt.userCode, password })).status).toBe(303);
  expect(await members()).toHaveLength(1);
});

test("a wrong code, a short password and an address with an account are said in words; five wrong codes end the link", async () => {
  const agent = await newAgent(api);
  const { send } = await openClaim(agent);
  const short = await send({ code: agent.attempt.userCode, password: "short" });
  expect([short.status, short.text.includes("12 to 1,024 characters")]).toEqual([400, true]);
  const wrong = String((Number(agent.attempt.userCode) + 1) % 1_000_000).padStart(6, "0");
  for (let tries = 0; tries < 4; tries++) {
    const reply = await send({ code: wrong, password });
    expect([reply.status, reply.text.includes("The code is wrong")]).toEqual([400, true]);
  }
  expect((await send({ code: wrong, password })).status).toBe(410);
  expect((await send({ code: agent.attempt.userCode, password })).status).toBe(410);
  const { email } = await server.newMember();
  const taken = await newAgent(api, { email });
  const reply = await (await openClaim(taken)).send({ code: taken.attempt.userCode, password });
  expect([reply.status, reply.text.includes("already has an account")]).toEqual([409, true]);
});

test.each(["de", "es", "fr", "ar"])("the page speaks the language %s", async (language) => {
  const agent = await newAgent(api);
  const browser = openTestBrowser(server.port);
  const { text } = await browser.send(
    "GET",
    `/auth/agent/claim?claim_attempt_token=${agent.attempt.token}`,
    undefined,
    { "accept-language": language },
  );
  expect(text).toContain(`lang="${language}"`);
  expect(text).not.toContain("Claim your workspace");
});

const claimGrant = "urn:workos:agent-auth:grant-type:claim";

/** Asks the token endpoint, of this process or of another one. */
async function askToken(fields: Record<string, string>, { port } = server) {
  const { send } = openTestBrowser(port);
  const reply = await send("POST", "/auth/oauth2/token", new URLSearchParams(fields).toString(), {
    "content-type": "application/x-www-form-urlencoded",
  });
  return { ...reply, json: JSON.parse(reply.text) };
}

const poll = (claimToken: string, more: Record<string, string> = {}, process = server) =>
  askToken({ grant_type: claimGrant, claim_token: claimToken, ...more }, process);

const claimAs = (agent: Awaited<ReturnType<typeof newAgent>>) =>
  api.rest()("POST", "/v1/agent-identity/claim/complete", {
    ...{ claimAttemptToken: agent.attempt.token, userCode: agent.attempt.userCode, password },
  });

test("an agent polls until its person has claimed, and gets wider tokens once, which it refreshes", async () => {
  const agent = await newAgent(api, { scope: "links:write workspace:read" });
  expect((await poll(agent.claimToken)).json.error).toBe("authorization_pending");
  clock.advance(5_000);
  expect((await poll(agent.claimToken, {}, other)).json.error).toBe("authorization_pending");
  expect((await claimAs(agent)).status).toBe(200);
  clock.advance(5_000);
  const granted = await poll(agent.claimToken);
  expect(granted.status).toBe(200);
  expect(granted.json).toEqual({
    ...{ access_token: expect.any(String), refresh_token: expect.any(String) },
    ...{ token_type: "Bearer", expires_in: 3_600, scope: "links:write workspace:read" },
  });
  const workspace = await api.rest(granted.json.access_token)("GET", "/v1/workspace");
  expect(workspace.json.id).toBe(agent.workspaceId);
  // The first token goes on, as narrow as it was.
  expect((await api.rest(agent.accessToken)("GET", "/v1/links")).status).toBe(200);
  expect((await api.rest(agent.accessToken)("GET", "/v1/workspace")).status).toBe(403);
  expect((await poll(agent.claimToken)).json.error).toBe("invalid_grant");
  const refresh = {
    grant_type: "refresh_token",
    client_id: agent.registrationId,
    refresh_token: granted.json.refresh_token,
  };
  const refreshed = await askToken(refresh, other);
  expect([refreshed.status, refreshed.json.scope]).toEqual([200, "links:write workspace:read"]);
  expect((await api.rest(refreshed.json.access_token)("GET", "/v1/links")).status).toBe(200);
  const used = await askToken(refresh);
  expect(used.json.error).toBe("invalid_grant");
  // Whoever uses a refresh token twice has stolen it, or was robbed: all access of the agent ends.
  await expect
    .poll(async () => (await api.rest(agent.accessToken)("GET", "/v1/links")).status, { timeout: 30_000 })
    .toBe(401);
});

test("of simultaneous polls in two processes one gets the tokens", async () => {
  const agent = await newAgent(api);
  await claimAs(agent);
  const replies = await Promise.all(
    [1, 2, 3, 4].map((place) => poll(agent.claimToken, {}, place % 2 === 0 ? server : other)),
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
});

test("an agent that polls too fast is slowed down, by 5 seconds more each time", async () => {
  const agent = await newAgent(api);
  expect((await poll(agent.claimToken)).json.error).toBe("authorization_pending");
  clock.advance(3_000);
  expect((await poll(agent.claimToken)).json.error).toBe("slow_down");
  clock.advance(6_000);
  expect((await poll(agent.claimToken, {}, other)).json.error).toBe("slow_down");
  clock.advance(16_000);
  expect((await poll(agent.claimToken)).json.error).toBe("authorization_pending");
});

test("a poll is refused for an unknown secret, a resource of another service, a link that is over and a registration that is", async () => {
  const agent = await newAgent(api);
  for (const [claimToken, more, error] of [
    ["", {}, "invalid_grant"],
    [agent.attempt.token, {}, "invalid_grant"],
    [agent.claimToken.replace(/.$/, "!"), {}, "invalid_grant"],
    [agent.claimToken, { resource: "https://example.com" }, "invalid_target"],
  ] as const) {
    const reply = await poll(claimToken, more);
    expect([reply.status, reply.json.error]).toEqual([400, error]);
  }
  clock.advance(31 * 60_000);
  expect((await poll(agent.claimToken)).json.error).toBe("expired_token");
  await openAgent()(`${registerPath}/claim`, { claim_token: agent.claimToken });
  clock.advance(60_000);
  expect((await poll(agent.claimToken)).json.error).toBe("authorization_pending");
  clock.advance(7 * 24 * 3_600_000);
  expect((await poll(agent.claimToken)).json.error).toBe("expired_token");
  const late = await openAgent()(`${registerPath}/claim`, { claim_token: agent.claimToken });
  expect([late.status, late.json.error]).toEqual([410, "claim_expired"]);
});

test("the metadata lead to the endpoints of agents", async () => {
  const { text } = await openTestBrowser(server.port).open("/auth/.well-known/oauth-authorization-server");
  const metadata = JSON.parse(text);
  expect(metadata.grant_types_supported).toContain(claimGrant);
  expect(metadata.agent_auth).toEqual({
    skill: "http://api.test/auth.md",
    identity_endpoint: `${server.authUrl}/agent/identity`,
    claim_endpoint: `${server.authUrl}/agent/identity/claim`,
    identity_types_supported: ["service_auth"],
  });
});

test("the member who claimed sees the agent among the programs, and ends its access", async () => {
  const agent = await newAgent(api, { clientName: "Clark" });
  const { json } = await claimAs(agent);
  clock.advance(5_000);
  const granted = await poll(agent.claimToken);
  const own = api.rest(json.accessToken);
  const listed = await own("GET", "/v1/grants");
  expect(listed.json.grants).toHaveLength(1);
  expect(JSON.stringify(listed.json.grants)).toContain("Clark");
  expect((await own("DELETE", `/v1/grants/${listed.json.grants[0].id}`)).status).toBe(200);
  for (const token of [agent.accessToken, granted.json.access_token])
    await expect
      .poll(async () => (await api.rest(token)("GET", "/v1/links")).status, { timeout: 30_000 })
      .toBe(401);
  const refreshed = await askToken({
    grant_type: "refresh_token",
    client_id: agent.registrationId,
    refresh_token: granted.json.refresh_token,
  });
  expect(refreshed.json.error).toBe("invalid_grant");
});

test("an agent that lost its refresh token still ends its first token", async () => {
  const agent = await newAgent(api);
  await claimAs(agent);
  clock.advance(5_000);
  await poll(agent.claimToken);
  clock.advance(31 * 24 * 60 * 60 * 1000);
  const status = async () => (await api.rest(agent.accessToken)("GET", "/v1/links")).status;
  expect(await status()).toBe(200);
  const body = new URLSearchParams({ token: agent.accessToken, client_id: agent.registrationId });
  const revoked = await fetch(`http://127.0.0.1:${server.port}/auth/oauth2/revoke`, { method: "POST", body });
  expect(revoked.status).toBe(200);
  clock.advance(5_001);
  expect(await status()).toBe(401);
});

test("an agent's name is shown without invisible marks and those that turn the writing", async () => {
  const { json } = await openAgent()(registerPath, {
    ...{ type: "service_auth", login_hint: newEmail(), client_name: "Cl\u202ea\u2066r\u061ck\u200b \n Bot" },
  });
  const { pathname, search } = new URL(json.claim.verification_uri);
  const page = await openTestBrowser(server.port).open(`${pathname}${search}`);
  expect(page.text).toContain("Clark Bot");
});
