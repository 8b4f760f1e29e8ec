import { beforeAll, describe, expect, test } from "vitest";
import { LinksService } from "../../gen/signpost/v1/links_service_pb.js";
import { tickingClock } from "../../test/support/clock.ts";
import {
  allow,
  callback,
  challenge,
  fieldsOf,
  openProgram,
  requestPath,
  verifier,
} from "../../test/support/oauth-program.ts";
import { startApi } from "../../test/support/start-api.ts";
import {
  memberPassword,
  openTestBrowser,
  startSignIn,
  type TestMember,
} from "../../test/support/start-sign-in.ts";
import { makeGrant } from "../oauth/grants.ts";

const clock = tickingClock();
const server = await startSignIn({ clock });
const second = await startSignIn({
  ...{ clock, database: server.database },
  oauth: { issuer: server.authUrl },
});
const api = await startApi({ clock, database: server.database, authUrl: server.authUrl });
const otherApi = await startApi({ clock, database: server.database, authUrl: server.authUrl });

const program = openProgram(server);
let clientId = "";
beforeAll(async () => {
  clientId = (await program.register()).json.client_id;
});

async function signedIn(change: Parameters<typeof server.newMember>[0] = {}) {
  const member = await server.newMember(change);
  const browser = openTestBrowser(server.port);
  await browser.signIn(member.email, memberPassword);
  return { member, browser };
}

async function codeFor(change: Parameters<typeof requestPath>[1] = {}, id = clientId): Promise<string> {
  const { browser } = await signedIn();
  return (await allow(browser, requestPath(id, change))).searchParams.get("code") ?? "";
}

const exchangeOf = (code: string, change: Record<string, string> = {}) => ({
  ...{ grant_type: "authorization_code", code, client_id: clientId },
  ...{ redirect_uri: callback, code_verifier: verifier, ...change },
});

const refreshOf = (refreshToken: string, change: Record<string, string> = {}) => ({
  ...{ grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId, ...change },
});

/** The tokens of a new grant. */
async function tokens(change: Parameters<typeof requestPath>[1] = {}) {
  return (await program.post("token", exchangeOf(await codeFor(change)))).json;
}

const statusAt = async ({ rest }: typeof api, token: string) =>
  (await rest(token)("GET", "/v1/links")).status;

