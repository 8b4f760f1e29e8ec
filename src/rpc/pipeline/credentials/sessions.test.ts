import { expect, test } from "vitest";
import { AccessService } from "../../../../gen/signpost/testing/v1/access_pb.js";
import { ask, protocols } from "../../../../test/support/ask.ts";
import { tickingClock } from "../../../../test/support/clock.ts";
import { signedIn, signInAs } from "../../../../test/support/sign-in.ts";
import { startApi } from "../../../../test/support/start-api.ts";
import { newId } from "../../../lib/ids.ts";
import { endSession, endSessions } from "../../../people/end-sessions.ts";
import { apiScopes } from "../../access.ts";
import { type Caller, type Context, type Handlers, register } from "../../handlers.ts";

let caller: Caller | undefined;
let calls = 0;
const answer = async (_request: unknown, context: Context) => {
  caller = context.caller;
  calls += 1;
  return { text: `call ${calls}` };
};
const handlers: Handlers<typeof AccessService> = {
  ...{ write: answer, read: answer, publish: answer, master: answer },
  ...{ guard: answer, sign: answer, signAny: answer, live: answer, own: answer },
};
const clock = tickingClock();
const services = [register(AccessService, handlers)];
const api = await startApi({ services, clock });
const { method } = AccessService;

const read = (accessToken: string, at = api) => at.rest(accessToken)("POST", "/v1/access/read", {});
const statusOf = async (accessToken: string) => (await read(accessToken)).status;

test("a session calls as its member: no token, the scopes of the role, full access for administrators only", async () => {
  const workspace = await api.newWorkspace();
  const of = async (role: "ADMIN" | "TECH" | "VIEWER") => {
    const member = await signInAs(api, workspace, { role });
    expect((await read(member.accessToken)).status).toBe(200);
    const { memberId, sessionId, workspaceId } = member;
    expect(caller).toMatchObject({ workspaceId, memberId, sessionId, tokenId: undefined, sandbox: false });
    return { fullAccess: caller?.fullAccess, scopes: [...(caller?.scopes ?? [])].sort() };
  };
  const all = [...apiScopes].sort();
  const ofAdmins = ["members:write", "tokens:write", "billing:write"];
  expect(await of("ADMIN")).toEqual({ fullAccess: true, scopes: all });
  expect(await of("TECH")).toEqual({
    fullAccess: false,
    scopes: all.filter((name) => !ofAdmins.includes(name)),
  });
  expect(await of("VIEWER")).toEqual({
    fullAccess: false,
    scopes: all.filter((name) => name.endsWith(":read")),
  });
});

test.each(protocols)(
  "over %s a role that may not call gets the refusal of its missing scope",
  async (protocol) => {
    const workspace = await api.newWorkspace();
    const [admin, tech, viewer] = await Promise.all(
      (["ADMIN", "TECH", "VIEWER"] as const).map((role) => signInAs(api, workspace, { role })),
    );
    const reasonOf = async (each: (typeof method)[keyof typeof method], by = viewer) =>
      (await ask(api, protocol, each, {}, by?.accessToken ?? "")).reason;
    expect(await reasonOf(method.read)).toBe("OK");
    expect(await ask(api, protocol, method.write, {}, viewer?.accessToken ?? "")).toEqual({
      reason: "INSUFFICIENT_SCOPE",
      message: "your role lacks the scope links:write",
    });
    expect(await reasonOf(method.sign)).toBe("INSUFFICIENT_SCOPE");
    expect(await reasonOf(method.signAny)).toBe("OK");
    for (const each of [method.write, method.sign, method.signAny])
      expect(await reasonOf(each, tech)).toBe("OK");
    expect(await reasonOf(method.master, tech)).toBe("FULL_ACCESS_REQUIRED");
    expect(await reasonOf(method.master, admin)).toBe("OK");
    await endSessions(api.db, viewer ?? { workspaceId: "", memberId: "" });
    clock.advance(5_000);
    expect(await reasonOf(method.read)).toBe("UNAUTHENTICATED");
  },
);

test("a new epoch, a suspension, a lesser role and a deletion take effect within 5 s", async () => {
  const workspace = await api.newWorkspace();
  const change = (memberId: string) =>
    api.db
      .updateTable("members")
      .where("workspace_id", "=", workspace.workspaceId)
      .where("id", "=", memberId);
  const changes: [status: number, (memberId: string) => Promise<unknown>][] = [
    [401, (memberId) => endSessions(api.db, { ...workspace, memberId })],
    [401, (memberId) => change(memberId).set({ access_revoked_at: api.now() }).execute()],
    [403, (memberId) => change(memberId).set({ role: "VIEWER" }).execute()],
    [401, (memberId) => api.db.deleteFrom("members").where("id", "=", memberId).execute()],
  ];
  for (const [status, make] of changes) {
    const { memberId, rest } = await signInAs(api, workspace);
    const write = async () => (await rest("POST", "/v1/access/write", {})).status;
    expect(await write()).toBe(200);
    await make(memberId);
    clock.advance(5_000);
    expect(await write()).toBe(status);
  }
});

