import { randomUUID } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { Member_Role } from "../../../gen/signpost/v1/member_pb.js";
import { MembersService } from "../../../gen/signpost/v1/members_service_pb.js";
import { onePixel } from "../../../test/support/one-pixel.ts";
import { type SignedIn, signedIn, signInAs } from "../../../test/support/sign-in.ts";
import { type Rest, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { endSession, endSessions } from "../../people/end-sessions.ts";
import { createPasswordGate } from "../../people/passwords.ts";

const api = await startApi();

function newEmail(): string {
  return `ada-${randomUUID()}@example.com`;
}

interface Queued {
  readonly kind: string;
  readonly to: string;
  readonly memberId: string;
  readonly facts: string;
}

/** The mails that a workspace has queued, in order. */
async function mailsOf({ workspaceId }: { readonly workspaceId: string }): Promise<readonly Queued[]> {
  const { rows } = await sql<{ payload: Queued }>`select payload from graphile_worker._private_jobs
    where payload ->> 'workspaceId' = ${workspaceId} order by id`.execute(api.db);
  return rows.map(({ payload }) => payload);
}

/** Everything that calls to this service may write for a workspace. */
async function recordsOf({ workspaceId }: { readonly workspaceId: string }) {
  const rowsIn = async (table: "members" | "member_emails" | "member_challenges") =>
    (await api.db.selectFrom(table).selectAll().where("workspace_id", "=", workspaceId).execute()).toSorted(
      (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1),
    );
  return {
    members: await rowsIn("members"),
    emails: await rowsIn("member_emails"),
    challenges: await rowsIn("member_challenges"),
    mails: await mailsOf({ workspaceId }),
  };
}

async function invited({ rest }: TestWorkspace, email = newEmail()) {
  const { status, json } = await rest("POST", "/v1/members/invite", { email });
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
}

/** The reason of a refusal over gRPC. */
async function reasonOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => ConnectError.from(reason),
  );
  return error?.findDetails(ErrorInfoSchema)[0]?.reason;
}

test("an invited person is a pending viewer, and the mail is queued without its secret", async () => {
  const workspace = await api.newWorkspace();
  const email = newEmail();
  const member = await invited(workspace, email.toUpperCase());
  expect(member).toMatchObject({
    email,
    role: "ROLE_VIEWER",
    workspaceId: workspace.workspaceId,
    firstName: "",
  });
  for (const field of ["emailVerifiedAt", "accessToken", "accessRevokedAt", "lastSigninAt"])
    expect(member).not.toHaveProperty(field);
  const [mail, ...others] = await mailsOf(workspace);
  expect([mail, others]).toMatchObject([{ kind: "invitation", to: email, memberId: member.id }, []]);
  const { challenges } = await recordsOf(workspace);
  expect(challenges).toMatchObject([{ kind: "INVITATION", email, member_id: member.id, used_at: null }]);
  const [challenge] = challenges as { id: string; expires_at: Date; created_at: Date }[];
  expect(JSON.parse(mail?.facts ?? "")).toEqual({ challengeId: challenge?.id });
  expect((challenge?.expires_at.getTime() ?? 0) - (challenge?.created_at.getTime() ?? 0)).toBe(
    7 * 86_400_000,
  );
  const overGrpc = await workspace.client(MembersService).invite({ email: newEmail(), firstName: " Zoë " });
  expect(overGrpc.member).toMatchObject({ firstName: "Zoë", role: Member_Role.VIEWER });
});

