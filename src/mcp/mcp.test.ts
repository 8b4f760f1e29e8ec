import { beforeAll, describe, expect, test } from "vitest";
import { granted } from "../../test/support/grants.ts";
import { type McpClient, mcpClient, statelessMeta, statelessVersion } from "../../test/support/mcp.ts";
import { onePixel } from "../../test/support/one-pixel.ts";
import { type Reply, startApi, type TestWorkspace } from "../../test/support/start-api.ts";
import { apiScopes } from "../rpc/access.ts";

const api = await startApi();
let workspace: TestWorkspace;
let mcp: McpClient;

beforeAll(async () => {
  workspace = await api.newWorkspace();
  mcp = await clientWith(workspace, [...apiScopes]);
});

async function clientWith({ workspaceId, memberId }: TestWorkspace, scopes: readonly string[]) {
  const { accessToken } = await granted(api, { workspaceId, memberId, scopes, resource: "MCP" });
  return mcpClient(api, accessToken);
}

/** All tools that a client is shown, page by page. */
async function toolsOf(client: McpClient) {
  const tools = [];
  for (let params = {}; ; ) {
    const { json } = await client.ask("tools/list", params);
    tools.push(...json.result.tools);
    if (json.result.nextCursor === undefined) return tools;
    params = { cursor: json.result.nextCursor };
  }
}

function codeOf({ status, json }: Reply): [number, number] {
  return [status, json.error.code];
}

describe("the door", () => {
  test("refuses everybody without an access token for the tools, and says where to get one", async () => {
    const { accessToken } = await granted(api, {
      workspaceId: workspace.workspaceId,
      memberId: workspace.memberId,
      scopes: [...apiScopes],
      resource: "API",
    });
    for (const token of [undefined, workspace.token, accessToken, "x.y.z"]) {
      const { status, headers, json } = await mcpClient(api, token).ask("tools/list");
      expect([status, json.error.data.codeType]).toEqual([401, "UNAUTHENTICATED"]);
      expect(headers["www-authenticate"]).toContain(
        'Bearer resource_metadata="http://api.test/.well-known/oauth-protected-resource/mcp"',
      );
    }
  });

  test("answers POST alone, and reads no body of a stranger", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const { status, headers } = await api.rest()(method, "/mcp");
      expect([status, headers.allow]).toEqual([405, "POST, OPTIONS"]);
    }
    expect((await mcpClient(api).post("no JSON")).status).toBe(401);
  });

  test("lets pages over https and of the own machine read answers, and no page over http", async () => {
    for (const origin of ["https://inspector.example", "http://localhost:6274", "http://127.0.0.1:1"]) {
      const { status, headers } = await mcp.ask("ping", {}, { origin });
      expect([status, headers["access-control-allow-origin"]]).toEqual([200, "*"]);
    }
    for (const origin of ["http://evil.example", "http://localhost.evil.example", "null", "file://"])
      expect((await mcp.ask("ping", {}, { origin })).status).toBe(403);
    const preflight = await api.rest()("OPTIONS", "/mcp", undefined, {
      origin: "https://inspector.example",
      "access-control-request-method": "POST",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-headers"]).toMatch(/Authorization.*MCP-Protocol-Version/);
  });

  test("takes JSON alone", async () => {
    expect((await mcp.post("{}", { "content-type": "text/plain" })).status).toBe(415);
    expect(codeOf(await mcp.post("{"))).toEqual([400, -32_700]);
    expect(codeOf(await mcp.post(Buffer.from([0xff])))).toEqual([400, -32_700]);
  });
});