describe("a member lets a program in", () => {
  test("the program gets a code, exchanges it for tokens, and calls over REST and gRPC with the scopes that were left", async () => {
    const { browser, member } = await signedIn();
    const page = await browser.open(requestPath(clientId));
    expect(page.status).toBe(200);
    expect(page.text).toContain("program.example");
    expect(page.text).toContain(`Continue as ${member.email}, Ada &amp; &lt;Co&gt;`);
    expect(page.text).toContain("Create, change and delete links, tags and directories");
    const sent = await browser.submit(
      "/auth/oauth2/auth",
      fieldsOf(page, { without: ["allow webhooks:read"] }),
    );
    expect(sent.status).toBe(303);
    const to = new URL(sent.to ?? "");
    expect(`${to.origin}${to.pathname}`).toBe(callback);
    expect([to.searchParams.get("state"), to.searchParams.get("iss")]).toEqual(["a state", server.authUrl]);
    const answer = await program.post("token", exchangeOf(to.searchParams.get("code") ?? ""));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.json).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "links:write" });
    const { access_token: token } = answer.json;
    expect(await statusAt(api, token)).toBe(200);
    expect(await api.client(LinksService, token).list({})).toBeDefined();
    expect((await api.rest(token)("GET", "/v1/webhooks")).status).toBe(403);
  });

  test("a member who is not signed in signs in first, with a code of a mail where that is enforced, and comes back to the request", async () => {
    const member = await server.newMember({ enforceMfa: true });
    const browser = openTestBrowser(server.port);
    const path = requestPath(clientId);
    expect((await browser.open(path)).to).toBe("/auth/sign-in");
    expect((await browser.signIn(member.email, memberPassword)).to).toBe("/auth/code");
    await browser.open("/auth/code");
    const done = await browser.submit("/auth/code", { code: await server.mailedCode(member) });
    expect(new URL(done.to ?? "", server.authUrl).searchParams.get("client_id")).toBe(clientId);
    const to = await allow(browser, done.to ?? "");
    expect(to.searchParams.get("code")).toMatch(/^[\w-]{91}$/);
    // The request is answered, so signing in leads to the account again.
    expect((await browser.open("/auth/sign-in")).to).toBe("/auth/account");
  });

  test("who refuses sends the program away with access_denied and no code", async () => {
    const { browser } = await signedIn();
    const page = await browser.open(requestPath(clientId));
    const { request = "", member = "" } = fieldsOf(page);
    const sent = await browser.submit("/auth/oauth2/auth", { request, member, decision: "refuse" });
    const to = new URL(sent.to ?? "");
    expect(Object.fromEntries(to.searchParams)).toEqual({
      ...{ error: "access_denied", state: "a state", iss: server.authUrl },
    });
  });

  test("a viewer grants only what viewers may do, whatever the program asks for and the form says", async () => {
    const { browser } = await signedIn({ role: "VIEWER" });
    const page = await browser.open(
      requestPath(clientId, { scope: "links:write members:write tokens:write" }),
    );
    const fields = fieldsOf(page);
    expect(Object.keys(fields).filter((name) => name.startsWith("allow "))).toEqual([
      "allow links:read",
      "allow members:read",
      "allow tokens:read",
    ]);
    const forged = { ...fields, "allow links:write": "true", "allow members:write": "true" };
    const to = new URL((await browser.submit("/auth/oauth2/auth", forged)).to ?? "");
    const { json } = await program.post("token", exchangeOf(to.searchParams.get("code") ?? ""));
    expect(json.scope).toBe("links:read members:read tokens:read");
    const rest = api.rest(json.access_token);
    expect((await rest("POST", "/v1/links", { destination: "https://example.com" })).status).toBe(403);
  });

  test("a form without any scope grants nothing, and a form of another member is shown anew", async () => {
    const { browser, member } = await signedIn();
    const page = await browser.open(requestPath(clientId));
    const { request = "", member: shownTo = "", ...scopes } = fieldsOf(page);
    expect((await browser.submit("/auth/oauth2/auth", { request, member: shownTo })).status).toBe(400);
    const other = await server.newMember();
    const forged = await browser.submit("/auth/oauth2/auth", { ...scopes, request, member: other.memberId });
    expect([forged.status, forged.to]).toEqual([400, undefined]);
    expect(await grantsOf(member)).toEqual([]);
  });
});

async function grantsOf({ workspaceId, memberId }: TestMember) {
  return server.db
    .selectFrom("oauth_grants")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("member_id", "=", memberId)
    .execute();
}