test("an address that anybody in the service has, or is invited at, is refused in any case, and nothing is written", async () => {
  const [workspace, other] = [await api.newWorkspace(), await api.newWorkspace()];
  const { email } = await invited(other);
  const admin = await signInAs(api, other);
  const own = await invited(workspace);
  const before = await recordsOf(workspace);
  for (const taken of [email, admin.email.toUpperCase(), own.email]) {
    for (const [method, path] of [
      ["POST", "/v1/members/invite"],
      ["PUT", `/v1/members/${own.id}`],
    ] as const) {
      if (taken === own.email && method === "PUT") continue;
      const { status, json } = await workspace.rest(method, path, { email: taken });
      expect([status, json.error?.codeType]).toEqual([409, "EMAIL_ALREADY_REGISTERED"]);
    }
    const members = workspace.client(MembersService);
    expect(await reasonOf(members.invite({ email: taken }))).toBe("EMAIL_ALREADY_REGISTERED");
  }
  expect(await recordsOf(workspace)).toEqual(before);
  // Once the pending member is deleted, the person can be invited anywhere.
  const pending = (await other.rest("GET", "/v1/members")).json.members.find(
    (each: { email: string }) => each.email === email,
  );
  expect((await other.rest("DELETE", `/v1/members/${pending.id}`)).status).toBe(200);
  expect(await invited(workspace, email)).toMatchObject({ email });
});

test("of workspaces that invite one address at once, exactly one gets it", async () => {
  const workspaces = await Promise.all(Array.from({ length: 4 }, () => api.newWorkspace()));
  for (let round = 0; round < 5; round++) {
    const email = newEmail();
    const all = workspaces.flatMap(({ rest }) =>
      [0, 1].map(() => rest("POST", "/v1/members/invite", { email })),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(409)]);
  }
});

test("only full access invites and changes an address; a token for members may do the rest", async () => {
  const workspace = await api.newWorkspace();
  const { id } = await invited(workspace);
  const token = await api.scopedToken(workspace.workspaceId, ["members:write"]);
  const [rest, members] = [api.rest(token), api.client(MembersService, token)];
  const before = await recordsOf(workspace);
  for (const [method, path] of [
    ["POST", "/v1/members/invite"],
    ["PUT", `/v1/members/${id}`],
  ] as const) {
    const { status, json } = await rest(method, path, { email: newEmail() });
    expect([status, json.error.codeType]).toEqual([403, "FULL_ACCESS_REQUIRED"]);
  }
  expect(await reasonOf(members.invite({ email: newEmail() }))).toBe("FULL_ACCESS_REQUIRED");
  expect(await reasonOf(members.update({ id, email: newEmail() }))).toBe("FULL_ACCESS_REQUIRED");
  expect(await recordsOf(workspace)).toEqual(before);
  expect((await rest("PUT", `/v1/members/${id}`, { role: "ROLE_TECH", lastName: "L" })).status).toBe(200);
  for (const action of ["revoke", "allow", "signout"])
    expect((await rest("POST", `/v1/members/${id}/${action}`)).status).toBe(200);
  const tech = await signInAs(api, workspace, { role: "TECH" });
  expect((await tech.rest("GET", "/v1/members")).status).toBe(200);
  for (const [method, path] of [
    ["POST", "/v1/members/invite"],
    ["PUT", `/v1/members/${id}`],
    ["POST", `/v1/members/${id}/revoke`],
    ["DELETE", `/v1/members/${id}`],
  ] as const)
    expect(
      await tech.rest(method, path, method === "DELETE" ? undefined : { email: newEmail() }),
      path,
    ).toMatchObject({ status: 403 });
  expect((await rest("DELETE", `/v1/members/${id}`)).status).toBe(200);
});

test("members are listed newest first, page by page, with their number", async () => {
  const workspace = await api.newWorkspace();
  const ids = [workspace.memberId];
  for (let made = 0; made < 4; made++) ids.unshift((await invited(workspace)).id);
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await workspace.client(MembersService).list({ pageSize: 2n, pageToken });
    expect(page.totalCount).toBe(5n);
    seen.push(...page.members.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seen).toEqual(ids);
  const { json } = await workspace.rest("GET", "/v1/members?pageSize=5");
  expect(json).toMatchObject({ totalCount: "5", nextPageToken: "" });
  expect(json.members.at(-1)).toMatchObject({ id: workspace.memberId, role: "ROLE_ADMIN" });
  expect(JSON.stringify(json)).not.toMatch(/hash|epoch|argon/i);
});

