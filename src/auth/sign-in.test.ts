import { expect, test } from "vitest";
import { memberPassword, openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";

const server = await startSignIn();
const { db, clock, counts } = server;
const browser = () => openTestBrowser(server.port);
const wrong = "do not match an account";

test("a member signs in with address and password, sees the account page, and signs out for good", async () => {
  const { email, memberId } = await server.newMember();
  const own = browser();
  expect((await own.open("/auth")).to).toBe("/auth/account");
  expect((await own.open("/auth/account")).to).toBe("/auth/sign-in");
  const signedIn = await own.signIn(` ${email.toUpperCase()} `, memberPassword);
  expect([signedIn.status, signedIn.to]).toEqual([303, "/auth/account"]);
  const row = await db
    .selectFrom("members")
    .select("last_signin_at")
    .where("id", "=", memberId)
    .executeTakeFirst();
  expect(row?.last_signin_at).toBeInstanceOf(Date);
  const account = await own.open("/auth/account");
  expect(account.text).toContain(email);
  expect(account.text).toContain("Ada &amp; &lt;Co&gt;");
  expect((await own.open("/auth/sign-in")).to).toBe("/auth/account");
  const stolen = new Map(own.cookies);
  expect((await own.submit("/auth/sign-out")).to).toBe("/auth/sign-in?done=signed-out");
  expect(own.cookies.has("signpost-session")).toBe(false);
  const thief = browser();
  for (const [name, value] of stolen) thief.cookies.set(name, value);
  expect((await thief.open("/auth/account")).to).toBe("/auth/sign-in");
});

test("a session's cookie is kept from scripts and from posts of other sites, and belongs to one host over https", async () => {
  const secure = await startSignIn({
    database: server.database,
    deps: { authUrl: "https://example.com/auth" },
  });
  const { email } = await server.newMember();
  const own = openTestBrowser(secure.port);
  await own.open("/auth/sign-in");
  const { headers } = await own.submit("/auth/sign-in", { email, password: memberPassword });
  const cookie = headers["set-cookie"]?.find((each) => each.includes("session")) ?? "";
  expect(cookie).toMatch(
    /^__Host-signpost-session=[\w.-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test("strangers, wrong passwords, suspended and pending members and deleted workspaces look alike and cost one hash each", async () => {
  const [known, suspended, pending, gone] = [
    await server.newMember(),
    await server.newMember(),
    await server.newMember({ isPending: true }),
    await server.newMember(),
  ];
  const at = clock.now();
  await db
    .updateTable("members")
    .set({ access_revoked_at: at })
    .where("id", "=", suspended.memberId)
    .execute();
  await db.updateTable("workspaces").set({ deleted_at: at }).where("id", "=", gone.workspaceId).execute();
  const tries: [email: string, password: string][] = [
    ["nobody@example.com", memberPassword],
    [known.email, "a wrong password"],
    [suspended.email, memberPassword],
    [pending.email, memberPassword],
    [pending.email, ""],
    [gone.email, memberPassword],
  ];
  const answers = [];
  for (const [email, password] of tries) {
    const before = counts.verified;
    const { status, text, headers } = await browser().signIn(email, password);
    expect(counts.verified - before, email).toBe(1);
    const { date: _, "content-length": length, ...others } = headers;
    expect(Number(length)).toBe(Buffer.byteLength(text));
    const plain = text.replaceAll(email, "").replace(/name="form" value="[^"]*"/, "");
    answers.push({ status, text: plain, headers: others, json: await jsonAnswer(email, password) });
  }
  expect(answers[0]?.status).toBe(401);
  expect(answers[0]?.text).toContain(wrong);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

async function jsonAnswer(email: string, password: string) {
  const { status, text } = await browser().json("POST", "/auth/session", {
    email,
    password: password || "x",
  });
  return { status, text };
}

test("with enforceMfa a session needs the mailed code, which works once and for 15 minutes", async () => {
  const member = await server.newMember({ enforceMfa: true });
  const own = browser();
  expect((await own.open("/auth/code")).to).toBe("/auth/sign-in");
  expect((await own.signIn(member.email, memberPassword)).to).toBe("/auth/code");
  expect(own.cookies.has("signpost-session")).toBe(false);
  expect((await own.open("/auth/account")).to).toBe("/auth/sign-in");
  await own.open("/auth/code");
  const code = await server.mailedCode(member);
  const other = browser();
  for (const [name, value] of own.cookies) other.cookies.set(name, value);
  await other.open("/auth/code");
  const codes = await Promise.all([
    own.submit("/auth/code", { code: `${code.slice(0, 3)} ${code.slice(3)}` }),
    other.submit("/auth/code", { code }),
  ]);
  expect(codes.map(({ status }) => status).toSorted()).toEqual([303, 401]);
  const late = browser();
  clock.advance(3 * 60_000);
  expect((await late.signIn(member.email, memberPassword)).to).toBe("/auth/code");
  const next = await server.mailedCode(member);
  clock.advance(15 * 60_000);
  await late.open("/auth/code");
  expect((await late.submit("/auth/code", { code: next })).status).toBe(401);
});

test("five wrong codes end a code, over all pages that ask for it", async () => {
  const member = await server.newMember({ enforceMfa: true });
  const first = browser();
  await first.signIn(member.email, memberPassword);
  await first.open("/auth/code");
  const code = await server.mailedCode(member);
  const wrongCode = code === "000000" ? "000001" : "000000";
  for (let tries = 0; tries < 5; tries += 1) {
    // From other networks, so that no other limit stands in the way.
    const other = browser();
    for (const [name, value] of first.cookies) other.cookies.set(name, value);
    await other.open("/auth/code");
    const { status, text } = await other.submit("/auth/code", { code: wrongCode });
    expect([status, text.includes("wrong or no longer works")]).toEqual([401, true]);
  }
  expect((await first.submit("/auth/code", { code })).status).toBe(401);
});

test("who asks for codes again and again gets one mail in two minutes", async () => {
  const member = await server.newMember({ enforceMfa: true });
  for (let times = 0; times < 4; times += 1) await browser().signIn(member.email, memberPassword);
  expect(await server.queued("send-mail", member.email)).toHaveLength(1);
  clock.advance(2 * 60_000);
  await browser().signIn(member.email, memberPassword);
  expect(await server.queued("send-mail", member.email)).toHaveLength(2);
});

test("nothing secret is logged", async () => {
  const member = await server.newMember({ enforceMfa: true });
  await browser().signIn(member.email, "another secret password");
  await browser().signIn(member.email, memberPassword);
  await server.database.pool.query("alter table members rename to hidden");
  const broken = await browser().signIn(member.email, memberPassword);
  await server.database.pool.query("alter table hidden rename to members");
  expect(broken.status).toBe(500);
  expect(server.log()).toContain("a sign-in page failed");
  for (const secret of [
    "another secret password",
    memberPassword,
    await server.mailedCode(member),
    member.email,
  ])
    expect(server.log()).not.toContain(secret);
});
