import { once } from "node:events";
import http2 from "node:http2";
import { text as textOf } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { AccessService } from "../../gen/signpost/testing/v1/access_pb.js";
import { ask, protocols } from "../../test/support/ask.ts";
import { startApi } from "../../test/support/start-api.ts";
import {
  memberPassword,
  openTestBrowser,
  startSignIn,
  type TestMember,
} from "../../test/support/start-sign-in.ts";
import { registerPartly } from "../rpc/handlers.ts";

const answer = async () => ({ text: "done" });
const access = {
  ...{ write: answer, read: answer, publish: answer, master: answer },
  ...{ guard: answer, sign: answer, signAny: answer },
};
const api = await startApi({ services: [registerPartly(AccessService, access)] });
const server = await startSignIn({ database: api.database, clock: api.clock });
const browser = () => openTestBrowser(server.port);
const credentials = ({ email }: TestMember) => ({ email, password: memberPassword });
let member: TestMember;
beforeAll(async () => {
  member = await server.newMember({ role: "TECH" });
});

test("a form of another site, of another browser or without its token is refused, and nothing happens", async () => {
  const own = browser();
  await own.open("/auth/sign-in");
  const fields = credentials(member);
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ];
  for (const headers of foreign)
    expect((await own.submit("/auth/sign-in", fields, headers)).status).toBe(403);
  const before = server.counts.verified;
  const stale = await own.submit("/auth/sign-in", { ...fields, form: "x" });
  expect([stale.status, stale.text.includes("open for too long")]).toEqual([403, true]);
  const other = browser();
  const token = /name="form" value="([^"]*)"/.exec((await own.open("/auth/sign-in")).text)?.[1] ?? "";
  expect((await other.submit("/auth/sign-in", { ...fields, form: token })).status).toBe(403);
  expect(server.counts.verified).toBe(before);
  expect(
    (await own.submit("/auth/sign-in", fields, { "sec-fetch-site": "same-origin", origin: "null" })).status,
  ).toBe(303);
});

test("a planted session or form cookie is replaced when somebody signs in", async () => {
  const attacker = browser();
  await attacker.signIn((await server.newMember()).email, memberPassword);
  const planted = attacker.cookies.get("signpost-session") ?? "";
  const victim = browser();
  victim.cookies.set("signpost-form", "x".repeat(500));
  await victim.open("/auth/sign-in");
  victim.cookies.set("signpost-session", planted);
  await victim.submit("/auth/sign-in", credentials(member));
  expect(victim.cookies.get("signpost-session")).not.toBe(planted);
  expect((await victim.open("/auth/account")).text).toContain(member.email);
});

test("no address leads away from the pages, and nothing of an address reaches a header", async () => {
  const paths = [
    "/auth/sign-in?next=https://evil.example&return_to=//evil.example",
    "/auth//evil.example",
    "/auth/sign-in?done=%0d%0aSet-Cookie:%20a=b",
    "/auth/sign-in?done=<script>alert(1)</script>",
    "/auth/account?x=%0d%0aLocation:%20https://evil.example",
  ];
  for (const path of paths) {
    const { headers, text, to } = await browser().open(path);
    expect(to ?? "/auth/sign-in").toBe("/auth/sign-in");
    expect(JSON.stringify(headers)).not.toContain("evil");
    expect(JSON.stringify(headers)).not.toContain("a=b");
    expect(text).not.toContain("evil");
    expect(text).not.toContain("<script>");
    expect(text).not.toContain("alert(1)");
  }
});

test("what was entered comes back escaped, and passwords and codes never do", async () => {
  const own = browser();
  await own.open("/auth/sign-in");
  const { text } = await own.submit("/auth/sign-in", { email: '"><b>&', password: "a planted password" });
  expect(text).toContain('value="&quot;&gt;&lt;b&gt;&amp;"');
  expect(text).not.toContain("a planted password");
});

test("every page forbids frames, scripts, caches and foreign forms", async () => {
  for (const path of ["/auth/sign-in", "/auth/forgotten", "/auth/sent", "/auth/nothing", "/auth/confirm"]) {
    const { headers } = await browser().open(path);
    const policy = headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toContain("unsafe");
    expect(policy.includes("script-src")).toBe(path === "/auth/sign-in");
    expect(policy).not.toMatch(/script-src (?!'self'(;|$))/);
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["referrer-policy"]).toBe("same-origin");
  }
});