test("a change writes what it names; the same values, and a role that is not specified, change nothing", async () => {
  const workspace = await api.newWorkspace();
  const { id } = await invited(workspace);
  const path = `/v1/members/${id}`;
  const change = { firstName: " Ada ", lastName: "Lovelace", role: "ROLE_TECH", displayLanguage: "de-AT" };
  const changed = (await workspace.rest("PUT", path, change)).json;
  expect(changed).toMatchObject({ ...change, firstName: "Ada" });
  for (const same of [
    change,
    {},
    { role: "ROLE_UNSPECIFIED" },
    { email: changed.email.toUpperCase() },
    { lastName: null },
  ])
    expect((await workspace.rest("PUT", path, same)).json).toEqual(changed);
  const cleared = (await workspace.rest("PUT", path, { lastName: "", displayLanguage: "" })).json;
  expect(cleared).toMatchObject({ firstName: "Ada", lastName: "", displayLanguage: "", role: "ROLE_TECH" });
  const { member } = await workspace.client(MembersService).update({
    id,
    lastName: "King",
    role: Member_Role.UNSPECIFIED,
    updateMask: { paths: ["last_name", "role"] },
  });
  expect(member).toMatchObject({ firstName: "Ada", lastName: "King", role: Member_Role.TECH });
  expect((await workspace.rest("GET", path)).json).toMatchObject({ lastName: "King" });
});

test("a new address must be confirmed, the old one is told, and what was mailed to it meets nothing any more", async () => {
  const workspace = await api.newWorkspace();
  const admin = await signInAs(api, workspace);
  const steps = [
    [() => workspace.rest("PUT", `/v1/members/${admin.memberId}`, { email: "" }), 400],
    [(email: string) => workspace.rest("PUT", `/v1/members/${admin.memberId}`, { email }), 200],
    [(email: string) => admin.rest("PUT", "/v1/member", { email: email.toUpperCase() }), 200],
  ] as const;
  let old = admin.email;
  for (const [put, expected] of steps) {
    const email = newEmail();
    await sql`update members set email_verified_at = now(), password_hash = 'x' where id = ${admin.memberId}`.execute(
      api.db,
    );
    const mailsBefore = (await mailsOf(workspace)).length;
    const { status, json } = await put(email);
    expect(status).toBe(expected);
    const mails = (await mailsOf(workspace)).slice(mailsBefore);
    if (status === 400) {
      expect(mails).toEqual([]);
      continue;
    }
    expect(json.email).toBe(email);
    expect(json).not.toHaveProperty("emailVerifiedAt");
    expect(mails).toMatchObject([
      { kind: "email-confirmation", to: email },
      { kind: "email-changed", to: old, facts: JSON.stringify({ newEmail: email }) },
    ]);
    const { challenges, emails } = await recordsOf(workspace);
    const open = (challenges as { used_at: Date | null }[]).filter(({ used_at }) => used_at === null);
    expect(open).toMatchObject([{ kind: "EMAIL_CONFIRMATION", email }]);
    expect(emails).not.toContainEqual(expect.objectContaining({ email: old }));
    old = email;
  }
  // A pending member gets the invitation anew, and the old address hears nothing.
  const pending = await invited(workspace);
  const moved = newEmail();
  await workspace.client(MembersService).update({ id: pending.id, email: moved });
  const mails = (await mailsOf(workspace)).filter(({ memberId }) => memberId === pending.id);
  expect(mails.map(({ kind, to }) => [kind, to])).toEqual([
    ["invitation", pending.email],
    ["invitation", moved],
  ]);
});

test("changes of one address at once leave one reserved address", async () => {
  const workspace = await api.newWorkspace();
  const admin = await signInAs(api, workspace);
  const path = `/v1/members/${admin.memberId}`;
  const calls = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0
      ? workspace.rest("PUT", path, { email: newEmail() })
      : admin.rest("PUT", "/v1/member", { email: newEmail() }),
  );
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
  const { emails } = await recordsOf(workspace);
  const { json } = await workspace.rest("GET", path);
  const reserved = (emails as { member_id: string; email: string }[]).filter(
    (each) => each.member_id === admin.memberId,
  );
  expect(reserved).toMatchObject([{ email: json.email }]);
});