describe("redirect URIs", () => {
  test("a redirect URI that is not the registered text leads nowhere, and the answer is a page", async () => {
    const { browser } = await signedIn();
    const wrong = [
      `${callback}/`,
      `${callback}?x=1`,
      `${callback}#x`,
      "https://program.example/other",
      "https://program.example.evil.example/callback",
      "https://program.example:8443/callback",
      "https://user@program.example/callback",
      "http://program.example/callback",
      "https://PROGRAM.example/callback",
      "https://program.example/callback/../callback",
      "//program.example/callback",
      "javascript:alert(1)",
      "",
    ];
    for (const redirect_uri of wrong) {
      const page = await browser.open(requestPath(clientId, { redirect_uri }));
      expect([page.status, page.to, page.text.includes("<form class")], redirect_uri).toEqual([
        400,
        undefined,
        false,
      ]);
      expect(page.text).not.toContain('evil.example"');
    }
  });

  test("a program on the member's device may choose its port, and nothing else", async () => {
    const given = { redirect_uris: ["http://127.0.0.1/cb", "http://localhost:3000/cb", "http://[::1]:1/cb"] };
    const { json } = await program.register({ ...given, token_endpoint_auth_method: "none" });
    const { browser } = await signedIn();
    const statusOf = async (redirect_uri: string) =>
      (await browser.open(requestPath(json.client_id, { redirect_uri }))).status;
    for (const right of ["http://127.0.0.1:51004/cb", "http://localhost:4000/cb", "http://[::1]:65000/cb"])
      expect(await statusOf(right), right).toBe(200);
    for (const wrong of [
      "http://127.0.0.1:5/other",
      "http://127.0.0.2:5/cb",
      "https://localhost:3000/cb",
      "http://localhost:3000@evil.example/cb",
    ])
      expect(await statusOf(wrong), wrong).toBe(400);
    const to = await allow(
      browser,
      requestPath(json.client_id, { redirect_uri: "http://127.0.0.1:51004/cb" }),
    );
    expect(to.origin).toBe("http://127.0.0.1:51004");
  });

  test("an unknown program and a broken request send nobody anywhere by themselves", async () => {
    const { browser } = await signedIn();
    const unknown = await browser.open(requestPath("01900000-0000-7000-8000-000000000000"));
    expect([unknown.status, unknown.to]).toEqual([400, undefined]);
    const changes = [
      { response_type: "token" },
      { response_type: undefined },
      { code_challenge: undefined },
      { code_challenge: "short" },
      { code_challenge_method: "plain" },
      { code_challenge_method: undefined },
      { scope: "root" },
      { resource: "https://elsewhere.example" },
    ];
    for (const change of changes) {
      const page = await browser.open(requestPath(clientId, change));
      expect([page.status, page.to, fieldsOf(page)], JSON.stringify(change)).toEqual([400, undefined, {}]);
      const back = new URL(
        (/href="(https:\/\/program[^"]*)"/.exec(page.text)?.[1] ?? "").replaceAll("&amp;", "&"),
      );
      expect([back.searchParams.get("state"), back.searchParams.get("iss")]).toEqual([
        "a state",
        server.authUrl,
      ]);
      expect(back.searchParams.get("error")).toMatch(/^(unsupported_response_type|invalid_\w+)$/);
    }
    // Such a request is over: signing in does not lead to it again.
    expect((await browser.open("/auth/sign-in")).to).toBe("/auth/account");
    const twice = await browser.open(`${requestPath(clientId)}&state=other`);
    expect([twice.status, twice.to]).toEqual([400, undefined]);
  });

  test("nothing that a request says leads to another place after signing in", async () => {
    const member = await server.newMember();
    for (const query of [
      "?//evil.example",
      "?client_id=x&redirect_uri=https://evil.example",
      "?return=https://evil.example",
    ]) {
      const browser = openTestBrowser(server.port);
      expect((await browser.open(`/auth/oauth2/auth${query}`)).to).toBe("/auth/sign-in");
      const { to = "" } = await browser.signIn(member.email, memberPassword);
      expect(to.startsWith("/auth/oauth2/auth?")).toBe(true);
      expect((await browser.open(to)).status).toBe(400);
    }
  });
});

