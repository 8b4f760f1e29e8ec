import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { SandboxesService } from "../../../gen/signpost/v1/sandboxes_service_pb.js";
import { WorkspacesService } from "../../../gen/signpost/v1/workspaces_service_pb.js";
import { startApi, type TestSandbox, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";

const api = await startApi();
const dayMs = 24 * 3_600_000;

function sandboxesIn(parentId: string) {
  return api.db.selectFrom("workspaces").selectAll().where("parent_workspace_id", "=", parentId).execute();
}

async function create({ rest }: TestWorkspace, body: object = {}) {
  const { status, json } = await rest("POST", "/v1/sandboxes", body);
  expect(status).toBe(200);
  return json as {
    readonly sandbox: { id: string; name: string; createdAt: string; expiresAt: string };
    readonly accessToken: string;
    readonly token: { id: string; workspaceId: string; scopes: string[]; fullAccess: boolean };
  };
}

describe("a new sandbox", () => {
  test("is a workspace of its own, with a token that works at once and is shown once", async () => {
    const parent = await api.newWorkspace();
    const { sandbox, accessToken, token } = await create(parent, { name: " Menus " });
    expect(sandbox.name).toBe("Menus");
    expect(Date.parse(sandbox.expiresAt) - Date.parse(sandbox.createdAt)).toBe(30 * dayMs);
    expect(accessToken).toMatch(/^svc_test_/);
    expect(token).toMatchObject({ workspaceId: sandbox.id, createdBy: "", fullAccess: true });
    const inSandbox = api.rest(accessToken);
    const listed = await inSandbox("GET", "/v1/workspace-tokens");
    expect(listed.json.tokens).toMatchObject([{ id: token.id }]);
    expect(listed.text + (await parent.rest("GET", "/v1/sandboxes")).text).not.toContain(accessToken);
    const setting = await api.db
      .selectFrom("workspaces")
      .innerJoin("link_settings", "link_settings.id", "workspaces.link_setting_id")
      .select(["environment", "data_collection", "link_settings.workspace_id"])
      .where("workspaces.id", "=", sandbox.id)
      .executeTakeFirst();
    expect(setting).toEqual({ environment: "test", data_collection: "BASIC", workspace_id: sandbox.id });
  });

  test("is named after its time when nobody names it, over gRPC too", async () => {
    const parent = await api.newWorkspace();
    const { sandbox } = await parent.client(SandboxesService).create({});
    expect(sandbox?.name).toMatch(/^Sandbox \d{4}-\d{2}-\d{2} \d{2}:\d{2}$/);
  });

  test("gives its token the scopes of its maker and no others", async () => {
    const parent = await api.newWorkspace();
    const maker = await api.scopedToken(parent.workspaceId, ["tokens:write", "links:write", "media:read"]);
    const { json } = await api.rest(maker)("POST", "/v1/sandboxes", {});
    expect(json.token.fullAccess).toBe(false);
    expect(json.token.scopes).toEqual([
      "API_SCOPE_LINKS_READ",
      "API_SCOPE_LINKS_WRITE",
      "API_SCOPE_MEDIA_READ",
      "API_SCOPE_TOKENS_READ",
      "API_SCOPE_TOKENS_WRITE",
    ]);
    expect((await api.rest(json.accessToken)("GET", "/v1/links")).status).toBe(200);
    expect((await api.rest(json.accessToken)("GET", "/v1/visitors")).status).toBe(403);
  });

  test("is made once for an idempotency key, whose replay still has the secret, which nobody can read in the database", async () => {
    const parent = await api.newWorkspace();
    const key = { "idempotency-key": "once" };
    const first = await parent.rest("POST", "/v1/sandboxes", {}, key);
    const again = await parent.rest("POST", "/v1/sandboxes", {}, key);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.json).toEqual(first.json);
    expect(await sandboxesIn(parent.workspaceId)).toHaveLength(1);
    const kept = await api.db
      .selectFrom("idempotency_keys")
      .select("outcome")
      .where("key", "=", "once")
      .executeTakeFirstOrThrow();
    const secret = Buffer.from(first.json.accessToken).toString("base64").slice(0, 40);
    expect(kept.outcome.toString("latin1")).not.toContain(secret);
  });
});

