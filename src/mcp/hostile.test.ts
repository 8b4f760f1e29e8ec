import { beforeAll, expect, test } from "vitest";
import { granted } from "../../test/support/grants.ts";
import { type McpClient, mcpClient } from "../../test/support/mcp.ts";
import { type Api, startApi, type TestWorkspace } from "../../test/support/start-api.ts";
import { apiScopes } from "../rpc/access.ts";

const api = await startApi();
const limited = await startApi({ database: api.database, rateLimits: { token: 2 } });
let workspace: TestWorkspace;

beforeAll(async () => {
  workspace = await api.newWorkspace();
});

/** A client whose grant has a rate of its own. */
async function newClient(of: Api = api): Promise<McpClient> {
  const { workspaceId, memberId } = workspace;
  const { accessToken } = await granted(of, {
    workspaceId,
    memberId,
    scopes: [...apiScopes],
    resource: "MCP",
  });
  return mcpClient(of, accessToken);
}

const call = (given: unknown, name: unknown = "links_create") =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${
    typeof given === "string" ? given : JSON.stringify(given)
  }}}`;

test("a body beyond 8 MiB is refused, whether it says its length or not", async () => {
  const mcp = await newClient();
  const body = call({ destination: "x".repeat(9 * 1024 * 1024) });
  expect((await mcp.post(body)).status).toBe(413);
  expect((await mcp.post(body, { "transfer-encoding": "chunked" })).status).toBe(413);
});

test("JSON that is nested without end, or has keys without end, is refused", async () => {
  const mcp = await newClient();
  for (const depth of [1_000, 100_000]) {
    const { status, json } = await mcp.post(call("[".repeat(depth) + "]".repeat(depth)));
    expect([status, json.error.code]).toEqual([400, expect.any(Number)]);
  }
  const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
  const nested = await mcp.post(call(`{"destination":"https://example.com","metadata":${deep}}`));
  expect(nested.json.error.code).toBe(-32_000);
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]));
  expect((await mcp.post(call(keys))).json.error.code).toBe(-32_700);
});

test("arguments of every wrong type are refused by name, and nothing is made", async () => {
  const mcp = await newClient();
  const before = (await mcp.call("links_list")).structuredContent.totalCount;
  for (const wrong of [1, true, [], {}, [[]], "\u0000", { __proto__: null, toString: 1 }]) {
    const error = await mcp.call("links_create", { destination: wrong });
    expect([error.code, error.data.code]).toEqual([-32_000, 400]);
    expect(
      error.data.details.flatMap(
        (each: { fieldViolations?: { field: string }[] }) => each.fieldViolations ?? [],
      )[0],
    ).toMatchObject({ field: "destination" });
  }
  expect((await mcp.call("links_list")).structuredContent.totalCount).toBe(before);
});

test("a field of an object's own kind reaches no prototype", async () => {
  const mcp = await newClient();
  const given =
    '{"destination":"https://example.com","__proto__":{"name":"x"},"constructor":{"prototype":{}}}';
  const { json } = await mcp.post(call(given));
  expect(json.result.structuredContent.link.name).not.toBe("x");
  expect(Object.hasOwn(Object.prototype, "name")).toBe(false);
});

test("a flood of handshakes, lists and broken messages uses up the rate, and each is told to wait", async () => {
  for (const send of [
    (mcp: McpClient) => mcp.ask("initialize", { protocolVersion: "2025-11-25" }),
    (mcp: McpClient) => mcp.ask("tools/list"),
    (mcp: McpClient) => mcp.ask("tools/call", { name: "none" }),
    (mcp: McpClient) => mcp.post("{"),
    (mcp: McpClient) => mcp.post({ jsonrpc: "2.0", method: "notifications/none" }),
  ]) {
    const mcp = await newClient(limited);
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(mcp)));
    const refused = answers.filter(({ status }) => status === 429);
    // Four at once, and one more for each half second of the test's clock.
    expect(refused.length).toBeGreaterThan(30);
    expect(refused.length).toBeLessThanOrEqual(36);
    expect(refused[0]?.headers).toHaveProperty("retry-after");
    expect(refused[0]?.json.error.data.codeType).toBe("RATE_LIMITED");
  }
});

test("large bodies count as many calls, and who has none left is refused before the body is read", async () => {
  const mcp = await newClient(limited);
  const large = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${"y".repeat(7_500_000)}"}}`;
  expect((await mcp.post(large)).status).toBe(200);
  // A body that never ends is not waited for.
  const { status } = await mcp.post("{", { "content-length": "1000" }).catch(() => ({ status: 0 }));
  expect(status).toBe(429);
});
