import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { insertWorkspace } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { shareRollUps } from "../../visitors/roll-ups.ts";
import { withdrawExports } from "../../visitors/withdraw-exports.ts";
import { jobCall } from "../queue.ts";
import { beginRun, type Run, succeed } from "./run-queries.ts";

const { db } = await testDatabase();

async function addExport(): Promise<Run> {
  const workspaceId = await insertWorkspace(db);
  const at = new Date();
  const exportId = newId(at);
  await db
    .insertInto("exports")
    .values({
      ...{ workspace_id: workspaceId, id: exportId, format: "CSV", status: "PENDING" },
      ...{ starts_at: at, ends_at: at, created_at: at },
    })
    .execute();
  return { workspaceId, exportId, run: randomUUID() };
}

const stored = ({ exportId }: Run) =>
  db.selectFrom("exports").selectAll().where("id", "=", exportId).executeTakeFirstOrThrow();

function withdraw(tx: Db, { workspaceId }: Run, at = new Date()): Promise<void> {
  return withdrawExports(tx, { workspaceId, at, jobCall });
}

function finish(tx: Db, run: Run): Promise<boolean> {
  const at = new Date();
  const expiresAt = new Date(at.getTime() + 86_400_000);
  const file = { rows: 1, bytes: 1, sha256: "00" };
  return succeed(tx, run, { file, storageKey: `exports/${run.run}`, at, expiresAt });
}

test("deletions of visitors restart an export as often as they come, and count as no interruption", async () => {
  const made = await addExport();
  for (let deletion = 0; deletion < 12; deletion++) {
    const run = { ...made, run: randomUUID() };
    expect(await beginRun(db, run)).toMatchObject({ runs: 1 });
    for (const _ of [1, 2]) await db.transaction().execute((tx) => withdraw(tx, made));
    expect(await finish(db, run)).toBe(false);
  }
  await beginRun(db, made);
  expect(await beginRun(db, made)).toMatchObject({ runs: 2 });
});

test("the deletion of a visitor takes back a file that is finished at the same moment", async () => {
  const run = await addExport();
  await beginRun(db, run);
  const at = new Date();
  let withdrawing: Promise<void> | undefined;
  await db.transaction().execute(async (tx) => {
    expect(await finish(tx, run)).toBe(true);
    withdrawing = db.transaction().execute((other) => withdraw(other, run, at));
    await vi.waitFor(async () => expect(await waitingForLocks()).toBe(1), { timeout: 10_000 });
  });
  await withdrawing;
  expect((await stored(run)).expires_at).toEqual(at);
});

test("a run lets the writers of other workspaces go on while a writer of its own is busy", async () => {
  const run = await addExport();
  await db.transaction().execute(async (tx) => {
    await shareRollUps([run.workspaceId]).execute(tx);
    expect(await beginRun(db, run)).toBe("busy");
    await db.transaction().execute((other) => shareRollUps([run.workspaceId]).execute(other));
  });
  expect(await beginRun(db, run)).toMatchObject({ runs: 1 });
});

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select count(*)::integer as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.waiting ?? 0;
}
