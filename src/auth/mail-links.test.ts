import { expect, test } from "vitest";
import { memberPassword, openTestBrowser, startSignIn } from "../../test/support/start-sign-in.ts";
import { createPendingWorkspace } from "../api/workspaces/create-workspace.ts";
import { enqueue } from "../jobs/queue.ts";
import { signUp } from "../jobs/sign-up.ts";
import { newId } from "../lib/ids.ts";
import { mailReset } from "../people/asked-mails.ts";
import type { QueueMail } from "../people/sign-in-code.ts";

const server = await startSignIn({ deps: { allowsSignUp: true } });
const { db, clock } = server;
const browser = () => openTestBrowser(server.port);
const queueMail: QueueMail = (tx, mail) => enqueue(tx, "send-mail", mail);
const jobDeps = { db, now: clock.now, queueMail };

const rowOf = (memberId: string) =>
  db.selectFrom("members").selectAll().where("id", "=", memberId).executeTakeFirstOrThrow();
const tokenOf = (path: string) => new URL(path, "http://x").searchParams.get("challenge") ?? "";
const newPassword = "a new password 123";

test("an invitation is accepted by setting a password, which confirms the address", async () => {
  const member = await server.newMember({ isPending: true, role: "VIEWER" });
  const path = await server.linkPath(member, "INVITATION");
  const own = browser();
  const page = await own.open(path);
  expect(page.text).toContain("Join Ada &amp; &lt;Co&gt;");
  expect(page.text).toContain(member.email);
  const done = await own.submit("/auth/invitation", { challenge: tokenOf(path), password: newPassword });
  expect(done.to).toBe("/auth/sign-in?done=password");
  expect((await own.open(done.to ?? "")).text).toContain("Your password is set.");
  expect((await rowOf(member.memberId)).email_verified_at).not.toBeNull();
  expect((await own.signIn(member.email, newPassword)).to).toBe("/auth/account");
});

test("opening a link, however often, uses nothing up; sending its form does, once", async () => {
  const member = await server.newMember();
  const path = await server.linkPath(member, "PASSWORD_RESET");
  for (let times = 0; times < 5; times += 1) expect((await browser().open(path)).status).toBe(200);
  expect((await browser().send("HEAD", path)).text).toBe("");
  const two = [browser(), browser()];
  for (const each of two) await each.open(path);
  const fields = { challenge: tokenOf(path), password: newPassword };
  const statuses = await Promise.all(
    two.map(async (each) => (await each.submit("/auth/reset", fields)).status),
  );
  expect(statuses.toSorted()).toEqual([303, 410]);
  expect((await browser().open(path)).status).toBe(410);
});

test("a new password ends every session and every other link and code of the member", async () => {
  const member = await server.newMember();
  const own = browser();
  await own.signIn(member.email, memberPassword);
  const [path, other] = [
    await server.linkPath(member, "PASSWORD_RESET"),
    await server.linkPath(member, "PASSWORD_RESET"),
  ];
  const reset = browser();
  await reset.open(path);
  await reset.submit("/auth/reset", { challenge: tokenOf(path), password: newPassword });
  expect((await own.open("/auth/account")).to).toBe("/auth/sign-in");
  expect((await browser().open(other)).status).toBe(410);
  expect((await browser().signIn(member.email, memberPassword)).status).toBe(401);
  expect((await browser().signIn(member.email, newPassword)).status).toBe(303);
});

test("a reset removes the member's passkeys and nobody else's", async () => {
  const [member, other] = [await server.newMember(), await server.newMember()];
  for (const { workspaceId, memberId } of [member, other])
    await db
      .insertInto("member_passkeys")
      .values({
        ...{ workspace_id: workspaceId, id: memberId, member_id: memberId, credential_id: Buffer.alloc(16) },
        ...{ public_key: Buffer.alloc(77), sign_count: 0n, created_at: clock.now() },
      })
      .execute();
  const own = browser();
  const path = await server.linkPath(member, "PASSWORD_RESET");
  await own.open(path);
  expect((await own.submit("/auth/reset", { challenge: tokenOf(path), password: newPassword })).status).toBe(
    303,
  );
  const left = await db.selectFrom("member_passkeys").select("member_id").execute();
  expect(left).toEqual([{ member_id: other.memberId }]);
});

