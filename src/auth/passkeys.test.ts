import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { memberPassword, openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";
import { newId } from "../lib/ids.ts";
import { challengeTime, passkeyChallenge } from "../people/passkey-challenges.ts";

const server = await startSignIn();
const { db, clock } = server;

/** A browser with the sign-in page open, and how its script asks. */
async function openPage() {
  const own = openTestBrowser(server.port);
  const { text } = await own.open("/auth/sign-in");
  const form = /name="form" value="([^"]*)"/.exec(text)?.[1] ?? "";
  const origin = `http://127.0.0.1:${server.port}`;
  const ask = async (task: string, body: object = {}, headers: Record<string, string> = {}) => {
    const reply = await own.json("POST", `/auth/passkeys/${task}`, { form, ...body }, { origin, ...headers });
    return { status: reply.status, json: JSON.parse(reply.text) };
  };
  return { ...own, ask, form };
}

const response = { clientDataJSON: "e30", attestationObject: "oA", authenticatorData: "AA", signature: "AA" };

test("a challenge counts for five minutes, for its purpose and its browser, and only with our key", () => {
  const key = randomBytes(32);
  const at = new Date();
  const place = { purpose: "sign-in", boundTo: "a" } as const;
  const challenge = Buffer.from(passkeyChallenge(key, place, at)).toString("base64url");
  const later = (ms: number) => new Date(at.getTime() + ms);
  expect(challengeTime(key, place, challenge, later(5 * 60_000))).toEqual(at);
  expect(challengeTime(key, place, challenge, later(5 * 60_000 + 1))).toBeUndefined();
  expect(challengeTime(key, { ...place, boundTo: "b" }, challenge, at)).toBeUndefined();
  expect(challengeTime(key, { ...place, purpose: "register" }, challenge, at)).toBeUndefined();
  expect(challengeTime(randomBytes(32), place, challenge, at)).toBeUndefined();
  for (const damaged of ["", "x", `A${challenge.slice(1)}`, `${challenge}AA`])
    if (damaged !== challenge) expect(challengeTime(key, place, damaged, at)).toBeUndefined();
});

test("the script's questions need its own page, and making passkeys needs a session", async () => {
  const page = await openPage();
  const { rpId, userVerification, allowCredentials } = (await page.ask("sign-in-options")).json;
  expect([rpId, userVerification, allowCredentials]).toEqual(["localhost", "required", undefined]);
  for (const task of ["register-options", "register"]) expect((await page.ask(task)).status).toBe(401);
  expect((await page.ask("sign-in-options", { form: "x" })).status).toBe(403);
  expect((await page.ask("sign-in-options", {}, { origin: "https://evil.example" })).status).toBe(403);
  expect((await page.ask("sign-in-options", {}, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await page.ask("toString")).status).toBe(404);
  expect((await page.ask("sign-in", { response: "x".repeat(17_000) })).status).toBe(413);
  expect((await page.send("POST", "/auth/passkeys/sign-in-options", "a=b")).status).toBe(415);
});

test("answers of no authenticator are refused alike, known or not, and are limited like passwords", async () => {
  const member = await server.newMember();
  const credentialId = randomBytes(16);
  await db.insertInto("member_passkeys").values(passkeyRow(member, credentialId)).execute();
  const handle = (workspaceId: string, memberId: string) =>
    Buffer.from((workspaceId + memberId).replaceAll("-", ""), "hex").toString("base64url");
  const known = {
    id: credentialId.toString("base64url"),
    rawId: credentialId.toString("base64url"),
    type: "public-key",
  };
  const given = [
    undefined,
    "x",
    {},
    { ...known, response },
    { ...known, response: { ...response, userHandle: handle(member.workspaceId, member.memberId) } },
    { ...known, response: { ...response, userHandle: handle(newId(clock.now()), member.memberId) } },
    { ...known, id: "x", response: { ...response, userHandle: handle(member.workspaceId, member.memberId) } },
    { ...known, response: { ...response, userHandle: "x".repeat(10_000) } },
  ];
  const answers = [];
  for (const each of given) answers.push(await (await openPage()).ask("sign-in", { response: each }));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(401);
  const page = await openPage();
  const statuses = [];
  for (let tries = 0; tries < 7; tries += 1)
    statuses.push((await page.ask("sign-in", { response: { ...known, response } })).status);
  expect(statuses).toContain(429);
});

test("a member has ten passkeys at most, removes only its own, and keeps what does not fit out", async () => {
  const member = await server.newMember();
  const other = await server.newMember();
  const rows = Array.from({ length: 10 }, () => passkeyRow(member, randomBytes(16)));
  await db
    .insertInto("member_passkeys")
    .values([...rows, passkeyRow(other, randomBytes(16))])
    .execute();
  const page = await openPage();
  await page.submit("/auth/sign-in", { email: member.email, password: memberPassword });
  expect((await page.open("/auth/account")).text).toContain("You have 10 passkeys.");
  const full = await page.ask("register-options");
  expect([full.status, full.json.error.codeType]).toEqual([429, "LIMIT_REACHED"]);
  const all = await db.selectFrom("member_passkeys").select(["id", "member_id"]).execute();
  const [others, own] = [all.find((row) => row.member_id === other.memberId), rows[0]];
  for (const id of [others?.id ?? "", own?.id ?? "", "x"]) await page.submit("/auth/remove-passkey", { id });
  const left = await db.selectFrom("member_passkeys").select("member_id").execute();
  expect(left.filter(({ member_id }) => member_id === member.memberId)).toHaveLength(9);
  expect(left.filter(({ member_id }) => member_id === other.memberId)).toHaveLength(1);
  const options = (await page.ask("register-options")).json;
  expect(options.excludeCredentials).toHaveLength(9);
  const wrong = await page.ask("register", {
    response: { id: "x", rawId: "x", type: "public-key", response },
  });
  expect([wrong.status, wrong.json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
});

function passkeyRow(
  { workspaceId, memberId }: { workspaceId: string; memberId: string },
  credentialId: Buffer,
) {
  return {
    ...{
      workspace_id: workspaceId,
      id: newId(clock.now()),
      member_id: memberId,
      credential_id: credentialId,
    },
    ...{ public_key: randomBytes(77), sign_count: 0n, created_at: clock.now() },
  };
}
