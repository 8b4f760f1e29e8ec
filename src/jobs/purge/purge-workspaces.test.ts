import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { sql } from "kysely";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gatedStore } from "../../../test/support/gated-store.ts";
import { startSlack } from "../../../test/support/slack/stand-in.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";
import { makers } from "../../../test/support/tenant-records.ts";
import { tenantRows, walkTables } from "../../../test/support/tenant-rows.ts";
import { visitsThrough } from "../../../test/support/visits.ts";
import { deleteWorkspace, forgetRevocations } from "../../db/end-workspaces.ts";
import { sweepFiles } from "../../db/file-checks.ts";
import { pageThemeTemplateTables, qrcodeTemplateTables } from "../../db/templates/template-tables.ts";
import { forgetTemplate } from "../../db/templates/usable-templates.ts";
import { localFolderStorage } from "../../lib/storage/storage-local.ts";
import { renderQrcode } from "../pictures/render-qrcode.ts";
import { renderThumbnail } from "../pictures/render-thumbnail.ts";
import { enqueue, jobCalls } from "../queue.ts";
import { deleteOldReservations } from "./purge-reservations.ts";
import { type PurgeDeps, purgeWorkspace, purgeWorkspaces } from "./purge-workspaces.ts";

const directory = await mkdtemp(join(tmpdir(), "signpost-purge-"));
afterAll(() => rm(directory, { recursive: true, force: true }));
const storage = localFolderStorage(directory);
const slack = await startSlack();
afterAll(slack.close);
const api = await startApi({ deps: { storage, slack: slack.client } });
const { db, clock } = api;
const deps: PurgeDeps = { db, storage, tokenBox: api.tokenBox, now: clock.now };
const scan = await startTestScan(api.database, {}, afterAll);
const tables = await walkTables(db);

const dayMs = 24 * 60 * 60 * 1000;

let keeper: TestWorkspace;
beforeAll(async () => {
  keeper = await filledWorkspace("keeper");
});

/** A workspace with rows in every table and files of every kind. `seed` makes its pictures differ from others'. */
async function filledWorkspace(seed: string): Promise<TestWorkspace> {
  const workspace = await api.newWorkspace();
  for (const make of Object.values(makers)) await make(api, workspace);
  const visits = visitsThrough(scan, api, workspace);
  const { shortlink } = await visits.newLink();
  await visits.visit(shortlink);
  const design = await api.rest()("POST", "/v1/public/qrcode-designs", {
    centralImageData: await picture(seed),
  });
  const link = await workspace.rest("POST", "/v1/links", {
    destination: "https://example.com",
    qrcodeDesignId: design.json.qrcodeDesign.id,
  });
  expect(link.status, link.text).toBe(200);
  await drawAll(workspace.workspaceId);
  // Then no check is left that would delete the files without the purge.
  await sweep();
  await tables.fill(workspace.workspaceId);
  return workspace;
}

/** A picture of 64 × 64 pixels in base64 that only this seed has. */
async function picture(seed: string): Promise<string> {
  const color = `#${Buffer.from(seed).toString("hex").slice(0, 6)}`;
  const image = sharp({ create: { width: 64, height: 64, channels: 3, background: color } });
  return (await image.png().toBuffer()).toString("base64");
}

/** Does what the worker does for the links and templates of a workspace. */
async function drawAll(workspaceId: string): Promise<void> {
  const drawing = { ...deps, shortUrl: "https://short.test" };
  const signal = new AbortController().signal;
  for (const { id } of await idsOf("links", workspaceId))
    await renderQrcode(drawing)({ workspaceId, linkId: id }, signal);
  for (const { id } of await idsOf("qrcode_templates", workspaceId))
    await renderThumbnail(drawing)({ workspaceId, templateId: id }, signal);
}

function idsOf(table: "links" | "qrcode_templates", workspaceId: string) {
  return db.selectFrom(table).select("id").where("workspace_id", "=", workspaceId).execute();
}

async function files(): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** Deletes a workspace, and purges its sandboxes. */
async function remove({ workspaceId }: TestWorkspace): Promise<void> {
  const ended = await deleteWorkspace(db, { workspaceId, at: clock.now(), jobCalls });
  expect(ended).toContain(workspaceId);
  for (const id of ended) if (id !== workspaceId) await purgeWorkspace(deps, id);
}