describe("the number of sandboxes", () => {
  test("is exactly three, however many calls race for them; deleting one frees its place at once", async () => {
    const parent = await api.newWorkspace();
    const race = async (calls: number) => {
      const replies = await Promise.all(
        Array.from({ length: calls }, () => parent.rest("POST", "/v1/sandboxes", {})),
      );
      return replies.map(({ status, json }) => (status === 200 ? "made" : json.error.codeType)).sort();
    };
    const refusals = (count: number) => Array.from({ length: count }, () => "SANDBOX_LIMIT_REACHED");
    expect(await race(20)).toEqual([...refusals(17), "made", "made", "made"]);
    const { sandboxes } = (await parent.rest("GET", "/v1/sandboxes")).json;
    expect((await parent.rest("DELETE", `/v1/sandboxes/${sandboxes[0].id}`)).status).toBe(200);
    expect(await race(8)).toEqual([...refusals(7), "made"]);
    const refused = await parent.rest("POST", "/v1/sandboxes", {});
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, undefined]);
  });

  test("is bounded for a day, deleted ones among them", async () => {
    const parent = await api.newWorkspace();
    await create(parent);
    const own = api.db.updateTable("workspaces").where("id", "=", parent.workspaceId);
    await own.set({ sandboxes_made: 1_000 }).execute();
    const refused = async () => {
      const { status, headers, json } = await parent.rest("POST", "/v1/sandboxes", {});
      return [status, json.error?.codeType, headers["retry-after"]];
    };
    expect(await refused()).toEqual([429, "LIMIT_REACHED", "3600"]);
    expect(await refused()).toEqual([429, "LIMIT_REACHED", "3600"]);
    await own.set({ sandboxes_made_on: "2020-01-01" }).execute();
    await create(parent);
  });

  test("is the parent's own: another workspace still has room", async () => {
    const [full, other] = [await api.newWorkspace(), await api.newWorkspace()];
    for (let made = 0; made < 3; made++) await create(full);
    await create(other);
  });
});

test("the list has the living sandboxes, newest first, with their number", async () => {
  const parent = await api.newWorkspace();
  const ids: string[] = [];
  for (const name of ["first", "second", "third"]) ids.unshift((await create(parent, { name })).sandbox.id);
  await parent.rest("DELETE", `/v1/sandboxes/${ids[1]}`);
  const { sandboxes, totalCount } = await parent.client(SandboxesService).list({});
  expect([sandboxes.map(({ id }) => id), totalCount]).toEqual([[ids[0], ids[2]], 2n]);
});

describe("a deleted sandbox", () => {
  test("refuses all of its tokens at once and is gone for its workspace", async () => {
    const parent = await api.newWorkspace();
    const { sandbox, accessToken } = await create(parent);
    const inSandbox = api.rest(accessToken);
    const further = await inSandbox("POST", "/v1/workspace-tokens", {
      keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET",
    });
    expect((await parent.rest("DELETE", `/v1/sandboxes/${sandbox.id}`)).json).toEqual({});
    for (const token of [accessToken, further.json.accessToken])
      expect((await api.rest(token)("GET", "/v1/links")).status).toBe(401);
    expect((await parent.rest("DELETE", `/v1/sandboxes/${sandbox.id}`)).status).toBe(404);
    expect((await parent.rest("GET", "/v1/links")).status).toBe(200);
  });

  test("counts as deleted in every process", async () => {
    const parent = await api.newWorkspace();
    const { sandbox, accessToken } = await create(parent);
    const other = await startApi({ database: api.database, clock: api.clock });
    expect((await other.rest(accessToken)("GET", "/v1/links")).status).toBe(200);
    await parent.rest("DELETE", `/v1/sandboxes/${sandbox.id}`);
    await expect.poll(async () => (await other.rest(accessToken)("GET", "/v1/links")).status).toBe(401);
  });
});

