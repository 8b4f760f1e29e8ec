import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { type Reply, startApi } from "../../../test/support/start-api.ts";

const linkCount = 300;
const api = await startApi({ deps: { bulkJobLinks: linkCount } });
const { db, database } = api;
const program = fileURLToPath(new URL("../../../test/support/worker-process.ts", import.meta.url));

/** A worker that has loaded its code, and begins when it is told to. */
interface Worker {
  begin(): void;
  kill(): void;
}

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

async function newWorker(): Promise<Worker> {
  const { host, port, user, password, database: name } = database.connection;
  const connection = { host, port, user, password, database: name };
  const child = spawn(process.execPath, [program, JSON.stringify({ connection })], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  await once(child.stdout, "data");
  return { begin: () => void child.stdin.write("begin\n"), kill: () => void child.kill("SIGKILL") };
}

const workspace = await api.newWorkspace();

const shortlinkOf = (mark: string, index: number) => `${mark}-${index}`;

async function send(mark: string = randomUUID()): Promise<string> {
  const links = Array.from({ length: linkCount }, (_, index) => ({
    destination: "https://example.com/menu",
    shortlink: shortlinkOf(mark, index),
    tags: ["all"],
  }));
  return (await workspace.rest("POST", "/v1/links/bulk/jobs", { links })).json.id;
}

/** Waits until the job has this status, or one of its ends. */
async function reached(id: string, status: string): Promise<Reply["json"]> {
  return vi.waitFor(
    async () => {
      const { json } = await workspace.rest("GET", `/v1/jobs/${id}`);
      expect(json.completedAt === undefined ? json.status : status).toBe(status);
      return json;
    },
    { timeout: 100_000, interval: 2 },
  );
}

/** How many records of all jobs there are. */
async function counted(): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`select
    (select count(*)::int from links) as links, (select count(*)::int from shortlinks) as shortlinks,
    (select count(*)::int from workflow_steps) as steps, (select count(*)::int from link_tags) as tags,
    (select count(*)::int from graphile_worker.jobs where task_identifier = 'render-qrcode') as images`.execute(
    db,
  );
  return rows[0] ?? {};
}

/** How many statements wait for another transaction. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.count ?? 0;
}

const rounds = 8;
/** A part of 0 to 1 for each round; the parts lie evenly. */
const partOf = (round: number) => (round * 0.618034) % 1;

test("a job whose worker is killed at any moment makes each of its links once", async () => {
  let worker = await newWorker();
  worker.begin();
  await reached(await send(), "JOB_STATUS_SUCCEEDED");
  // How long a job takes here, so that the kills are spread over all of it.
  const startedAt = performance.now();
  await reached(await send(), "JOB_STATUS_SUCCEEDED");
  const wholeMs = performance.now() - startedAt;

  for (let round = 0; round < rounds; round++) {
    const heir = await newWorker();
    const id = await send();
    await reached(id, "JOB_STATUS_RUNNING");
    await pause(partOf(round) * wholeMs);
    worker.kill();
    heir.begin();
    const job = await reached(id, "JOB_STATUS_SUCCEEDED");
    expect(job).toMatchObject({ status: "JOB_STATUS_SUCCEEDED" });
    expect(new Set(job.linksBulkCreate.linkIds).size).toBe(linkCount);
    worker = heir;
  }
  const links = (rounds + 2) * linkCount;
  worker.kill();
  expect(await counted()).toEqual({ links, shortlinks: links, steps: 2 * links, tags: links, images: links });
}, 300_000);

test("a worker that is killed in the middle of a job leaves nothing of it, and the next one makes it whole", async () => {
  const before = await counted();
  const [worker, heir] = await Promise.all([newWorker(), newWorker()]);
  // Another call is about to take the short link of the last link, so that the job waits for it.
  const other = new pg.Client(database.connection);
  await other.connect();
  await other.query("begin");
  const mark = randomUUID();
  await other.query(
    "insert into shortlinks (host, shortlink, workspace_id, link_id) values ('', $1, $2, $3)",
    [shortlinkOf(mark, linkCount - 1), workspace.workspaceId, randomUUID()],
  );
  const id = await send(mark);
  worker.begin();
  await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 100_000, interval: 10 });
  worker.kill();
  await other.query("rollback");
  await other.end();
  expect(await counted()).toEqual(before);
  heir.begin();
  const job = await reached(id, "JOB_STATUS_SUCCEEDED");
  expect(job.linksBulkCreate.linkIds).toHaveLength(linkCount);
  expect((await counted()).links).toBe((before.links ?? 0) + linkCount);
}, 300_000);