/** Lets the checks of shared files become due, and runs them. */
async function sweep(): Promise<void> {
  clock.advance(3 * 60 * 60 * 1000);
  while ((await sweepFiles(db, deps)) > 0);
}

/** The rows of a workspace without its count of API calls, which is written within a second of the last one. */
async function settledRows({ workspaceId }: TestWorkspace): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = await tenantRows(db, workspaceId);
  return new Map(
    [...all].map(([table, rows]) => [table, rows.filter((row) => !row.includes("PUBLIC_API_CALLS"))]),
  );
}

/**
 * Takes the orders to end grants off the queue. They outlive the workspace, because others are told with them that an
 * account is no longer used. Returns the names of their tasks.
 */
async function takeRevocations(workspaceId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ task: string }>`
    delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
    where t.id = j.task_id and t.identifier like 'revoke-%' and j.payload::text like ${`%${workspaceId}%`}
    returning t.identifier as task`.execute(db);
  return rows.map(({ task }) => task);
}

test("a purge leaves no row, no job and no file of the workspace, and all of another", async () => {
  await sweep();
  const before = { rows: await settledRows(keeper), files: await files() };
  const doomed = await filledWorkspace("doomed");
  const { workspaceId } = doomed;
  for (const [table, rows] of await tenantRows(db, workspaceId)) expect(rows, table).not.toEqual([]);
  expect((await files()).length).toBeGreaterThan(before.files.length + 4);
  await remove(doomed);
  expect(await purgeWorkspace({ ...deps, batchSize: 2 }, workspaceId)).toBe(true);
  await sweep();
  expect(await takeRevocations(workspaceId)).toContain("revoke-google-grant");
  expect(await tables.naming(workspaceId)).toEqual(["revocations"]);
  expect(await settledRows(keeper)).toEqual(before.rows);
  expect(await files()).toEqual(before.files);
});

test("a purge that is killed at any moment goes on where it was", async () => {
  const before = await files();
  const doomed = await filledWorkspace("killed");
  const { workspaceId } = doomed;
  await remove(doomed);
  let kills = 0;
  const purge = () =>
    purgeWorkspace({ ...deps, db: failingAfter(1 + 10 * kills), batchSize: 5 }, workspaceId);
  for (;;) {
    const outcome = await purge().catch((error: Error) => error.message);
    if (outcome === true) break;
    expect(outcome).toBe("killed");
    kills += 1;
  }
  expect(kills).toBeGreaterThan(5);
  await sweep();
  expect(await takeRevocations(workspaceId)).toContain("revoke-google-grant");
  expect(await tables.naming(workspaceId)).toEqual(["revocations"]);
  expect(await files()).toEqual(before);
});

/** The database, which fails with every statement after so many. */
function failingAfter(limit: number): typeof db {
  let statements = 0;
  return db.withPlugin({
    transformQuery({ node }) {
      statements += 1;
      if (statements > limit) throw new Error("killed");
      return node;
    },
    transformResult: async ({ result }) => result,
  });
}

test("links of other workspaces forget the templates that a purged one had published", async () => {
  const [doomed, other] = [await api.newWorkspace(), await api.newWorkspace()];
  const qrcodeTemplateId = await makers.qrcodeTemplate(api, doomed);
  const pageThemeTemplateId = await makers.pageThemeTemplate(api, doomed);
  await doomed.rest("POST", `/v1/qrcode-templates/${qrcodeTemplateId}/publish`);
  await doomed.rest("POST", `/v1/page-theme-templates/${pageThemeTemplateId}/publish`);
  const destination = "https://example.com";
  const { json } = await other.rest("POST", "/v1/links", { destination, qrcodeTemplateId });
  const linkId = json.link.id;
  await other.rest("POST", "/v1/page-themes/apply-template", { linkId, pageThemeTemplateId });
  const read = async () => (await other.rest("GET", `/v1/links/${linkId}`)).json.link;
  const dressed = await read();
  expect(dressed).toMatchObject({ qrcodeTemplateId, pageThemeTemplateId });
  await remove(doomed);
  await purgeWorkspace(deps, doomed.workspaceId);
  expect(await read()).toEqual({ ...dressed, qrcodeTemplateId: "", pageThemeTemplateId: "" });
});

