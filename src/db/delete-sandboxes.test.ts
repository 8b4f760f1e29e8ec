import { expect, test } from "vitest";
import { startApi } from "../../test/support/start-api.ts";
import { startTestScan } from "../../test/support/start-scan.ts";
import { deleteExpiredSandboxes, deleteSandboxesOf } from "./delete-sandboxes.ts";

const dayMs = 24 * 3_600_000;

test("links of a deleted sandbox answer 404 at once, also those in memory, and those of others go on", async () => {
  const api = await startApi();
  const scan = await startTestScan(api.database);
  const [gone, kept] = [await api.newSandbox(), await api.newSandbox()];
  const linkOf = async ({ rest }: typeof gone) => {
    const { json } = await rest("POST", "/v1/links", { destination: "https://example.com/" });
    return `/${json.link.shortlink}`;
  };
  const [ours, theirs, parents] = [
    await linkOf(gone),
    await linkOf(kept),
    await linkOf({ ...gone, ...gone.parent }),
  ];
  const statuses = () =>
    Promise.all([ours, theirs, parents].map(async (path) => (await scan.ask(path)).status));
  expect(await statuses()).toEqual([302, 302, 302]);
  await gone.parent.rest("DELETE", `/v1/sandboxes/${gone.workspaceId}`);
  await expect.poll(statuses).toEqual([404, 302, 302]);
});

test("the sandboxes of a workspace end together; those of other workspaces stay", async () => {
  const api = await startApi();
  const [first, other] = [await api.newSandbox(), await api.newSandbox()];
  const second = await api.newSandbox(first.parent);
  const ended = await deleteSandboxesOf(api.db, first.parent.workspaceId, api.now());
  expect([...ended].sort()).toEqual([first.workspaceId, second.workspaceId].sort());
  for (const { rest } of [first, second])
    await expect.poll(async () => (await rest("GET", "/v1/links")).status).toBe(401);
  expect((await other.rest("GET", "/v1/links")).status).toBe(200);
  expect(await deleteSandboxesOf(api.db, first.parent.workspaceId, api.now())).toEqual([]);
});

test("expired sandboxes are deleted, a batch at a time; others and live workspaces stay", async () => {
  const api = await startApi();
  const parent = await api.newWorkspace();
  const expired = [await api.newSandbox(parent), await api.newSandbox(parent)];
  api.clock.advance(dayMs);
  const young = await api.newSandbox(parent);
  api.clock.advance(29 * dayMs);
  expect(await deleteExpiredSandboxes(api.db, api.now(), 1)).toBe(1);
  expect(await deleteExpiredSandboxes(api.db, api.now(), 10)).toBe(1);
  expect(await deleteExpiredSandboxes(api.db, api.now())).toBe(0);
  const living = await api.db.selectFrom("workspaces").select("id").where("deleted_at", "is", null).execute();
  expect(living.map(({ id }) => id).sort()).toEqual([parent.workspaceId, young.workspaceId].sort());
  expect(expired).toHaveLength(2);
});