test("bodies that are large, no forms or no JSON are refused, and the connection goes on", async () => {
  const own = browser();
  await own.open("/auth/sign-in");
  const large = await own.submit("/auth/sign-in", { password: "x".repeat(17_000) });
  expect([large.status, large.text.includes("too long")]).toEqual([413, true]);
  expect((await own.submit("/auth/sign-in", {}, { "content-type": "multipart/form-data" })).status).toBe(415);
  expect((await own.send("PUT", "/auth/sign-in")).status).toBe(405);
  expect((await own.send("POST", "/auth/sent")).status).toBe(405);
  expect((await own.submit("/auth/sign-in", { email: "a\0b", password: "\0" })).status).toBe(401);
  const refused: [status: number, reason: string, body: unknown][] = [
    [400, "INVALID_ARGUMENT", "{"],
    [400, "INVALID_ARGUMENT", []],
    [400, "INVALID_ARGUMENT", {}],
    [400, "INVALID_ARGUMENT", { email: "a@example.com", password: "x", code: 123456 }],
    [400, "INVALID_ARGUMENT", { email: ["a"], password: "x" }],
    [400, "INVALID_ARGUMENT", { email: "a@example.com", password: "x".repeat(1_025) }],
    [401, "UNAUTHENTICATED", { email: "a\0@example.com\ud800", password: "\ud800\0" }],
    [413, "REQUEST_TOO_LARGE", { email: "a".repeat(17_000) }],
  ];
  for (const [status, reason, body] of refused) {
    const reply = await own.json("POST", "/auth/session", body);
    expect([reply.status, JSON.parse(reply.text).error.codeType]).toEqual([status, reason]);
  }
  const fields = JSON.parse((await own.json("POST", "/auth/session", {})).text).error.details[1]
    .fieldViolations;
  expect(fields.map(({ field }: { field: string }) => field)).toEqual(["email", "password"]);
  expect((await own.send("POST", "/auth/session", "a=b", { "content-type": "text/plain" })).status).toBe(415);
  const { status, headers } = await own.open("/auth/session");
  expect([status, headers.allow]).toEqual([405, "POST, DELETE"]);
});

test("a password counts as whole characters, 1,024 of any script, and with every one of them", async () => {
  const reader = await server.newMember();
  const { email } = reader;
  const password = `${"🔑".repeat(1_023)}\0`;
  const own = browser();
  const path = await server.linkPath(reader, "PASSWORD_RESET");
  expect((await own.open(path)).text).toContain('maxlength="2048"');
  const challenge = new URL(path, "http://x").searchParams.get("challenge") ?? "";
  expect((await own.submit("/auth/reset", { challenge, password })).status).toBe(303);
  expect((await own.json("POST", "/auth/session", { email, password })).status).toBe(200);
  const cut = password.slice(0, -1);
  expect((await own.json("POST", "/auth/session", { email, password: cut })).status).toBe(401);
  expect((await browser().signIn(email, cut)).status).toBe(401);
  const signedIn = browser();
  expect((await signedIn.open("/auth/sign-in")).text).toContain('maxlength="2048"');
  expect((await signedIn.signIn(email, password)).to).toBe("/auth/account");
});

test("a program gets the member with a session that all protocols take, and ends it", async () => {
  const own = browser();
  const reply = await own.json("POST", "/auth/session", credentials(member), { "x-request-id": "mine" });
  expect(reply.headers["x-request-id"]).toBe("mine");
  expect(reply.headers["set-cookie"]).toBeUndefined();
  const { accessToken, ...body } = JSON.parse(reply.text);
  expect(body).toMatchObject({ id: member.memberId, workspaceId: member.workspaceId, role: "ROLE_TECH" });
  expect(body.lastSigninAt).toMatch(/Z$/);
  const { method } = AccessService;
  for (const protocol of protocols) {
    expect((await ask(api, protocol, method.write, {}, accessToken)).reason).toBe("OK");
    expect((await ask(api, protocol, method.master, {}, accessToken)).reason).toBe("FULL_ACCESS_REQUIRED");
  }
  const bearer = { authorization: `Bearer ${accessToken}` };
  expect((await own.json("DELETE", "/auth/session", undefined, bearer)).status).toBe(204);
  expect((await own.json("DELETE", "/auth/session", undefined, bearer)).status).toBe(401);
  api.clock.advance(5_000);
  expect((await ask(api, "rest", method.write, {}, accessToken)).reason).toBe("UNAUTHENTICATED");
});

test("a program is asked for the code where the workspace enforces one", async () => {
  const guarded = await server.newMember({ enforceMfa: true });
  const own = browser();
  const asked = await own.json("POST", "/auth/session", credentials(guarded));
  expect([asked.status, JSON.parse(asked.text).error.codeType]).toEqual([401, "SIGN_IN_CODE_REQUIRED"]);
  const code = await server.mailedCode(guarded);
  const wrong = await own.json("POST", "/auth/session", {
    ...credentials(guarded),
    code: code === "1" ? "2" : "1",
  });
  expect([wrong.status, JSON.parse(wrong.text).error.codeType]).toEqual([401, "UNAUTHENTICATED"]);
  expect((await own.json("POST", "/auth/session", { ...credentials(guarded), code })).status).toBe(200);
  expect((await own.json("POST", "/auth/session", { ...credentials(guarded), code })).status).toBe(401);
});

test("pages and forms work over HTTP/2", async () => {
  const origin = `http://127.0.0.1:${server.port}`;
  const client = http2.connect(origin);
  const ask = async (headers: http2.OutgoingHttpHeaders, body?: string) => {
    const stream = client.request({ ":path": "/auth/sign-in", "x-forwarded-for": "198.51.99.1", ...headers });
    stream.end(body);
    const [answered] = await once(stream, "response");
    return { headers: answered, text: await textOf(stream) };
  };
  const opened = await ask({});
  const cookie = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
  const form = /name="form" value="([^"]*)"/.exec(opened.text)?.[1] ?? "";
  const sent = await ask(
    { ":method": "POST", origin, cookie, "content-type": "application/x-www-form-urlencoded" },
    new URLSearchParams({ form, ...credentials(member) }).toString(),
  );
  client.close();
  expect([sent.headers[":status"], sent.headers.location]).toEqual([303, "/auth/account"]);
  expect(sent.headers["set-cookie"]).toHaveLength(2);
});