test("links that are forged, old, of another kind, or of a member who changed or may not enter, lead nowhere", async () => {
  const fresh = await server.linkPath(await server.newMember(), "PASSWORD_RESET");
  const last = fresh.at(-1) === "A" ? "B" : "A";
  const [moved, suspended, gone] = [
    await server.newMember(),
    await server.newMember(),
    await server.newMember(),
  ];
  const paths = [
    await server.linkPath(moved, "PASSWORD_RESET"),
    await server.linkPath(suspended, "PASSWORD_RESET"),
    await server.linkPath(gone, "PASSWORD_RESET"),
  ];
  await db
    .updateTable("members")
    .set({ email: "moved@example.com" })
    .where("id", "=", moved.memberId)
    .execute();
  await db
    .updateTable("members")
    .set({ access_revoked_at: clock.now() })
    .where("id", "=", suspended.memberId)
    .execute();
  await db
    .updateTable("workspaces")
    .set({ deleted_at: clock.now() })
    .where("id", "=", gone.workspaceId)
    .execute();
  const over = [
    ...paths,
    `${fresh.slice(0, -1)}${last}`,
    fresh.replace("/reset", "/invitation"),
    fresh.replace("/reset", "/confirm"),
    "/auth/reset",
    "/auth/reset?challenge=x",
    `/auth/reset?challenge=${"x".repeat(5_000)}`,
  ];
  for (const path of over) {
    const own = browser();
    const opened = await own.open(path);
    expect([opened.status, opened.text.includes("no longer works")], path).toEqual([410, true]);
    await own.open("/auth/sign-in");
    const page = path.split("?", 1)[0] ?? "";
    const sent = await own.submit(page, { challenge: tokenOf(path), password: newPassword });
    expect(sent.status, path).toBe(410);
  }
  expect((await browser().open(fresh)).status).toBe(200);
  clock.advance(60 * 60_000);
  expect((await browser().open(fresh)).status).toBe(410);
});

test("a password of the wrong length is refused with the form, and the link stays good", async () => {
  const member = await server.newMember();
  const path = await server.linkPath(member, "PASSWORD_RESET");
  const own = browser();
  await own.open(path);
  for (const password of ["", "elevenchars", "🔑".repeat(11), "x".repeat(1_025)]) {
    const { status, text } = await own.submit("/auth/reset", { challenge: tokenOf(path), password });
    expect(status).toBe(400);
    expect(text).toContain("12 to 1,024 characters");
    expect(text).toContain(tokenOf(path));
  }
  const good = await own.submit("/auth/reset", { challenge: tokenOf(path), password: "🔑".repeat(12) });
  expect(good.status).toBe(303);
});

test("an address is confirmed by its own link alone", async () => {
  const member = await server.newMember();
  const path = await server.linkPath(member, "EMAIL_CONFIRMATION");
  const own = browser();
  expect((await own.open(path)).text).toContain(`Is ${member.email} your address?`);
  expect((await rowOf(member.memberId)).email_verified_at).toBeNull();
  expect((await own.submit("/auth/confirm", { challenge: tokenOf(path) })).to).toBe(
    "/auth/sign-in?done=confirmed",
  );
  expect((await rowOf(member.memberId)).email_verified_at).not.toBeNull();
});

test("whoever forgot a password gets the same answer and queues the same job, known or not; a job finds out", async () => {
  const [member, pending, suspended, alone] = [
    await server.newMember(),
    await server.newMember({ isPending: true }),
    await server.newMember(),
    await server.newMember({ isPending: true }),
  ];
  // Somebody who is alone in a workspace has signed up; others were invited by whoever is there.
  const at = clock.now();
  const colleague = { id: newId(at), email: "colleague@example.com", role: "ADMIN" } as const;
  await db
    .insertInto("members")
    .values({ ...colleague, workspace_id: pending.workspaceId, created_at: at, updated_at: at })
    .execute();
  await db
    .updateTable("members")
    .set({ access_revoked_at: clock.now() })
    .where("id", "=", suspended.memberId)
    .execute();
  const asked = [member.email, pending.email, alone.email, suspended.email, "nobody@example.com"];
  const mails = [];
  for (const email of asked) {
    const own = browser();
    await own.open("/auth/forgotten");
    const reply = await own.submit("/auth/forgotten", { email: ` ${email.toUpperCase()}` });
    expect([reply.status, reply.to]).toEqual([303, "/auth/sent"]);
    expect(await server.queued("mail-reset", email)).toEqual([{ email }]);
    await mailReset(jobDeps, email);
    mails.push((await server.queued("send-mail", email)).map(({ kind }) => kind));
  }
  expect(mails).toEqual([["password-reset"], ["invitation"], ["sign-up"], [], []]);
});