describe("revision 2025-11-25", () => {
  test("begins with initialize, whatever version the client hopes for, and keeps nothing of it", async () => {
    for (const protocolVersion of ["2025-11-25", "2024-11-05", "x"]) {
      const clientInfo = { name: "a test", version: "1" };
      const { status, json, headers } = await mcp.ask("initialize", {
        protocolVersion,
        capabilities: {},
        clientInfo,
      });
      expect(status).toBe(200);
      expect(json.result).toMatchObject({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "signpost" },
      });
      expect(headers).not.toHaveProperty("mcp-session-id");
    }
    expect((await mcp.ask("ping")).json.result).toEqual({});
  });

  test("answers every notification with 204 and no body", async () => {
    for (const method of ["notifications/initialized", "notifications/cancelled", "notifications/none"]) {
      const { status, text } = await mcp.post({ jsonrpc: "2.0", method });
      expect([status, text]).toEqual([204, ""]);
    }
  });

  test("refuses what is no message, and methods that do not exist", async () => {
    const ask = { jsonrpc: "2.0", id: 1, method: "ping" };
    const bodies: unknown[] = [
      [],
      [ask],
      "text",
      null,
      1,
      { ...ask, jsonrpc: "1.0" },
      { ...ask, id: null },
      { ...ask, id: 1.5 },
      { ...ask, id: "x".repeat(1_000) },
      { ...ask, method: 1 },
      { jsonrpc: "2.0", id: 1, result: {} },
    ];
    for (const body of bodies) expect(codeOf(await mcp.post(JSON.stringify(body)))).toEqual([400, -32_600]);
    for (const method of ["resources/subscribe", "server/discover", "__proto__", "constructor"])
      expect(codeOf(await mcp.ask(method))).toEqual([200, -32_601]);
    expect(codeOf(await mcp.post({ ...ask, params: [] }))).toEqual([400, -32_602]);
  });

  test("refuses a version that it does not know", async () => {
    const refused = await mcp.ask("ping", {}, { "mcp-protocol-version": "2999-01-01" });
    expect(codeOf(refused)).toEqual([400, -32_022]);
    expect(refused.json.error.data).toEqual({
      supported: ["2025-11-25", "2026-07-28"],
      requested: "2999-01-01",
    });
    expect((await mcp.ask("ping", {}, { "mcp-protocol-version": "2025-11-25" })).status).toBe(200);
  });
});

describe("revision 2026-07-28", () => {
  test("needs no handshake, and says of every result what it is and how long it keeps", async () => {
    const discovered = (await mcp.askStateless("server/discover")).json.result;
    expect(discovered).toMatchObject({
      resultType: "complete",
      ttlMs: 3_600_000,
      cacheScope: "public",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "signpost" } },
    });
    const listed = (await mcp.askStateless("tools/list")).json.result;
    expect(listed).toMatchObject({ resultType: "complete", ttlMs: 300_000, cacheScope: "private" });
    const called = await mcp.askStateless("tools/call", { name: "tags_list", arguments: {} });
    expect(called.json.result).toMatchObject({ resultType: "complete", structuredContent: { tags: [] } });
  });

  test("does not know the methods of the handshake", async () => {
    for (const method of ["initialize", "ping", "logging/setLevel", "no/method"])
      expect(codeOf(await mcp.askStateless(method))).toEqual([404, -32_601]);
  });

  test("refuses headers that are missing or disagree with the body", async () => {
    const list = (headers: Record<string, string>) => mcp.askStateless("tools/list", {}, headers);
    expect(codeOf(await list({ "mcp-protocol-version": "2025-11-25" }))).toEqual([400, -32_020]);
    expect(codeOf(await list({ "mcp-method": "tools/call" }))).toEqual([400, -32_020]);
    expect(codeOf(await list({ "mcp-method": "TOOLS/LIST" }))).toEqual([400, -32_020]);
    const call = (name: string) =>
      mcp.askStateless("tools/call", { name: "tags_list", arguments: {} }, { "mcp-name": name });
    expect(codeOf(await call("links_list"))).toEqual([400, -32_020]);
    expect(codeOf(await call("=?base64?dGFnc19saXN0?"))).toEqual([400, -32_020]);
    expect((await call(" tags_list ")).status).toBe(200);
    expect((await call("=?base64?dGFnc19saXN0?=")).status).toBe(200);
    const bare = { jsonrpc: "2.0", id: 7, method: "tools/list", params: { _meta: statelessMeta } };
    const refused = await mcp.post(bare);
    expect(codeOf(refused)).toEqual([400, -32_020]);
    expect(refused.json.id).toBe(7);
  });

  test("refuses a version that it does not know, and names those that it does", async () => {
    const version = "v999.0.0";
    const params = { _meta: { ...statelessMeta, "io.modelcontextprotocol/protocolVersion": version } };
    const headers = { "mcp-protocol-version": version, "mcp-method": "tools/list" };
    const refused = await mcp.ask("tools/list", params, headers);
    expect(codeOf(refused)).toEqual([400, -32_022]);
    expect(refused.json.error.data).toEqual({ supported: ["2026-07-28"], requested: version });
  });

  test("refuses a request that does not say all about itself", async () => {
    const headers = { "mcp-protocol-version": statelessVersion, "mcp-method": "tools/list" };
    const { "io.modelcontextprotocol/clientCapabilities": _, ...incomplete } = statelessMeta;
    for (const params of [{}, { _meta: {} }, { _meta: incomplete }, { _meta: 1 }])
      expect(codeOf(await mcp.ask("tools/list", params, headers))).toEqual([400, -32_602]);
  });
});

