import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { masterSecret, startApi, type TestWorkspace } from "../../test/support/start-api.ts";
import { makers } from "../../test/support/tenant-records.ts";
import { operate } from "./operator-commands.ts";

const api = await startApi();
const directory = await mkdtemp(join(tmpdir(), "signpost-operator-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

let workspace: TestWorkspace;
beforeAll(async () => {
  workspace = await api.newWorkspace();
});

/** Runs `workspace <deed>` as the operator of the service. */
function administer(deed: string, id = workspace.workspaceId): Promise<string> {
  const { host, port, user, database, password } = api.database.connection;
  const auth = password === undefined ? user : `${user}:${password}`;
  const env = {
    DATABASE_URL: `postgres://${auth}@${encodeURIComponent(host ?? "")}:${port}/${database}`,
    DATA_DIR: directory,
    SECRET: `${masterSecret}, which is long enough`,
  };
  return operate(`workspace ${deed}`, deed === "waiting" ? [] : ["--workspace", id], env);
}

test("an operator sees who wants to become public, and makes workspaces public and private", async () => {
  await expect(administer("publish")).rejects.toThrow("a slug; give the workspace a description");
  await makers.workspace(api, workspace);
  expect(await administer("waiting")).toBe("no workspace waits");
  await workspace.rest("POST", "/v1/workspace/request-enrollment", { message: "We are open" });
  expect(JSON.parse(await administer("waiting"))).toMatchObject({
    id: workspace.workspaceId,
    enroll_message: "We are open",
  });
  const view = `/v1/public/workspaces/w-${workspace.workspaceId}`;
  await administer("publish");
  expect((await api.rest()("GET", view)).status).toBe(200);
  expect(await administer("waiting")).toBe("no workspace waits");
  await administer("unpublish");
  expect((await api.rest()("GET", view)).status).toBe(404);
  const { json } = await workspace.rest("GET", "/v1/workspace");
  expect(json.enrollRequestedAt).toBeUndefined();
});

test("an operator deletes and restores workspaces, and learns when there is nothing to do", async () => {
  const { workspaceId, rest } = await api.newWorkspace();
  const status = async () => (await rest("GET", "/v1/workspace")).status;
  const until = async (wanted: number) => {
    while ((await status()) !== wanted);
  };
  await expect(administer("restore", workspaceId)).rejects.toThrow("there is no restorable workspace");
  expect(await administer("delete", workspaceId)).toContain("30 days");
  await until(401);
  await expect(administer("delete", workspaceId)).rejects.toThrow("there is no living workspace");
  await expect(administer("publish", workspaceId)).rejects.toThrow("there is no living live workspace");
  expect(await administer("restore", workspaceId)).toBe(`workspace ${workspaceId} is restored`);
  await until(200);
});

test.each(["publish", "unpublish", "delete", "restore"])("%s needs the id of a workspace", async (deed) => {
  await expect(administer(deed, "ada-coffee")).rejects.toThrow('"ada-coffee" is no workspace id');
  await expect(administer(deed, "")).rejects.toThrow("--workspace is missing");
});