/** Whether a session still calls. */
async function works(rest: Rest): Promise<boolean> {
  return (await rest("GET", "/v1/member")).status === 200;
}

test("suspending, signing out and deleting end all sessions of a member at once, and nobody else's", async () => {
  const workspace = await api.newWorkspace();
  const [admin, tech] = [await signInAs(api, workspace), await signInAs(api, workspace, { role: "TECH" })];
  const path = `/v1/members/${tech.memberId}`;
  const other = await signedIn(api, tech);
  const before = (await admin.rest("GET", path)).json;
  expect((await admin.rest("POST", `${path}/signout`)).json).toEqual(before);
  expect([await works(tech.rest), await works(other.rest), await works(admin.rest)]).toEqual([
    false,
    false,
    true,
  ]);
  const again = await signedIn(api, tech);
  const revoked = (await admin.rest("POST", `${path}/revoke`)).json;
  expect(Date.parse(revoked.accessRevokedAt)).toBe(Date.parse(revoked.updatedAt));
  expect(await works(again.rest)).toBe(false);
  expect((await admin.rest("POST", `${path}/revoke`)).json).toEqual(revoked);
  const { member: allowed } = await admin.client(MembersService).allowAccess({ id: tech.memberId });
  expect(allowed?.accessRevokedAt).toBeUndefined();
  const kept = (await admin.rest("POST", `${path}/allow`)).json;
  expect(Date.parse(kept.updatedAt)).toBe(
    Number(allowed?.updatedAt?.seconds) * 1000 + (allowed?.updatedAt?.nanos ?? 0) / 1e6,
  );
  // Sessions from before the suspension stay ended.
  expect(await works(again.rest)).toBe(false);
  const last = await signedIn(api, tech);
  expect(await works(last.rest)).toBe(true);
  expect((await admin.rest("DELETE", path)).json).toEqual({});
  expect([await works(last.rest), await works(admin.rest)]).toEqual([false, true]);
  for (const method of ["GET", "DELETE"] as const) expect((await admin.rest(method, path)).status).toBe(404);
});

test("what a deleted member made stays without its maker, and the tokens work", async () => {
  const workspace = await api.newWorkspace();
  const tech = await signInAs(api, workspace);
  const media = await tech.rest("POST", "/v1/media", { fileData: onePixel, mediaType: "TYPE_BADGE" });
  const made = await tech.rest("POST", "/v1/workspace-tokens", {
    keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET",
  });
  expect(media.json.media.uploadedBy).toBe(tech.memberId);
  expect(made.json.token.createdBy).toBe(tech.memberId);
  const { workspaceId, memberId } = tech;
  await api.db
    .insertInto("member_passkeys")
    .values({
      ...{ workspace_id: workspaceId, id: memberId, member_id: memberId, created_at: api.now() },
      ...{ credential_id: Buffer.from("key"), public_key: Buffer.from("key"), sign_count: 0n },
    })
    .execute();
  await workspace.client(MembersService).delete({ id: tech.memberId });
  const passkeys = api.db.selectFrom("member_passkeys").select("id").where("workspace_id", "=", workspaceId);
  expect(await passkeys.execute()).toEqual([]);
  const mine = api.rest(made.json.accessToken);
  expect((await mine("GET", `/v1/media/${media.json.media.id}`)).json.media.uploadedBy).toBe("");
  expect((await mine("GET", `/v1/workspace-tokens/${made.json.token.id}`)).json.token.createdBy).toBe("");
});

