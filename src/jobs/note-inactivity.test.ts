import { expect, test } from "vitest";
import { startApi, type TestWorkspace } from "../../test/support/start-api.ts";
import { startTestScan } from "../../test/support/start-scan.ts";
import { makers } from "../../test/support/tenant-records.ts";
import { noteInactivity } from "./note-inactivity.ts";

const api = await startApi();
const { db, now } = api;
const dayMs = 24 * 60 * 60 * 1000;

/** A workspace that was made so many days ago. */
async function workspaceOf(days: number): Promise<TestWorkspace> {
  const workspace = await api.newWorkspace();
  await db
    .updateTable("workspaces")
    .set({ created_at: daysAgo(days) })
    .where("id", "=", workspace.workspaceId)
    .execute();
  return workspace;
}

function daysAgo(days: number): Date {
  return new Date(now().getTime() - days * dayMs);
}

/** Notes inactivity in small portions, and says whether the workspace is inactive. */
async function isInactive({ workspaceId }: TestWorkspace): Promise<boolean> {
  await noteInactivity({ db, now, batchSize: 2 });
  const { inactive_since } = await db
    .selectFrom("workspaces")
    .select("inactive_since")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return inactive_since !== null;
}

test("a workspace in which nothing ever happened becomes inactive after 90 days", async () => {
  const [old, young, deleted] = [await workspaceOf(91), await workspaceOf(89), await workspaceOf(91)];
  await db
    .updateTable("workspaces")
    .set({ deleted_at: now() })
    .where("id", "=", deleted.workspaceId)
    .execute();
  expect([await isInactive(old), await isInactive(young), await isInactive(deleted)]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([
  [89, false],
  [91, true],
])("the last API call, %i days ago, counts", async (days, expected) => {
  const workspace = await workspaceOf(365);
  await db
    .updateTable("workspace_tokens")
    .set({ last_used_at: daysAgo(days) })
    .where("workspace_id", "=", workspace.workspaceId)
    .execute();
  expect(await isInactive(workspace)).toBe(expected);
});

test.each([
  [89, false],
  [91, true],
])("the last sign-in, %i days ago, counts", async (days, expected) => {
  const workspace = await workspaceOf(365);
  await db
    .updateTable("members")
    .set({ last_signin_at: daysAgo(days) })
    .where("workspace_id", "=", workspace.workspaceId)
    .execute();
  expect(await isInactive(workspace)).toBe(expected);
});

test("a visit of the last 90 days counts", async () => {
  const workspace = await workspaceOf(365);
  await makers.event(api, workspace);
  await db
    .updateTable("workspace_tokens")
    .set({ last_used_at: null })
    .where("workspace_id", "=", workspace.workspaceId)
    .execute();
  expect(await isInactive(workspace)).toBe(false);
});

test("an inactive workspace says since when, keeps that time, and is active again with the next visit", async () => {
  const workspace = await workspaceOf(91);
  expect(await isInactive(workspace)).toBe(true);
  const since = async () => (await workspace.rest("GET", "/v1/workspace")).json.inactiveSince;
  const first = await since();
  expect(first).toEqual(expect.any(String));
  expect(await isInactive(workspace)).toBe(true);
  expect(await since()).toBe(first);
  const { json } = await workspace.rest("POST", "/v1/links", { destination: "https://example.com" });
  const scan = await startTestScan(api.database);
  await scan.ask(`/${json.link.shortlink}`);
  await scan.drained();
  expect(await since()).toBeUndefined();
});
