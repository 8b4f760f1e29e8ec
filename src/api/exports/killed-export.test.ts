import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { addEvents } from "../../../test/support/exported-events.ts";
import { startApi } from "../../../test/support/start-api.ts";
import { openStorage } from "../../lib/storage/open-storage.ts";

const directory = await mkdtemp(join(tmpdir(), "signpost-killed-export-"));
const folder = join(directory, "unfinished");
const api = await startApi({ deps: { storage: await openStorage({ directory }) } });
const { db, database } = api;
const program = fileURLToPath(new URL("../../../test/support/export-process.ts", import.meta.url));

const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await rm(directory, { recursive: true });
});

function startWorker(): ChildProcess {
  const { host, port, user, password, database: name } = database.connection;
  const given = { connection: { host, port, user, password, database: name }, directory, folder };
  const child = spawn(process.execPath, [program, JSON.stringify(given)], { stdio: "inherit" });
  children.push(child);
  return child;
}

async function until(check: () => Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: 30_000, interval: 20 });
}

test("an export whose worker is killed in the middle offers nothing, and the next worker makes it whole", async () => {
  const workspace = await api.newWorkspace();
  const { workspaceId } = workspace;
  await addEvents(api, { workspaceId, count: 300, from: new Date(Date.now() - 86_400_000) });
  // Devices cannot be read for a while, so that the worker stops in the middle of its first portion.
  const other = new pg.Client(database.connection);
  await other.connect();
  await other.query("begin; lock table devices in access exclusive mode");
  const { id } = (await workspace.rest("POST", "/v1/exports", { format: "EXPORT_FORMAT_CSV" })).json;
  const read = async () => (await workspace.rest("GET", `/v1/exports/${id}`)).json;
  const worker = startWorker();
  await until(async () => {
    const { rows } = await sql<{ count: number }>`select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'copy%'`.execute(db);
    expect(rows[0]?.count).toBe(1);
  });
  worker.kill("SIGKILL");
  expect(await read()).toMatchObject({ status: "JOB_STATUS_RUNNING" });
  expect((await read()).downloadUrl ?? "").toBe("");
  expect(await readdir(join(directory)).then((names) => names.includes("exports"))).toBe(false);
  await other.query("rollback");
  await other.end();

  startWorker();
  await until(async () => expect((await read()).status).toBe("JOB_STATUS_SUCCEEDED"));
  const { rowCount, downloadUrl } = await read();
  expect(rowCount).toBe("300");
  const key = new URL(downloadUrl).pathname.replace("/_p/files/", "");
  const file = await (await openStorage({ directory })).get(key);
  const ids = parse(gunzipSync(file?.bytes ?? new Uint8Array()))
    .slice(1)
    .map(([eventId]: string[]) => eventId);
  expect(new Set(ids).size).toBe(300);
  expect(ids).toHaveLength(300);
});