test("nobody suspends, demotes or deletes themselves or the last active administrator", async () => {
  const workspace = await api.newWorkspace();
  const { memberId: first } = workspace;
  const admin = await signInAs(api, workspace);
  const attempts = (rest: Rest, id: string) => [
    () => rest("PUT", `/v1/members/${id}`, { role: "ROLE_VIEWER", firstName: "Not written" }),
    () => rest("POST", `/v1/members/${id}/revoke`),
    () => rest("DELETE", `/v1/members/${id}`),
  ];
  for (const attempt of attempts(admin.rest, admin.memberId))
    expect((await attempt()).json.error).toMatchObject({ code: 412, codeType: "SELF_CHANGE" });
  expect(await reasonOf(admin.client(MembersService).delete({ id: admin.memberId }))).toBe("SELF_CHANGE");
  expect((await admin.rest("PUT", `/v1/members/${admin.memberId}`, { role: "ROLE_ADMIN" })).status).toBe(200);
  expect((await admin.rest("POST", `/v1/members/${first}/revoke`)).status).toBe(200);
  // An invited administrator who has not accepted administers nothing, and neither does a suspended one.
  const pending = await invited(workspace);
  expect((await workspace.rest("PUT", `/v1/members/${pending.id}`, { role: "ROLE_ADMIN" })).status).toBe(200);
  const before = await recordsOf(workspace);
  for (const attempt of attempts(workspace.rest, admin.memberId))
    expect((await attempt()).json.error).toMatchObject({ code: 412, codeType: "LAST_ADMIN" });
  const members = workspace.client(MembersService);
  expect(await reasonOf(members.revokeAccess({ id: admin.memberId }))).toBe("LAST_ADMIN");
  expect(await reasonOf(members.update({ id: admin.memberId, role: Member_Role.TECH }))).toBe("LAST_ADMIN");
  expect(await recordsOf(workspace)).toEqual(before);
  // Those who administer nothing may go.
  for (const id of [pending.id, first])
    expect((await workspace.rest("DELETE", `/v1/members/${id}`)).status).toBe(200);
});

test("members of every role read and change themselves, and a token is nobody", async () => {
  const workspace = await api.newWorkspace();
  for (const role of ["ADMIN", "TECH", "VIEWER"] as const) {
    const member = await signInAs(api, workspace, { role });
    const { json } = await member.rest("GET", "/v1/member");
    expect(json).toMatchObject({ id: member.memberId, email: member.email, role: `ROLE_${role}` });
    const changed = (await member.rest("PUT", "/v1/member", { firstName: "Ada", role: "ROLE_ADMIN" })).json;
    expect(changed).toMatchObject({ firstName: "Ada", role: `ROLE_${role}` });
    expect((await member.rest("PUT", "/v1/member", { firstName: "Ada" })).json).toEqual(changed);
    const { member: overGrpc } = await member.client(MembersService).updateMyself({ lastName: "King" });
    expect(overGrpc).toMatchObject({ firstName: "Ada", lastName: "King" });
    expect((await member.client(MembersService).getMyself({})).member).toEqual(overGrpc);
  }
  expect((await workspace.rest("GET", "/v1/member")).json.error.codeType).toBe("MEMBER_SESSION_REQUIRED");
  expect(await reasonOf(workspace.client(MembersService).updateMyself({}))).toBe("MEMBER_SESSION_REQUIRED");
});

test("a new password ends the caller's other sessions and closes what was mailed, also when the call is repeated", async () => {
  const workspace = await api.newWorkspace();
  const viewer = await signInAs(api, workspace, { role: "VIEWER" });
  const other = await signedIn(api, viewer);
  const password = "correct horse battery staple ✓";
  const key = { "idempotency-key": randomUUID() };
  const answers = [];
  for (let times = 0; times < 2; times++)
    answers.push(await viewer.rest("PUT", "/v1/member", { password }, key));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map(({ text }) => text).join()).not.toContain("horse");
  expect([await works(viewer.rest), await works(other.rest)]).toEqual([true, false]);
  const { verify } = await import("@node-rs/argon2");
  const { members } = await recordsOf(workspace);
  const hash =
    (members as { id: string; password_hash: string | null }[]).find(({ id }) => id === viewer.memberId)
      ?.password_hash ?? "";
  expect(hash).toMatch(/^\$argon2id\$/);
  expect(await verify(hash, password)).toBe(true);
});

