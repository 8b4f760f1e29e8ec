import { setTimeout as pause } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import {
  ListWorkspaceTokensRequestSchema,
  WorkspaceTokensService,
} from "../../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { type Clock, tickingClock } from "../../../../test/support/clock.ts";
import { newCall } from "../../../../test/support/new-call.ts";
import { standInServices } from "../../../../test/support/stand-in-services.ts";
import { startApi } from "../../../../test/support/start-api.ts";
import { testDatabase } from "../../../../test/support/test-database.ts";
import { tellRestoration, tellRevocation } from "../../../db/channels.ts";
import { newId } from "../../../lib/ids.ts";
import { everyScope } from "../../../model/scope.ts";
import { openRevocations } from "./revocations.ts";

const database = await testDatabase();
const log = pino({ level: "silent" });

async function open(clock: Clock, change: Partial<Parameters<typeof openRevocations>[0]> = {}) {
  const { db, connection } = database;
  const revocations = await openRevocations({ db, connection, now: clock.now, log, pollMs: 20, ...change });
  afterAll(revocations.close);
  return revocations;
}

async function revoke(subject: string, at: Date): Promise<void> {
  await database.db.insertInto("revocations").values({ subject, revoked_at: at }).execute();
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(5);
}

test("a token revoked in one process is refused in another, by notification alone", async () => {
  const first = await startApi({ database });
  const second = await startApi({ database });
  const { rest, token, tokenId } = await first.newWorkspace();
  expect((await second.rest(token)("GET", "/v1/workspace-tokens")).status).toBe(200);
  await rest("DELETE", `/v1/workspace-tokens/${tokenId}`);
  let status = 200;
  while (status === 200) status = (await second.rest(token)("GET", "/v1/workspace-tokens")).status;
  expect(status).toBe(401);
});

test("revoking a workspace revokes all its tokens", async () => {
  const { services } = standInServices();
  const api = await startApi({ database, services });
  const workspaceId = newId(api.now());
  await revoke(workspaceId, api.now());
  const restarted = await startApi({ database, services });
  const token = await api.signToken({
    tokenId: newId(api.now()),
    workspaceId,
    keyType: "SECRET",
    environment: "live",
    scope: everyScope,
    issuedAt: api.now(),
  });
  expect((await restarted.rest(token)("GET", "/v1/workspace-tokens")).json.error.message).toBe(
    "the token was revoked",
  );
});

test("a restored workspace leaves the list of every process, and can be revoked again", async () => {
  const clock = tickingClock();
  const revocations = await open(clock);
  const hearing = await open(clock, { pollMs: 3_600_000 });
  const workspaceId = newId(clock.now());
  for (const restored of [false, true, false]) {
    const values = { subject: workspaceId, revoked_at: clock.now(), restored };
    await database.db
      .insertInto("revocations")
      .values(values)
      .onConflict((conflict) => conflict.constraint("revocations_pkey").doUpdateSet(values))
      .execute();
    await until(() => revocations.has(workspaceId) === !restored);
    const tell = restored ? tellRestoration(workspaceId) : tellRevocation(workspaceId);
    await sql`select ${tell}`.execute(database.db);
    await until(() => hearing.has(workspaceId) === !restored);
  }
});

test("polling finds a revocation whose notification was lost, whichever process's clock is wrong", async () => {
  const clock = tickingClock();
  const revocations = await open(clock);
  await revoke(newId(clock.now()), clock.now());
  const late = newId(clock.now());
  await revoke(late, new Date(clock.now().getTime() - 60_000));
  await until(() => revocations.has(late));
  const [early, next] = [newId(clock.now()), newId(clock.now())];
  await revoke(early, new Date(clock.now().getTime() + 86_400_000));
  await until(() => revocations.has(early));
  await revoke(next, clock.now());
  await until(() => revocations.has(next));
});