describe("tools/list", () => {
  test("shows each tool once, with all that a model must know of it", async () => {
    const tools = await toolsOf(mcp);
    expect(tools.length).toBeGreaterThan(120);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      expect(name).toMatch(/^[a-z][a-z0-9_]{2,63}$/);
      expect(title.length, name).toBeGreaterThan(3);
      expect(description.length, name).toBeGreaterThan(10);
      expect([inputSchema.type, outputSchema.type], name).toEqual(["object", "object"]);
      expect(annotations).toMatchObject({ readOnlyHint: expect.any(Boolean) });
    }
    const unspecified = JSON.stringify(tools).match(/"[A-Z_]+_UNSPECIFIED"/g);
    expect(unspecified).toBeNull();
  });

  test("tells what reads, what deletes and what can be repeated", async () => {
    const tools = new Map((await toolsOf(mcp)).map((tool) => [tool.name, tool.annotations]));
    const hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
    expect(tools.get("links_get")).toMatchObject({ ...hints, readOnlyHint: true, idempotentHint: true });
    expect(tools.get("links_create")).toMatchObject(hints);
    expect(tools.get("links_delete")).toMatchObject({
      ...hints,
      destructiveHint: true,
      idempotentHint: true,
    });
    expect(tools.has("workflow_steps_connect")).toBe(true);
  });

  test("leaves out what hands out credentials, what needs a session, and what anybody may call", async () => {
    const names = (await toolsOf(mcp)).map(({ name }) => name).join(" ");
    expect(names).not.toMatch(
      /workspace_tokens|sandboxes|agent_identity|myself|dismiss|public|api_scopes|pricing/,
    );
  });

  test("shows only tools within the scopes of the grant", async () => {
    const names = (await toolsOf(await clientWith(workspace, ["links:read"]))).map(({ name }) => name);
    expect(names).toContain("links_get");
    expect(names).not.toContain("links_create");
    expect(names.every((name) => /^(links|tags|directories|jobs|link_settings)_/.test(name))).toBe(true);
  });

  test("refuses a cursor that it did not give", async () => {
    for (const cursor of ["x", "", 1, "bGlua3NfeA"])
      expect(codeOf(await mcp.ask("tools/list", { cursor }))).toEqual([200, -32_602]);
  });
});