describe("the page of consent", () => {
  test("no other site can show it in a frame, run scripts in it, or learn its address", async () => {
    const { browser } = await signedIn();
    const { headers } = await browser.open(requestPath(clientId));
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["content-security-policy"]).not.toContain("script-src");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["referrer-policy"]).toBe("same-origin");
  });

  test("a post of another site, or without the token of the page, grants nothing", async () => {
    const { browser, member } = await signedIn();
    const fields = fieldsOf(await browser.open(requestPath(clientId)));
    const foreign = await browser.submit("/auth/oauth2/auth", fields, { origin: "https://evil.example" });
    expect([foreign.status, foreign.to]).toEqual([403, undefined]);
    const crossSite = await browser.submit("/auth/oauth2/auth", fields, { "sec-fetch-site": "cross-site" });
    expect([crossSite.status, crossSite.to]).toEqual([403, undefined]);
    const forged = await browser.submit("/auth/oauth2/auth", { ...fields, form: "forged" });
    expect([forged.status, forged.to]).toEqual([403, undefined]);
    // The page is shown anew, with the request that it was for.
    expect(fieldsOf(forged).request).toBe(fields.request);
    expect(await grantsOf(member)).toEqual([]);
  });

  test("a program's name is shown as text, without marks that turn the writing", async () => {
    const name = '<script>alert(1)</script>\u202eevil "x" &amp;';
    const { json } = await program.register({ client_name: name, redirect_uris: [callback] });
    const { browser } = await signedIn();
    const { text } = await browser.open(requestPath(json.client_id));
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;evil &quot;x&quot; &amp;amp;");
    expect(text).not.toContain("<script>alert");
    expect(text).not.toContain("\u202e");
  });
});