test("a list older than five seconds is not trusted until it is read again", async () => {
  const clock = tickingClock();
  const revocations = await open(clock, { pollMs: 1_000_000 });
  expect(revocations.isFresh()).toBe(true);
  clock.advance(5_001);
  expect(revocations.isFresh()).toBe(false);
  const missed = newId(clock.now());
  await revoke(missed, clock.now());
  await revocations.refresh();
  expect(revocations.isFresh()).toBe(true);
  expect(revocations.has(missed)).toBe(true);
});

test("after its connection is cut, a process listens again and reads all it missed, however old", async () => {
  const clock = tickingClock();
  const revocations = await open(clock);
  const missed = newId(clock.now());
  await revoke(newId(clock.now()), clock.now());
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'signpost revocations' and datname = current_database()",
  );
  await revoke(missed, new Date(0));
  await until(() => revocations.has(missed));
  const notified = newId(clock.now());
  while (!revocations.has(notified)) {
    await database.pool.query("select pg_notify('signpost_revocation', $1)", [notified]);
    await pause(5);
  }
});

async function changeScopes(tokenId: string, scope: string, version: number, at: Date): Promise<void> {
  const values = { scope, version, changed_at: at };
  await database.db
    .insertInto("changed_scopes")
    .values({ token_id: tokenId, ...values })
    .onConflict((conflict) => conflict.column("token_id").doUpdateSet(values))
    .execute();
}

test("polling and the first reading find scopes whose notification was lost", async () => {
  const clock = tickingClock();
  const revocations = await open(clock);
  const tokenId = newId(clock.now());
  expect(revocations.scopeOf(tokenId)).toBeUndefined();
  await changeScopes(tokenId, "links:read", 1, clock.now());
  await until(() => revocations.scopeOf(tokenId) === "links:read");
  await changeScopes(tokenId, "*", 2, clock.now());
  await until(() => revocations.scopeOf(tokenId) === "*");
  expect((await open(clock)).scopeOf(tokenId)).toBe("*");
});

test("of two changes of scopes the later one counts, in whichever order they are heard", async () => {
  const clock = tickingClock();
  const revocations = await open(clock, { pollMs: 1_000_000 });
  const [tokenId, marker] = [newId(clock.now()), newId(clock.now())];
  const notify = (payload: string) =>
    database.pool.query("select pg_notify('signpost_scopes', $1)", [payload]);
  await notify(`${tokenId} 2 links:read media:read`);
  await notify(`${tokenId} 1 links:write`);
  for (const damaged of ["", "x", `${tokenId} x links:write`, `${tokenId}`]) await notify(damaged);
  await notify(`${marker} 1 `);
  await until(() => revocations.scopeOf(marker) === "");
  expect(revocations.scopeOf(tokenId)).toBe("links:read media:read");
  revocations.change({ tokenId, scope: "links:write", version: 1 });
  expect(revocations.scopeOf(tokenId)).toBe("links:read media:read");
  revocations.add(tokenId);
  expect(revocations.scopeOf(tokenId)).toBeUndefined();
});

test("every token is refused with 503 while a stale list cannot be read anew", async () => {
  const { services } = standInServices();
  const clock = tickingClock();
  const api = await startApi({ services, clock });
  const token = await api.signToken({
    tokenId: newId(clock.now()),
    workspaceId: newId(clock.now()),
    keyType: "SECRET",
    environment: "live",
    scope: everyScope,
    issuedAt: clock.now(),
  });
  const call = () =>
    api.invoke(
      WorkspaceTokensService.method.list,
      () => create(ListWorkspaceTokensRequestSchema),
      newCall({ token }),
    );
  await api.database.pool.query("alter table revocations rename to hidden");
  expect(await call()).toMatchObject({ ok: true });
  clock.advance(6_000);
  expect(await call()).toMatchObject({ error: { code: "UNAVAILABLE", refusal: { retryAfterSeconds: 1 } } });
  await api.database.pool.query("alter table hidden rename to revocations");
  expect(await call()).toMatchObject({ ok: true });
});
