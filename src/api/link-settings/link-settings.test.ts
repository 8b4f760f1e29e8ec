import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { DataCollection } from "../../../gen/signpost/v1/link_setting_pb.js";
import { LinkSettingsService } from "../../../gen/signpost/v1/link_settings_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";

const api = await startApi();

let workspace: TestWorkspace;
let id: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  id = await settingOf(workspace);
});

async function settingOf({ workspaceId }: TestWorkspace): Promise<string> {
  const row = await api.db
    .selectFrom("workspaces")
    .select("link_setting_id")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return row.link_setting_id;
}

async function put(body: object, to = id) {
  return workspace.rest("PUT", `/v1/settings/link-setting/${to}`, body);
}

async function read() {
  return (await workspace.rest("GET", `/v1/settings/link-setting/${id}`)).json.linkSetting;
}

test("a workspace begins with level BASIC", async () => {
  const setting = await read();
  expect(setting).toEqual({
    id,
    dataCollection: "DATA_COLLECTION_BASIC",
    createdAt: expect.any(String),
    updatedAt: setting.createdAt,
  });
});

test("the level is replaced, and the same level again changes nothing", async () => {
  const before = await read();
  const { status, json } = await put({ dataCollection: "DATA_COLLECTION_NONE" });
  expect(status).toBe(200);
  expect(json.linkSetting).toEqual({
    ...before,
    dataCollection: "DATA_COLLECTION_NONE",
    updatedAt: json.linkSetting.updatedAt,
  });
  expect(Date.parse(json.linkSetting.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
  expect((await put({ dataCollection: "DATA_COLLECTION_NONE" })).json).toEqual(json);
  expect(await read()).toEqual(json.linkSetting);
});

test("gRPC reads and changes the same setting", async () => {
  const client = workspace.client(LinkSettingsService);
  const changed = await client.updateLinkSetting({ id, dataCollection: DataCollection.ADVANCED });
  expect(changed.linkSetting?.dataCollection).toBe(DataCollection.ADVANCED);
  expect((await client.getLinkSetting({ id })).linkSetting).toEqual(changed.linkSetting);
});

test.each([{}, { dataCollection: "DATA_COLLECTION_UNSPECIFIED" }, { dataCollection: 9 }])(
  "%j is refused",
  async (body) => {
    const { status, json } = await put(body);
    expect([status, json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(json.error.message).toContain("dataCollection");
  },
);

test("any id but the workspace's own is unknown, and nothing is changed", async () => {
  const theirs = await settingOf(await api.newWorkspace());
  for (const other of [theirs, randomUUID(), workspace.workspaceId]) {
    expect((await workspace.rest("GET", `/v1/settings/link-setting/${other}`)).status).toBe(404);
    expect((await put({ dataCollection: "DATA_COLLECTION_NONE" }, other)).status).toBe(404);
  }
  const { data_collection } = await api.db
    .selectFrom("link_settings")
    .select("data_collection")
    .where("id", "=", theirs)
    .executeTakeFirstOrThrow();
  expect(data_collection).toBe("BASIC");
});

test("a change counts for the next visit of a running process", async () => {
  const scan = await startTestScan(api.database);
  const { link } = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json;
  const cookieOf = async () => (await scan.ask(`/${link.shortlink}`)).headers["set-cookie"];
  expect(await cookieOf()).toContain("svc_did=");
  await put({ dataCollection: "DATA_COLLECTION_NONE" });
  await vi.waitFor(async () => expect(await cookieOf()).toBeUndefined(), { timeout: 20_000, interval: 20 });
});
