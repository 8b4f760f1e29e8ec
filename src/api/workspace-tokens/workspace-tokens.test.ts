import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { WorkspaceTokenKeyType } from "../../../gen/signpost/v1/workspace_token_pb.js";
import { WorkspaceTokensService } from "../../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { startApi } from "../../../test/support/start-api.ts";
import { newId } from "../../lib/ids.ts";
import { everyScope } from "../../model/scope.ts";

const api = await startApi();

test("a created token works at once, and its secret is in that answer only", async () => {
  const { rest, workspaceId } = await api.newWorkspace();
  const created = await rest("POST", "/v1/workspace-tokens", { keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET" });
  expect(created.status).toBe(200);
  const { accessToken, token } = created.json;
  expect(token).toMatchObject({
    workspaceId,
    name: "API token",
    keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET",
    createdBy: "",
  });
  expect(token.lastUsedAt).toBeUndefined();
  const read = await api.rest(accessToken)("GET", `/v1/workspace-tokens/${token.id}`);
  expect(read).toMatchObject({ status: 200, json: { token: { id: token.id } } });
  expect(read.text).not.toContain(accessToken);
});

test("only the hash of a token is kept", async () => {
  const { tokenId, token } = await api.newWorkspace();
  const row = await api.db
    .selectFrom("workspace_tokens")
    .selectAll()
    .where("id", "=", tokenId)
    .executeTakeFirstOrThrow();
  expect(row.token_hash).toEqual(createHash("sha256").update(token).digest());
  expect(JSON.stringify(row)).not.toContain(token);
});

test("the unspecified key type is refused by name", async () => {
  const { rest } = await api.newWorkspace();
  for (const body of [{}, { keyType: "WORKSPACE_TOKEN_KEY_TYPE_UNSPECIFIED" }]) {
    const { status, json } = await rest("POST", "/v1/workspace-tokens", body);
    expect(status).toBe(400);
    expect(json.error.details[1].fieldViolations[0].field).toBe("keyType");
  }
});

test("the list shows active tokens only, newest first, page by page, with their number", async () => {
  const { client, tokenId } = await api.newWorkspace();
  const tokens = client(WorkspaceTokensService);
  const ids = [tokenId];
  for (let count = 0; count < 5; count++) {
    const { token } = await tokens.create({
      keyType: WorkspaceTokenKeyType.PUBLISHABLE,
      name: `key ${count}`,
    });
    ids.unshift(token?.id ?? "");
  }
  const [revoked = ""] = ids.splice(2, 1);
  await tokens.delete({ id: revoked });
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await tokens.list({ pageSize: 2n, pageToken });
    expect(page.totalCount).toBe(5n);
    seen.push(...page.tokens.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seen).toEqual(ids);
});

test("a token can be renamed, its key type stays, and the same name changes nothing", async () => {
  const { rest, tokenId } = await api.newWorkspace();
  const path = `/v1/workspace-tokens/${tokenId}`;
  const before = (await rest("GET", path)).json.token;
  const renamed = await rest("PATCH", path, {
    name: " CI ",
    keyType: "WORKSPACE_TOKEN_KEY_TYPE_PUBLISHABLE",
  });
  expect(renamed.json.token).toMatchObject({ name: "CI", keyType: before.keyType });
  expect(Date.parse(renamed.json.token.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
  for (const body of [{ name: "CI" }, {}, { name: null }])
    expect((await rest("PATCH", path, body)).json).toEqual(renamed.json);
  expect((await rest("PATCH", path, { name: "" })).status).toBe(400);
  expect((await rest("PATCH", path, { name: "x".repeat(101) })).status).toBe(400);
});

test("a mask that names what cannot change is refused", async () => {
  const { client, tokenId } = await api.newWorkspace();
  const update = client(WorkspaceTokensService).update({ id: tokenId, updateMask: { paths: ["key_type"] } });
  await expect(update).rejects.toThrow("names key_type, which no update changes");
});

test("a token may delete itself, and nobody gets in with it afterwards", async () => {
  const { rest, tokenId } = await api.newWorkspace();
  expect(await rest("DELETE", `/v1/workspace-tokens/${tokenId}`)).toMatchObject({ status: 200, json: {} });
  const refused = await rest("GET", "/v1/workspace-tokens");
  expect(refused).toMatchObject({ status: 401, json: { error: { codeType: "UNAUTHENTICATED" } } });
});

test("a deleted token is not there, for reading, renaming and deleting alike", async () => {
  const { rest } = await api.newWorkspace();
  const { json } = await rest("POST", "/v1/workspace-tokens", { keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET" });
  const path = `/v1/workspace-tokens/${json.token.id}`;
  await rest("DELETE", path);
  for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["DELETE"]] as const)
    expect((await rest(method, path, body)).status).toBe(404);
});

test("lastUsedAt moves at most once a minute", async () => {
  const { rest, tokenId } = await api.newWorkspace();
  const lastUsedAt = async () => {
    const { json } = await rest("GET", `/v1/workspace-tokens/${tokenId}`);
    await api.flush();
    return json.token.lastUsedAt;
  };
  expect(await lastUsedAt()).toBeUndefined();
  const first = await lastUsedAt();
  expect(first).toBeDefined();
  api.clock.advance(50_000);
  await lastUsedAt();
  expect(await lastUsedAt()).toBe(first);
  api.clock.advance(15_000);
  await lastUsedAt();
  const second = await lastUsedAt();
  expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
});

test("a workspace has at most 1,000 tokens, and makes no more than that in a day, revoked ones among them", async () => {
  const { rest, workspaceId, tokenId } = await api.newWorkspace();
  const order = { keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET" };
  const at = api.now();
  const values = Array.from({ length: 999 }, () => ({
    ...{ workspace_id: workspaceId, id: newId(at), name: "One of many", key_type: "SECRET" as const },
    ...{ token_hash: Buffer.alloc(32), scope: everyScope, created_by: null, created_at: at, updated_at: at },
  }));
  await api.db.insertInto("workspace_tokens").values(values).execute();
  const refused = async () => {
    const { status, headers, json } = await rest("POST", "/v1/workspace-tokens", order);
    return [status, json.error?.codeType, headers["retry-after"]];
  };
  expect(await refused()).toEqual([429, "LIMIT_REACHED", undefined]);
  const others = api.db.updateTable("workspace_tokens").where("id", "<>", tokenId);
  await others.set({ revoked_at: at }).where("workspace_id", "=", workspaceId).execute();
  expect(await refused()).toEqual([429, "LIMIT_REACHED", "3600"]);
  api.clock.advance(24 * 3_600_000);
  expect((await rest("POST", "/v1/workspace-tokens", order)).status).toBe(200);
  expect((await (await api.newWorkspace()).rest("POST", "/v1/workspace-tokens", order)).status).toBe(200);
});