test.each([
  [qrcodeTemplateTables, "links_published_template_idx"],
  [pageThemeTemplateTables, "links_published_page_theme_template_idx"],
])(
  "the links of a template are locked in the order of their keys, and no other link is read",
  async (kind, index) => {
    const plan = await db.transaction().execute(async (tx) => {
      // Tables of tests are so small that PostgreSQL would read them whole, or sort what it found by another index.
      await sql`set local enable_seqscan = off`.execute(tx);
      await sql`set local enable_sort = off`.execute(tx);
      return sql<{
        "QUERY PLAN": string;
      }>`explain ${forgetTemplate(kind, keeper.workspaceId, 10)}`.execute(tx);
    });
    const steps = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(steps).toMatch(new RegExp(`LockRows.+Index (?:Only )?Scan using ${index}`, "s"));
    expect(steps).not.toContain("Sort");
  },
);

test("a purge waits for jobs of the workspace that run", async () => {
  const { workspaceId, ...workspace } = await api.newWorkspace();
  await enqueue(db, "render-qrcode", { workspaceId, linkId: workspaceId });
  const lock = (at: Date | null) =>
    sql`update graphile_worker._private_jobs set locked_at = ${at} where payload ->> 'workspaceId' = ${workspaceId}`;
  await lock(clock.now()).execute(db);
  await remove({ workspaceId, ...workspace });
  expect(await purgeWorkspace(deps, workspaceId)).toBe(false);
  await lock(null).execute(db);
  expect(await purgeWorkspace(deps, workspaceId)).toBe(true);
  expect(await tables.naming(workspaceId)).toEqual(["revocations"]);
});

test("visits that are still in the spool when a purge begins are dropped, not stored", async () => {
  const doomed = await api.newWorkspace();
  const { json } = await doomed.rest("POST", "/v1/links", { destination: "https://example.com" });
  const gate = await gatedStore(api.database);
  const gated = await startTestScan(api.database, { store: gate.store });
  expect((await gated.ask(`/${json.link.shortlink}`)).status).toBe(302);
  await remove(doomed);
  await sql`update workspaces set purge_began_at = now() where id = ${doomed.workspaceId}`.execute(db);
  gate.open();
  await gated.drained();
  expect((await tenantRows(db, doomed.workspaceId)).get("events")).toEqual([]);
  expect(await purgeWorkspace(deps, doomed.workspaceId)).toBe(true);
  expect(await tables.naming(doomed.workspaceId)).toEqual(["revocations"]);
});

test("a workspace whose files cannot be deleted does not hold up others, and is purged later", async () => {
  const [stuck, next] = [await api.newWorkspace(), await api.newWorkspace()];
  await makers.media(api, stuck);
  await remove(stuck);
  await remove(next);
  clock.advance(31 * dayMs);
  const isAway = { delete: () => Promise.reject(new Error("the storage is away")) };
  const failing = purgeWorkspaces({ ...deps, storage: { ...storage, ...isAway } });
  await expect(failing).rejects.toThrow("the storage is away");
  expect(await left()).toContain(stuck.workspaceId);
  expect(await left()).not.toContain(next.workspaceId);
  await purgeWorkspaces(deps);
  expect(await left()).not.toContain(stuck.workspaceId);
});

test("a workspace that is not deleted cannot be purged", async () => {
  const before = await settledRows(keeper);
  expect(await purgeWorkspace(deps, keeper.workspaceId)).toBe(false);
  expect(await settledRows(keeper)).toEqual(before);
});