describe("codes", () => {
  test("a code works once: its second use ends the grant in every process, and all its tokens with it", async () => {
    const code = await codeFor();
    const { json } = await program.post("token", exchangeOf(code));
    expect([await statusAt(api, json.access_token), await statusAt(otherApi, json.access_token)]).toEqual([
      200, 200,
    ]);
    const again = await program.post("token", exchangeOf(code), { from: second });
    expect([again.status, again.json.error]).toEqual([400, "invalid_grant"]);
    clock.advance(5_001);
    expect([await statusAt(api, json.access_token), await statusAt(otherApi, json.access_token)]).toEqual([
      401, 401,
    ]);
    expect((await program.post("token", refreshOf(json.refresh_token))).json.error).toBe("invalid_grant");
  });

  test("of two exchanges of a code at once, in two processes, at most one gets tokens", async () => {
    for (let round = 0; round < 5; round++) {
      const code = await codeFor();
      const answers = await Promise.all(
        [server, second].map((from) => program.post("token", exchangeOf(code), { from })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    }
  });

  test("a code needs the verifier of its challenge, its program and its redirect URI, and lives a minute", async () => {
    const code = await codeFor();
    const other = (await program.register()).json.client_id;
    const wrong = [
      { code_verifier: "" },
      { code_verifier: challenge },
      { code_verifier: "a-verifier-of-another-program-that-is-long-enough-too" },
      { client_id: other },
      { redirect_uri: "https://program.example/other" },
      { code: `${code.slice(0, -4)}AAAA` },
      { code: "x" },
      { resource: "http://api.test/mcp" },
    ];
    for (const change of wrong) {
      const { status, json } = await program.post(
        "token",
        exchangeOf(code, change as Record<string, string>),
      );
      expect([status, json.access_token], JSON.stringify(change)).toEqual([400, undefined]);
    }
    const { code_verifier: _, ...without } = exchangeOf(code);
    expect((await program.post("token", without)).json.error).toBe("invalid_grant");
    clock.advance(60_000);
    expect((await program.post("token", exchangeOf(code))).json.error).toBe("invalid_grant");
    const fresh = await codeFor();
    expect((await program.post("token", exchangeOf(fresh))).status).toBe(200);
  });

  test("a code is no refresh token, a refresh token is no code, and neither is an access token", async () => {
    const code = await codeFor();
    expect((await program.post("token", refreshOf(code))).json.error).toBe("invalid_grant");
    const { json } = await program.post("token", exchangeOf(code));
    expect((await program.post("token", exchangeOf(json.refresh_token))).json.error).toBe("invalid_grant");
    expect(await statusAt(api, json.refresh_token)).toBe(401);
    expect(await statusAt(api, json.access_token)).toBe(200);
  });
});

describe("refresh tokens", () => {
  test("each refresh gives the next refresh token; using an earlier one, in another process, ends the grant", async () => {
    const first = await tokens();
    const { json: next } = await program.post("token", refreshOf(first.refresh_token));
    expect(next.refresh_token).not.toBe(first.refresh_token);
    const { json: third } = await program.post("token", refreshOf(next.refresh_token), { from: second });
    expect(await statusAt(api, third.access_token)).toBe(200);
    const reused = await program.post("token", refreshOf(first.refresh_token), { from: second });
    expect([reused.status, reused.json.error]).toEqual([400, "invalid_grant"]);
    expect((await program.post("token", refreshOf(third.refresh_token))).json.error).toBe("invalid_grant");
    clock.advance(5_001);
    for (const { access_token } of [first, next, third])
      expect(await statusAt(otherApi, access_token)).toBe(401);
  });

  test("of two refreshes at once, in two processes, at most one gets tokens", async () => {
    const { refresh_token } = await tokens();
    const answers = await Promise.all(
      [server, second].map((from) => program.post("token", refreshOf(refresh_token), { from })),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(new Set(answers.map(({ status }) => status)).has(400)).toBe(true);
  });

  test("a refresh narrows scopes and never widens them", async () => {
    const { refresh_token } = await tokens({ scope: "links:write" });
    const wider = await program.post(
      "token",
      refreshOf(refresh_token, { scope: "links:write members:read" }),
    );
    expect([wider.status, wider.json.error]).toEqual([400, "invalid_scope"]);
    const { json } = await program.post(
      "token",
      refreshOf(refresh_token, { scope: "links:read offline_access" }),
    );
    expect(json.scope).toBe("links:read");
    expect((await api.rest(json.access_token)("POST", "/v1/links", {})).status).toBe(403);
  });

  test("a refresh token ends after 30 days, with its member, and when another program holds it", async () => {
    const old = await tokens();
    const other = (await program.register()).json.client_id;
    expect((await program.post("token", refreshOf(old.refresh_token, { client_id: other }))).json.error).toBe(
      "invalid_grant",
    );
    const { member, browser } = await signedIn();
    const code = (await allow(browser, requestPath(clientId))).searchParams.get("code") ?? "";
    const { json } = await program.post("token", exchangeOf(code));
    await server.db
      .updateTable("members")
      .set({ access_revoked_at: clock.now() })
      .where("workspace_id", "=", member.workspaceId)
      .where("id", "=", member.memberId)
      .execute();
    expect((await program.post("token", refreshOf(json.refresh_token))).json.error).toBe("invalid_grant");
    clock.advance(30 * 86_400_000);
    expect((await program.post("token", refreshOf(old.refresh_token))).json.error).toBe("invalid_grant");
  });
});

test("a member lets in 30 programs in an hour and has 100 at most, and is told so", async () => {
  const { browser, member } = await signedIn();
  const page = await browser.open(requestPath(clientId));
  const send = () => browser.submit("/auth/oauth2/auth", fieldsOf(page));
  const statuses = [];
  for (let sent = 0; sent < 31; sent += 1) statuses.push((await send()).status);
  expect(statuses).toEqual([...Array(30).fill(303), 429]);
  const at = clock.now();
  for (let more = 0; more < 100; more += 1)
    await makeGrant(
      server.db,
      {
        ...{ workspaceId: member.workspaceId, memberId: member.memberId, clientId, clientName: "x" },
        ...{ scope: "links:read", resource: "API", expiresAt: new Date(at.getTime() + 60_000) },
      },
      at,
    );
  const full = await send();
  expect([full.status, full.text.includes("100 programs have access")]).toEqual([400, true]);
  expect((await grantsOf(member)).length).toBe(130);
});

describe("tokens end", () => {
  test("a token for the tools is refused on /v1, and a refresh does not turn it into another", async () => {
    const { access_token, refresh_token } = await tokens({ resource: "http://api.test/mcp" });
    expect(await statusAt(api, access_token)).toBe(401);
    const turned = await program.post("token", refreshOf(refresh_token, { resource: "http://api.test" }));
    expect([turned.status, turned.json.error]).toEqual([400, "invalid_target"]);
    const ofApi = await tokens({ resource: "http://api.test/" });
    expect(await statusAt(api, ofApi.access_token)).toBe(200);
  });

  test("a member ends a program's access on the account page, in every process within 5 s", async () => {
    const { browser } = await signedIn();
    const stranger = await signedIn();
    const code = (await allow(browser, requestPath(clientId))).searchParams.get("code") ?? "";
    expect((await browser.open("/auth/account")).text).not.toContain("links:write");
    const { json } = await program.post("token", exchangeOf(code));
    const page = await browser.open("/auth/account");
    const id = /name="id" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    expect(page.text).toContain("links:write webhooks:read");
    await stranger.browser.open("/auth/account");
    await stranger.browser.submit("/auth/end-access", { id });
    clock.advance(5_001);
    expect(await statusAt(otherApi, json.access_token)).toBe(200);
    expect((await browser.submit("/auth/end-access", { id })).to).toBe("/auth/account");
    clock.advance(5_001);
    expect([await statusAt(api, json.access_token), await statusAt(otherApi, json.access_token)]).toEqual([
      401, 401,
    ]);
    expect((await browser.open("/auth/account")).text).not.toContain("links:write");
    expect((await program.post("token", refreshOf(json.refresh_token))).json.error).toBe("invalid_grant");
  });

  test("a password reset by mail ends the access of every program of the member, and of nobody else's", async () => {
    const other = await tokens();
    const { browser, member } = await signedIn();
    const code = (await allow(browser, requestPath(clientId))).searchParams.get("code") ?? "";
    const { json } = await program.post("token", exchangeOf(code));
    expect(await statusAt(otherApi, json.access_token)).toBe(200);
    const path = await server.linkPath(member, "PASSWORD_RESET");
    const challengeToken = new URL(path, server.authUrl).searchParams.get("challenge") ?? "";
    await browser.open(path);
    const reset = { challenge: challengeToken, password: "another password 123" };
    expect((await browser.submit("/auth/reset", reset)).status).toBe(303);
    clock.advance(5_001);
    expect([await statusAt(api, json.access_token), await statusAt(otherApi, json.access_token)]).toEqual([
      401, 401,
    ]);
    expect((await program.post("token", refreshOf(json.refresh_token))).json.error).toBe("invalid_grant");
    expect(await statusAt(otherApi, other.access_token)).toBe(200);
  });

  test("a program revokes its own tokens, and those of no other program", async () => {
    const other = (await program.register()).json.client_id;
    for (const kind of ["access_token", "refresh_token"] as const) {
      const issued = await tokens();
      const token = issued[kind];
      const foreign = await program.post("revoke", { token, client_id: other });
      expect([foreign.status, foreign.json.error]).toEqual([400, "unauthorized_client"]);
      expect(await statusAt(api, issued.access_token)).toBe(200);
      expect((await program.post("revoke", { token, client_id: clientId }, { from: second })).status).toBe(
        200,
      );
      clock.advance(5_001);
      expect([
        await statusAt(api, issued.access_token),
        await statusAt(otherApi, issued.access_token),
      ]).toEqual([401, 401]);
    }
    expect((await program.post("revoke", { token: "unknown", client_id: clientId })).status).toBe(200);
  });
});

test("log lines hold neither codes nor tokens nor the state of a program", async () => {
  const code = await codeFor({ state: "a-state-that-is-secret" });
  const { json } = await program.post("token", exchangeOf(code));
  await program.post("token", exchangeOf(code));
  for (const secret of [code, json.access_token, json.refresh_token, "a-state-that-is-secret"])
    expect(server.log()).not.toContain(secret);
});