test("an address gets three mails an hour from one network and few from many, and nobody can tell", async () => {
  const { email } = await server.newMember();
  const ask = async (own: ReturnType<typeof browser>) => {
    await own.open("/auth/forgotten");
    return (await own.submit("/auth/forgotten", { email })).to;
  };
  const own = browser();
  for (let times = 0; times < 5; times += 1) expect(await ask(own)).toBe("/auth/sent");
  expect(await server.queued("mail-reset", email)).toHaveLength(3);
  for (let times = 0; times < 30; times += 1) {
    clock.advance(1_000);
    expect(await ask(browser())).toBe("/auth/sent");
  }
  expect((await server.queued("mail-reset", email)).length).toBeLessThan(12);
  for (let times = 0; times < 21; times += 1) {
    await own.open("/auth/forgotten");
    const { status } = await own.submit("/auth/forgotten", { email: `nobody-${times}@example.com` });
    if (times === 20) expect(status).toBe(429);
  }
});

test("sign-up makes a workspace whose admin sets the password by mail; a known address gets a link to its own", async () => {
  const known = await server.newMember();
  const run = signUp({
    ...jobDeps,
    createWorkspace: (tx, order) => createPendingWorkspace(tx, order, clock.now()),
  });
  const kinds: string[][] = [];
  for (const email of ["new@example.com", known.email]) {
    const own = browser();
    await own.open("/auth/sign-up");
    expect((await own.submit("/auth/sign-up", { email, name: " A shop " })).to).toBe("/auth/sent");
    const [order] = await server.queued("sign-up", email);
    expect(order).toEqual({ email, name: "A shop" });
    // Twice, as a job may run.
    for (let times = 0; times < 2; times += 1) await run({ email, name: "A shop" });
    kinds.push((await server.queued("send-mail", email)).map(({ kind }) => kind));
  }
  expect(kinds).toEqual([
    ["sign-up", "sign-up"],
    ["password-reset", "password-reset"],
  ]);
  const admin = await db
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select(["members.role", "members.password_hash", "members.email_verified_at", "workspaces.name"])
    .where("members.email", "=", "new@example.com")
    .execute();
  expect(admin).toEqual([{ role: "ADMIN", password_hash: null, email_verified_at: null, name: "A shop" }]);
});

test("where the operator does not allow sign-up, there is no such page and no link to one", async () => {
  const closed = await startSignIn({ database: server.database });
  const own = openTestBrowser(closed.port);
  expect((await own.open("/auth/sign-up")).status).toBe(404);
  expect((await own.open("/auth/sign-in")).text).not.toContain("sign-up");
  expect((await browser().open("/auth/sign-in")).text).toContain("sign-up");
});

test("wrong addresses and names are refused with the form", async () => {
  const own = browser();
  await own.open("/auth/sign-up");
  const wrong = [
    ["/auth/sign-up", { email: "a@example.com", name: "  " }],
    ["/auth/sign-up", { email: "a@example.com", name: "x".repeat(256) }],
    ["/auth/sign-up", { email: "no address", name: "A shop" }],
    ["/auth/forgotten", { email: `${"x".repeat(250)}@example.com` }],
    ["/auth/forgotten", { email: "a@b\r\nBcc: c@d" }],
    ["/auth/forgotten", { email: "1,victim@example.com" }],
    ["/auth/sign-up", { email: "1,a@example.com", name: "A shop" }],
    ["/auth/sign-up", { email: "a@example.com", name: "\u0007\r\n" }],
  ] as const;
  for (const [path, fields] of wrong) {
    const { status, text } = await own.submit(path, fields);
    expect([status, text.includes('role="alert"')]).toEqual([400, true]);
  }
  expect(await server.queued("sign-up", "a@example.com")).toEqual([]);
  await own.submit("/auth/sign-up", { email: "cafe@example.com", name: " Cafe\u0301\r\n\u0007Bcc: x" });
  expect(await server.queued("sign-up", "cafe@example.com")).toEqual([
    { email: "cafe@example.com", name: "Caf\u00e9 Bcc: x" },
  ]);
});