test("a new password may keep one session, and signing out ends one session alone", async () => {
  const workspace = await api.newWorkspace();
  const first = await signInAs(api, workspace);
  const second = await signedIn(api, first);
  await endSessions(api.db, first, second.sessionId);
  clock.advance(5_000);
  expect([await statusOf(first.accessToken), await statusOf(second.accessToken)]).toEqual([401, 200]);
  const third = await signedIn(api, first);
  const fourth = await signedIn(api, first);
  await endSession(api.db, second, api.now());
  await endSession(api.db, third, api.now());
  clock.advance(5_000);
  const statuses = await Promise.all([second, third, fourth].map((each) => statusOf(each.accessToken)));
  expect(statuses).toEqual([401, 401, 200]);
});

test("the row of a member who signs out again and again stays small, and no ended session comes back", async () => {
  const workspace = await api.newWorkspace();
  const member = await signInAs(api, workspace);
  const ended = [];
  for (let made = 0; made < 60; made += 1) {
    const session = await signedIn(api, member);
    await endSession(api.db, session, api.now());
    ended.push(session.accessToken);
  }
  const row = () =>
    api.db
      .selectFrom("members")
      .select(["ended_session_ids", "session_epoch"])
      .where("id", "=", member.memberId)
      .executeTakeFirstOrThrow();
  expect((await row()).ended_session_ids.length).toBeLessThanOrEqual(50);
  expect((await row()).session_epoch).toBe(1);
  clock.advance(5_000);
  expect(new Set(await Promise.all(ended.map(statusOf)))).toEqual(new Set([401]));
  const later = new Date(api.now().getTime() + 31 * 86_400_000);
  const session = await signedIn(api, member);
  await endSession(api.db, { ...session, sessionId: newId(later) }, later);
  expect((await row()).ended_session_ids).toHaveLength(1);
});

test("a session expires after 30 days", async () => {
  const own = tickingClock();
  const late = await startApi({ services, clock: own, database: api.database });
  const { accessToken } = await signInAs(late, await late.newWorkspace());
  own.advance(30 * 86_400_000 - 60_000);
  expect((await read(accessToken, late)).status).toBe(200);
  own.advance(60_000);
  expect((await read(accessToken, late)).json.error.message).toBe("the session has expired; sign in again");
});

test("the sessions of a revoked workspace end with it", async () => {
  const workspace = await api.newWorkspace();
  const { accessToken } = await signInAs(api, workspace);
  await api.db
    .insertInto("revocations")
    .values({ subject: workspace.workspaceId, revoked_at: api.now() })
    .execute();
  const restarted = await startApi({ services, clock, database: api.database });
  expect((await read(accessToken, restarted)).status).toBe(401);
});

test("sessions are refused with 503 while the database cannot tell how their members stand", async () => {
  const { accessToken } = await signInAs(api, await api.newWorkspace());
  await api.database.pool.query("alter table members rename to hidden");
  expect((await read(accessToken)).status).toBe(503);
  await api.database.pool.query("alter table hidden rename to members");
  expect((await read(accessToken)).status).toBe(200);
});

test("an idempotency key belongs to the session that used it", async () => {
  const workspace = await api.newWorkspace();
  const member = await signInAs(api, workspace);
  const other = await signedIn(api, member);
  const write = async ({ rest }: typeof member) =>
    (await rest("POST", "/v1/access/write", {}, { "idempotency-key": "one" })).json.text;
  const text = await write(member);
  expect(await write(member)).toBe(text);
  expect(await write(other)).not.toBe(text);
});

test("each session has a rate of its own, and all of a workspace share one", async () => {
  const limited = await startApi({ services, rateLimits: { token: 1, workspace: 2 } });
  const workspace = await limited.newWorkspace();
  const member = await signInAs(limited, workspace);
  const other = await signedIn(limited, member);
  const third = await signedIn(limited, member);
  const statuses = async (accessToken: string) => {
    const [first, second, last] = [
      read(accessToken, limited),
      read(accessToken, limited),
      read(accessToken, limited),
    ];
    return [(await first).status, (await second).status, (await last).status].sort();
  };
  expect(await statuses(member.accessToken)).toEqual([200, 200, 429]);
  expect(await statuses(other.accessToken)).toEqual([200, 200, 429]);
  expect((await read(third.accessToken, limited)).status).toBe(429);
});

test("log lines name the member and never the session's token", async () => {
  const { accessToken, memberId } = await signInAs(api, await api.newWorkspace());
  await read(accessToken);
  expect(api.log()).toContain(memberId);
  expect(api.log()).not.toContain(accessToken.split(".")[2]);
});