test("new passwords stand in one line with those of sign-in; the others are sent away, and nothing is written", async () => {
  const workspace = await api.newWorkspace();
  const member = await signInAs(api, workspace, { role: "VIEWER" });
  const open = Promise.withResolvers<string>();
  const gate = createPasswordGate({ hash: () => open.promise });
  const held = Array.from({ length: 66 }, (_, index) => gate.hash("x", `network ${index % 6}`));
  try {
    const before = await recordsOf(workspace);
    const refused = await member.rest("PUT", "/v1/member", { password: "a password to wait with" });
    expect(refused).toMatchObject({ status: 429, json: { error: { codeType: "RATE_LIMITED" } } });
    expect(refused.headers["retry-after"]).toBe("1");
    const members = member.client(MembersService);
    expect(await reasonOf(members.updateMyself({ password: "a password to wait with" }))).toBe(
      "RATE_LIMITED",
    );
    expect(await recordsOf(workspace)).toEqual(before);
    // Names need no hash.
    expect((await member.rest("PUT", "/v1/member", { firstName: "Ada" })).status).toBe(200);
  } finally {
    open.resolve("");
    await Promise.all(held);
  }
  expect((await member.rest("PUT", "/v1/member", { password: "a password to wait with" })).status).toBe(200);
});

test("a session that ended a moment ago changes nothing of its member any more", async () => {
  const workspace = await api.newWorkspace();
  const ends: ((session: SignedIn) => Promise<unknown>)[] = [
    (session) => endSessions(api.db, session),
    (session) => endSession(api.db, session, api.now()),
    ({ memberId }) =>
      api.db
        .updateTable("members")
        .set({ access_revoked_at: api.now() })
        .where("id", "=", memberId)
        .execute(),
    ({ memberId }) => api.db.deleteFrom("members").where("id", "=", memberId).execute(),
  ];
  for (const end of ends) {
    const session = await signInAs(api, workspace, { role: "VIEWER" });
    // This process knows for 5 s that the session goes on; another one ends it meanwhile.
    expect(await works(session.rest)).toBe(true);
    await end(session);
    const before = await recordsOf(workspace);
    for (const change of [
      { password: "a password to stay with" },
      { email: newEmail() },
      { firstName: "Eve" },
    ])
      expect((await session.rest("PUT", "/v1/member", change)).json.error).toMatchObject({
        code: 401,
        codeType: "UNAUTHENTICATED",
      });
    const members = session.client(MembersService);
    expect(await reasonOf(members.updateMyself({ lastName: "Eve" }))).toBe("UNAUTHENTICATED");
    expect(await recordsOf(workspace)).toEqual(before);
  }
});