test("every token of a sandbox ends with the sandbox, and its place is free from then on", async () => {
  const [clock, late] = [api.clock, await api.newWorkspace()];
  const { accessToken } = await create(late);
  const { json } = await api.rest(accessToken)("POST", "/v1/workspace-tokens", {
    keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET",
  });
  await create(late);
  await create(late);
  clock.advance(30 * dayMs);
  for (const token of [accessToken, json.accessToken])
    expect((await api.rest(token)("GET", "/v1/links")).status).toBe(401);
  expect((await late.rest("GET", "/v1/sandboxes")).json).toEqual({ sandboxes: [], totalCount: "0" });
  await create(late);
});

test("links of a deleted sandbox answer 404 at once, also those in memory, and those of others go on", async () => {
  const scan = await startTestScan(api.database);
  const [gone, kept] = [await api.newSandbox(), await api.newSandbox()];
  const linkOf = async ({ rest }: Pick<TestSandbox, "rest">) => {
    const { json } = await rest("POST", "/v1/links", { destination: "https://example.com/" });
    return `/${json.link.shortlink}`;
  };
  const paths = [await linkOf(gone), await linkOf(kept), await linkOf(gone.parent)];
  const statuses = () => Promise.all(paths.map(async (path) => (await scan.ask(path)).status));
  expect(await statuses()).toEqual([302, 302, 302]);
  await gone.parent.rest("DELETE", `/v1/sandboxes/${gone.workspaceId}`);
  await expect.poll(statuses).toEqual([404, 302, 302]);
});

describe("refusals, which write nothing", () => {
  const faults: readonly [string, string, string, unknown, number, string][] = [
    ["a name of 81 characters", "POST", "/v1/sandboxes", { name: "x".repeat(81) }, 400, "name"],
    ["a name with a control character", "POST", "/v1/sandboxes", { name: "a\u0007b" }, 400, "name"],
    ["a name that is no text", "POST", "/v1/sandboxes", { name: 7 }, 400, "name"],
    ["a body that is no object", "POST", "/v1/sandboxes", [], 400, ""],
    ["an id that is no UUID", "DELETE", "/v1/sandboxes/mine", undefined, 400, "id"],
    ["an unknown id", "DELETE", "/v1/sandboxes/01890000-0000-7000-8000-000000000000", undefined, 404, "id"],
  ];
  test.each(faults)("%s", async (_, method, path, body, status, field) => {
    const parent = await api.newWorkspace();
    const { sandbox } = await create(parent);
    const reply = await parent.rest(method, path, body);
    expect([reply.status, reply.json.error.message]).toEqual([status, expect.stringContaining(field)]);
    expect(await sandboxesIn(parent.workspaceId)).toMatchObject([{ id: sandbox.id, deleted_at: null }]);
  });

  test("the workspace itself, and another one's sandbox, are no sandboxes of the caller", async () => {
    const [parent, other] = [await api.newWorkspace(), await api.newWorkspace()];
    const { sandbox } = await create(other);
    for (const id of [parent.workspaceId, other.workspaceId, sandbox.id]) {
      const refused = parent.client(SandboxesService).delete({ id });
      await expect(refused).rejects.toMatchObject({ code: Code.NotFound });
    }
    expect((await other.rest("GET", "/v1/sandboxes")).json.totalCount).toBe("1");
  });

  test("a sandbox's credential, for all three operations, over REST and gRPC", async () => {
    const parent = await api.newWorkspace();
    const { sandbox, accessToken } = await create(parent);
    const inSandbox = api.rest(accessToken);
    for (const [method, path] of [
      ["POST", "/v1/sandboxes"],
      ["GET", "/v1/sandboxes"],
      ["DELETE", `/v1/sandboxes/${sandbox.id}`],
    ] as const) {
      const { status, json } = await inSandbox(method, path);
      expect([status, json.error.codeType]).toEqual([403, "LIVE_CREDENTIAL_REQUIRED"]);
    }
    const create403 = api.client(SandboxesService, accessToken).create({});
    await expect(create403).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(await sandboxesIn(sandbox.id)).toEqual([]);
  });

  test("a token without the scope of tokens", async () => {
    const { workspaceId } = await api.newWorkspace();
    const reader = api.rest(await api.scopedToken(workspaceId, ["tokens:read", "links:write"]));
    expect((await reader("GET", "/v1/sandboxes")).status).toBe(200);
    expect((await reader("POST", "/v1/sandboxes", {})).json.error.codeType).toBe("INSUFFICIENT_SCOPE");
    expect(await sandboxesIn(workspaceId)).toEqual([]);
  });
});