test("the worker purges live workspaces after 30 days, and sandboxes minutes after they ended", async () => {
  const doomed = await api.newWorkspace();
  const [young, old] = [await newSandbox(doomed, 40 * dayMs), await newSandbox(keeper, dayMs)];
  await purgeWorkspaces(deps);
  expect(await left()).toEqual(expect.arrayContaining([doomed.workspaceId, young, old]));
  const ended = await deleteWorkspace(db, { workspaceId: doomed.workspaceId, at: clock.now(), jobCalls });
  expect(new Set(ended)).toEqual(new Set([doomed.workspaceId, young]));
  clock.advance(3 * 60 * 1000);
  await purgeWorkspaces(deps);
  expect(await left()).not.toContain(young);
  expect(await left()).toEqual(expect.arrayContaining([doomed.workspaceId, old]));
  clock.advance(dayMs);
  await purgeWorkspaces(deps);
  expect(await left()).toContain(old);
  clock.advance(3 * 60 * 1000);
  await purgeWorkspaces(deps);
  expect(await left()).not.toContain(old);
  clock.advance(28 * dayMs);
  await purgeWorkspaces(deps);
  expect(await left()).toContain(doomed.workspaceId);
  clock.advance(dayMs);
  await purgeWorkspaces(deps);
  expect(await left()).not.toContain(doomed.workspaceId);
  expect(await left()).toContain(keeper.workspaceId);
});

/** The ids of all workspaces. */
async function left(): Promise<string[]> {
  return (await db.selectFrom("workspaces").select("id").execute()).map(({ id }) => id);
}

test("a revocation is remembered as long as a token could need it", async () => {
  const [live, sandbox] = [await api.newWorkspace(), await newSandbox(keeper, dayMs)];
  for (const workspaceId of [live.workspaceId, sandbox])
    await deleteWorkspace(db, { workspaceId, at: clock.now(), jobCalls });
  const remembered = async () => {
    await forgetRevocations(db, clock.now());
    const { rows } = await sql<{ subject: string }>`select subject from revocations
      where subject in (${live.workspaceId}, ${sandbox}) order by subject`.execute(db);
    return rows.map(({ subject }) => subject);
  };
  expect(await remembered()).toEqual([live.workspaceId, sandbox]);
  clock.advance(dayMs);
  expect(await remembered()).toEqual([live.workspaceId]);
});

test("short links of a purged workspace are nobody's for 90 days, and then anybody's", async () => {
  const doomed = await api.newWorkspace();
  const names = ["early", "claimed", "forgotten"].map((name) => `${name}-${doomed.workspaceId.slice(-12)}`);
  const make = ({ rest }: TestWorkspace) =>
    Promise.all(
      names.map((shortlink) => rest("POST", "/v1/links", { destination: "https://example.com", shortlink })),
    );
  const [early] = (await make(doomed)).map(({ json }) => json.link.id);
  expect((await doomed.rest("DELETE", `/v1/links/${early}`)).status).toBe(200);
  clock.advance(dayMs);
  await remove(doomed);
  expect(await purgeWorkspace(deps, doomed.workspaceId)).toBe(true);
  expect(await tables.naming(doomed.workspaceId)).toEqual(["revocations"]);
  const taken = async () => {
    while ((await deleteOldReservations(db, clock.now())) > 0);
    const rows = db.selectFrom("shortlinks").select("shortlink").where("shortlink", "in", names);
    return (await rows.orderBy("shortlink").execute()).map(({ shortlink }) => shortlink.split("-")[0]);
  };
  clock.advance(89 * dayMs + 1);
  expect(await taken()).toEqual(["claimed", "forgotten"]);
  const other = await api.newWorkspace();
  expect((await make(other)).map(({ status }) => status)).toEqual([200, 409, 409]);
  clock.advance(dayMs);
  const claim = { destination: "https://example.com", shortlink: names[1] };
  expect((await other.rest("POST", "/v1/links", claim)).status).toBe(200);
  expect(await taken()).toEqual(["claimed", "early"]);
  expect((await scan.ask(`/${names[1]}`)).status).toBe(302);
});

async function newSandbox(parent: TestWorkspace, livesMs: number): Promise<string> {
  const sandbox = await api.newWorkspace();
  const expiresAt = new Date(clock.now().getTime() + livesMs);
  await db
    .updateTable("workspaces")
    .set({ environment: "test", parent_workspace_id: parent.workspaceId, expires_at: expiresAt })
    .where("id", "=", sandbox.workspaceId)
    .execute();
  return sandbox.workspaceId;
}