test("bad requests name every bad field, and nothing is written", async () => {
  const workspace = await api.newWorkspace();
  const admin = await signInAs(api, workspace);
  const { id } = await invited(workspace);
  const long = "x".repeat(256);
  const before = await recordsOf(workspace);
  const bad: readonly (readonly [string, string, object | undefined, readonly string[]])[] = [
    ["POST", "/v1/members/invite", {}, ["email"]],
    ["POST", "/v1/members/invite", { email: "ada" }, ["email"]],
    ["POST", "/v1/members/invite", { email: "a@example.com,b@example.com" }, ["email"]],
    ["POST", "/v1/members/invite", { email: "a@example.com\r\nBcc: b@example.com" }, ["email"]],
    [
      "POST",
      "/v1/members/invite",
      { email: `${"a".repeat(250)}@example.com`, firstName: long },
      ["email", "firstName"],
    ],
    ["POST", "/v1/members/invite", { email: "a@example.com", firstName: "A\u0000" }, ["firstName"]],
    ["PUT", `/v1/members/${id}`, { email: "" }, ["email"]],
    ["PUT", `/v1/members/${id}`, { email: "nobody", lastName: long }, ["email", "lastName"]],
    ["PUT", `/v1/members/${id}`, { role: "ROLE_KING" }, ["role"]],
    ["PUT", `/v1/members/${id}`, { displayLanguage: "not a language" }, ["displayLanguage"]],
    ["PUT", "/v1/members/x", { firstName: "A" }, ["id"]],
    ["PUT", "/v1/member", { email: "" }, ["email"]],
    ["PUT", "/v1/member", { password: "" }, ["password"]],
    ["PUT", "/v1/member", { password: "eleven char" }, ["password"]],
    [
      "PUT",
      "/v1/member",
      { password: "x".repeat(1_025), firstName: long, email: "x" },
      ["email", "firstName", "password"],
    ],
    ["GET", "/v1/members?pageSize=-1", undefined, ["pageSize"]],
    ["GET", "/v1/members?pageToken=x", undefined, ["pageToken"]],
    ["GET", "/v1/members?pageSize=many", undefined, ["pageSize"]],
    ...["GET", "DELETE"].map((method) => [method, "/v1/members/x", undefined, ["id"]] as const),
    ...["allow", "revoke", "signout"].map(
      (action) => ["POST", `/v1/members/1/${action}`, {}, ["id"]] as const,
    ),
  ];
  for (const [method, path, body, fields] of bad) {
    const { status, json } = await admin.rest(method, path, body);
    expect(status, JSON.stringify([method, path, body, json])).toBe(400);
    const violations = json.error.details.flatMap(
      (each: { fieldViolations?: { field: string }[] }) => each.fieldViolations ?? [],
    );
    const named = violations.map(({ field }: { field: string }) => field);
    expect([...new Set(named)].toSorted(), JSON.stringify([path, body])).toEqual(fields);
  }
  const members = admin.client(MembersService);
  for (const call of [
    members.invite({ email: "ada" }),
    members.update({ id, email: "", updateMask: { paths: ["email"] } }),
    members.update({ id, displayLanguage: "!" }),
    members.updateMyself({ password: "short" }),
    members.updateMyself({ password: "", updateMask: { paths: ["password"] } }),
    members.get({ id: "x" }),
    members.list({ pageSize: -1n }),
  ])
    await expect(call).rejects.toMatchObject({ code: 3 });
  for (const [method, path] of [
    ["GET", ""],
    ["PUT", ""],
    ["DELETE", ""],
    ["POST", "/allow"],
    ["POST", "/revoke"],
    ["POST", "/signout"],
  ] as const)
    expect((await admin.rest(method, `/v1/members/${randomUUID()}${path}`)).json.error.codeType).toBe(
      "NOT_FOUND",
    );
  expect(await recordsOf(workspace)).toEqual(before);
});

test("a workspace mails links to a thousand new addresses in a day, and no more", async () => {
  const workspace = await api.newWorkspace();
  const { workspaceId: workspace_id } = workspace;
  const member = await invited(workspace);
  await sql`insert into member_challenges (workspace_id, id, member_id, kind, email, expires_at, created_at)
    select workspace_id, gen_random_uuid(), member_id, 'INVITATION', email, expires_at, created_at
    from member_challenges, generate_series(1, 998) where workspace_id = ${workspace_id}`.execute(api.db);
  // Ids of a later time count as of today.
  await sql`update member_challenges set id = ('01af' || substr(id::text, 5))::uuid
    where workspace_id = ${workspace_id}`.execute(api.db);
  await invited(workspace);
  const before = await recordsOf(workspace);
  const refused = await workspace.rest("POST", "/v1/members/invite", { email: newEmail() });
  expect(refused).toMatchObject({ status: 429, json: { error: { codeType: "LIMIT_REACHED" } } });
  expect(refused.headers["retry-after"]).toBe("3600");
  expect((await workspace.rest("PUT", `/v1/members/${member.id}`, { email: newEmail() })).status).toBe(429);
  expect(await recordsOf(workspace)).toEqual(before);
  // Deleting whom the links were for makes no room, and the addresses are forgotten.
  expect((await workspace.rest("DELETE", `/v1/members/${member.id}`)).status).toBe(200);
  expect((await workspace.rest("POST", "/v1/members/invite", { email: newEmail() })).status).toBe(429);
  expect(await reasonOf(workspace.client(MembersService).invite({ email: newEmail() }))).toBe(
    "LIMIT_REACHED",
  );
  const { challenges } = await recordsOf(workspace);
  expect(JSON.stringify(challenges)).not.toContain(member.email);
  for (const { member_id, used_at } of challenges as { member_id: string; used_at: Date | null }[])
    if (member_id === member.id) expect(used_at).not.toBeNull();
});