describe("tools/call", () => {
  const destination = "https://example.com/menu";

  test("answers what REST answers, and tells it in a short text", async () => {
    const { link } = (await mcp.call("links_create", { destination, name: "Menu" })).structuredContent;
    const { structuredContent, content, ...rest } = await mcp.call("links_get", { id: link.id });
    expect(structuredContent).toEqual((await workspace.rest("GET", `/v1/links/${link.id}`)).json);
    expect(content[0]).toEqual({ type: "text", text: JSON.stringify(structuredContent) });
    expect(rest).toEqual({});
  });

  test("changes the fields that are given and no others", async () => {
    const { link } = (await mcp.call("links_create", { destination, name: "Before" })).structuredContent;
    const given = { id: link.id, name: "After" };
    const changed = (await mcp.call("links_update", given)).structuredContent.link;
    expect(changed).toMatchObject({ name: "After", shortlink: link.shortlink });
  });

  test("does a thing once for one idempotencyKey", async () => {
    const given = { destination, idempotencyKey: "once" };
    const [first, again] = [await mcp.call("links_create", given), await mcp.call("links_create", given)];
    expect(again).toEqual(first);
    const other = await mcp.call("links_create", { ...given, name: "other" });
    expect(other.data.codeType).toBe("IDEMPOTENCY_KEY_REUSED");
    expect((await mcp.call("links_create", { destination, idempotencyKey: 1 })).code).toBe(-32_000);
  });

  test("a tool that fails answers −32000 with HTTP 200, the error of REST, and what to do next", async () => {
    const id = "00000000-0000-7000-8000-000000000000";
    const { status, json } = await mcp.ask("tools/call", { name: "links_get", arguments: { id } });
    const byRest = await workspace.rest("GET", `/v1/links/${id}`);
    expect([status, json.error.code, json.error.data]).toEqual([200, -32_000, byRest.json.error]);
    expect(json.error.message).toMatch(/^NOT_FOUND: .*List the records/);
    const faults = await mcp.call("links_create", { destination: 5, name: "x".repeat(5_000), tags: "no" });
    expect(faults.data.details[1].fieldViolations.map((each: { field: string }) => each.field)).toEqual(
      expect.arrayContaining(["destination", "tags"]),
    );
    expect(faults.message).toMatch(/destination .*Correct the named arguments/);
  });

  test("a tool beyond the scopes of the grant names the missing scope", async () => {
    const reader = await clientWith(workspace, ["links:read"]);
    const { status, headers, json } = await reader.ask("tools/call", {
      name: "links_create",
      arguments: { destination },
    });
    expect([status, json.error.code, json.error.data.codeType]).toEqual([200, -32_000, "INSUFFICIENT_SCOPE"]);
    expect(headers["www-authenticate"]).toMatch(/error="insufficient_scope", scope="links:write"/);
  });

  test("refuses unknown tools and malformed arguments", async () => {
    for (const name of ["none", "__proto__", "constructor", "links_Create"])
      expect(codeOf(await mcp.ask("tools/call", { name }))).toEqual([200, -32_602]);
    for (const params of [
      {},
      { name: 1 },
      { name: "tags_list", arguments: [] },
      { name: "tags_list", arguments: "" },
    ])
      expect(codeOf(await mcp.ask("tools/call", params))).toEqual([400, -32_602]);
  });

  test("a long list is cut, told in at most 4 kB, and says how to read on", async () => {
    const own = await api.newWorkspace();
    const client = await clientWith(own, ["links:read", "links:write"]);
    const links = Array.from({ length: 30 }, (_, index) => ({ destination, name: `Link ${index}` }));
    await client.call("links_create_bulk", { links });
    const { structuredContent, content } = await client.call("links_list");
    expect(structuredContent.links).toHaveLength(25);
    const [{ text }] = content;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
    const { nextPageToken } = structuredContent;
    expect(text).toContain(JSON.stringify(nextPageToken));
    const rest = await client.call("links_list", { pageToken: nextPageToken });
    expect(rest.structuredContent.links).toHaveLength(5);
    expect((await client.call("links_list", { pageSize: 2 })).structuredContent.links).toHaveLength(2);
  });

  test("no answer holds a secret", async () => {
    const given = { name: "Hook", endpointUrl: "https://example.com/hook" };
    const made = await mcp.call("webhooks_create", given);
    expect(made.structuredContent.webhook).toMatchObject({ name: "Hook" });
    expect(JSON.stringify(made)).not.toMatch(/whsec_|signingSecret/);
  });

  test("an answer with the address of a QR image shows the image", async () => {
    const { link } = (await mcp.call("links_create", { destination })).structuredContent;
    const key = `qrcodes/${workspace.workspaceId}/${link.id}.png`;
    await api.storage.put(key, Buffer.from(onePixel, "base64"), { contentType: "image/png" });
    await api.db.updateTable("links").set({ qrcode_image_key: key }).where("id", "=", link.id).execute();
    const { content } = await mcp.call("links_resolve_qrcode_images", { linkIds: [link.id] });
    expect(content[1]).toEqual({
      type: "image",
      mimeType: "image/png",
      data: onePixel,
    });
  });
});