describe("in a sandbox", () => {
  test("nothing of its workspace is there, and nothing of it is there for its workspace", async () => {
    const parent = await api.newWorkspace();
    const destination = "https://example.com";
    const theirs = (await parent.rest("POST", "/v1/links", { destination })).json.link.id;
    const { accessToken } = await create(parent);
    const inSandbox = api.rest(accessToken);
    const ours = (await inSandbox("POST", "/v1/links", { destination })).json.link.id;
    expect((await inSandbox("GET", "/v1/links")).json.links).toMatchObject([{ id: ours }]);
    expect((await parent.rest("GET", "/v1/links")).json.links).toMatchObject([{ id: theirs }]);
    for (const [rest, id] of [
      [inSandbox, theirs],
      [parent.rest, ours],
    ] as const)
      expect((await rest("GET", `/v1/links/${id}`)).status).toBe(404);
  });

  test("every answer says that it is of a sandbox, refusals too, over every protocol", async () => {
    const parent = await api.newWorkspace();
    const { accessToken } = await create(parent);
    const inSandbox = api.rest(accessToken);
    const marks = { "x-service-sandbox": "true", "x-robots-tag": "noindex" };
    const replies = [
      await inSandbox("GET", "/v1/links"),
      await inSandbox("GET", "/v1/links?pageSize=-1"),
      await inSandbox("GET", "/v1/sandboxes"),
      await inSandbox("GET", "/v1/links/01890000-0000-7000-8000-000000000000"),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 403, 404]);
    for (const { headers } of replies) expect(headers).toMatchObject(marks);
    expect((await parent.rest("GET", "/v1/links")).headers).not.toHaveProperty("x-service-sandbox");
    for (const protocol of ["grpc", "grpc-web", "connect"] as const) {
      const transport = api.transport(accessToken, protocol);
      const { getMyWorkspace } = WorkspacesService.method;
      const answered = await transport.unary(getMyWorkspace, undefined, undefined, undefined, {}).then(
        ({ header }) => header,
        (error) => error.metadata as Headers,
      );
      expect(answered.get("x-service-sandbox")).toBe("true");
    }
  });

  const missing: readonly [string, string][] = [
    ["POST", "/v1/custom-domains"],
    ["POST", "/v1/members/invite"],
    ["POST", "/v1/qrcode-templates/01890000-0000-7000-8000-000000000000/publish"],
    ["POST", "/v1/page-theme-templates/01890000-0000-7000-8000-000000000000/publish"],
    ["POST", "/v1/workspace/request-enrollment"],
    ["DELETE", "/v1/members/01890000-0000-7000-8000-000000000000"],
  ];
  test.each(missing)("%s %s is not available", async (method, path) => {
    const { accessToken } = await create(await api.newWorkspace());
    const { status, json } = await api.rest(accessToken)(method, path);
    expect([status, json.error.codeType]).toEqual([403, "NOT_AVAILABLE_IN_SANDBOX"]);
  });
});
