import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import { WebhookStatus } from "../../../gen/signpost/v1/webhook_pb.js";
import { WebhooksService } from "../../../gen/signpost/v1/webhooks_service_pb.js";
import { startDnsServer } from "../../../test/support/dns-server.ts";
import { specialHosts } from "../../../test/support/special-addresses.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { createFaultFinder } from "../../lib/fetch/address-rules.ts";
import { createHostResolver } from "../../lib/fetch/resolve-host.ts";
import { createAddressJudge } from "../../lib/fetch/special-addresses.ts";
import { newId } from "../../lib/ids.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const names = new Map<string, readonly string[]>([
  ["public.test", ["1.0.0.1", "2606:4700::1111"]],
  ["private.test", ["10.0.0.1", "fd00::1"]],
  ["xn--bcher-kva.test", ["192.168.1.1"]],
]);
const dns = await startDnsServer((name) => names.get(name) ?? []);
const api = await startApi({
  deps: {
    addressFaultOf: createFaultFinder({
      resolve: createHostResolver([dns.server]),
      judge: createAddressJudge(["127.0.0.77/32"]),
    }),
  },
});

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const order = { name: "CRM", endpointUrl: "https://public.test/hooks" };

async function create(fields: object = {}, call = rest) {
  const { status, json } = await call("POST", "/v1/webhooks", { ...order, ...fields });
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
}

const patch = (id: string, fields: object) => rest("PATCH", `/v1/webhooks/${id}`, fields);
const read = async (id: string) => (await rest("GET", `/v1/webhooks/${id}`)).json.webhook;

async function rowsOf() {
  const { rows } = await api.database.pool.query(
    "select (select count(*)::int from webhooks where workspace_id = $1) as webhooks, (select count(*)::int from outbox_subscribers where workspace_id = $1) as subscribers",
    [workspace.workspaceId],
  );
  return rows[0];
}

async function addLink() {
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com" });
  return json.link.id as string;
}

test("a new webhook is active and shows its secret in that answer only; the database keeps it sealed", async () => {
  const { webhook, signingSecret } = await create({ triggers: ["KIND_EXIT", "KIND_ENTRY", "KIND_EXIT"] });
  expect(webhook).toMatchObject({
    workspaceId: workspace.workspaceId,
    name: "CRM",
    endpointUrl: order.endpointUrl,
    status: "WEBHOOK_STATUS_ACTIVE",
    source: "WEBHOOK_SOURCE_API",
    linkId: "",
    triggers: ["KIND_EXIT", "KIND_ENTRY"],
    successCount: "0",
    failureCount: "0",
    createdBy: "",
    lastError: "",
  });
  expect(webhook).not.toHaveProperty("lastSentAt");
  expect(webhook).not.toHaveProperty("lastDeliveredAt");
  expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const answer = await rest("GET", `/v1/webhooks/${webhook.id}`);
  expect(answer.json).toEqual({ webhook });
  const bytes = Buffer.from(signingSecret.slice("whsec_".length), "base64");
  const { secret } = await api.db
    .selectFrom("webhooks")
    .select("secret")
    .where("id", "=", webhook.id)
    .executeTakeFirstOrThrow();
  expect(secret.includes(bytes)).toBe(false);
  expect((await create()).signingSecret).not.toBe(signingSecret);
});

test("gRPC makes, reads, lists, changes and deletes the same webhooks", async () => {
  const client = workspace.client(WebhooksService);
  const made = await client.create({ name: "CRM", endpointUrl: order.endpointUrl });
  const id = made.webhook?.id ?? "";
  expect(made.signingSecret).toMatch(/^whsec_/);
  expect((await client.get({ id })).webhook).toEqual(made.webhook);
  const paused = await client.update({ id, status: WebhookStatus.PAUSED });
  expect(paused.webhook?.status).toBe(WebhookStatus.PAUSED);
  expect(paused.signingSecret).toBeUndefined();
  expect((await client.list({ status: WebhookStatus.PAUSED })).webhooks.map((each) => each.id)).toEqual([id]);
  expect((await client.list({ status: WebhookStatus.ACTIVE })).webhooks).toEqual([]);
  await client.delete({ id });
  expect(await rowsOf()).toEqual({ webhooks: 0, subscribers: 0 });
  const gone = await client.get({ id }).catch((error) => ConnectError.from(error).code);
  expect(gone).toBe(Code.NotFound);
});

test("lists show pages newest first, with the number of all that match", async () => {
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.unshift((await create({ name })).webhook.id);
  const first = await rest("GET", "/v1/webhooks?pageSize=2");
  expect(first.json.webhooks.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  expect(first.json.totalCount).toBe("3");
  const second = await rest("GET", `/v1/webhooks?pageSize=2&pageToken=${first.json.nextPageToken}`);
  expect(second.json.webhooks.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
  expect(second.json.nextPageToken).toBe("");
  await patch(ids[1] ?? "", { status: "WEBHOOK_STATUS_PAUSED" });
  const { json } = await rest("GET", "/v1/webhooks?status=WEBHOOK_STATUS_PAUSED");
  expect([json.webhooks.length, json.totalCount, json.webhooks[0].id]).toEqual([1, "1", ids[1]]);
});

test("a change replaces what it names, the same values again change nothing", async () => {
  const linkId = await addLink();
  const { webhook } = await create({ linkId, triggers: ["KIND_EXIT"] });
  const changed = await patch(webhook.id, {
    name: "ERP",
    endpointUrl: "https://public.test:8443/other",
    source: "WEBHOOK_SOURCE_ZAPIER",
    linkId: "",
    triggers: [],
  });
  expect(changed.json.webhook).toEqual({
    ...webhook,
    name: "ERP",
    endpointUrl: "https://public.test:8443/other",
    source: "WEBHOOK_SOURCE_ZAPIER",
    linkId: "",
    triggers: [],
    updatedAt: changed.json.webhook.updatedAt,
  });
  expect(changed.json).not.toHaveProperty("signingSecret");
  expect(Date.parse(changed.json.webhook.updatedAt)).toBeGreaterThan(Date.parse(webhook.updatedAt));
  for (const again of [{ name: "ERP" }, {}, { linkId: "" }, { status: "WEBHOOK_STATUS_UNSPECIFIED" }])
    expect((await patch(webhook.id, again)).json).toEqual(changed.json);
  expect(await read(webhook.id)).toEqual(changed.json.webhook);
});

test("a disabled webhook begins anew when it is activated, directly or by way of a pause", async () => {
  for (const statuses of [["ACTIVE"], ["PAUSED", "ACTIVE"]]) {
    const { webhook } = await create();
    await api.database.pool.query(
      "update outbox_subscribers set status = 'DISABLED', failing_since = now(), exhausted_in_row = 100 where id = $1",
      [webhook.id],
    );
    expect((await read(webhook.id)).status).toBe("WEBHOOK_STATUS_DISABLED");
    for (const status of statuses) await patch(webhook.id, { status: `WEBHOOK_STATUS_${status}` });
    const row = await api.db
      .selectFrom("outbox_subscribers")
      .selectAll()
      .where("id", "=", webhook.id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ status: "ACTIVE", failing_since: null, exhausted_in_row: 0 });
    expect(row.enabled_at.getTime()).toBeGreaterThan(Date.parse(webhook.createdAt));
  }
});

test("rotation shows a new secret once, and the one before it signs along for 24 hours", async () => {
  const { webhook, signingSecret } = await create();
  const { json } = await patch(webhook.id, { rotateSecret: true });
  expect(json.signingSecret).toMatch(/^whsec_/);
  expect(json.signingSecret).not.toBe(signingSecret);
  const row = await api.db
    .selectFrom("webhooks")
    .select(["previous_secret_until", "updated_at"])
    .where("id", "=", webhook.id)
    .executeTakeFirstOrThrow();
  const until = row.previous_secret_until?.getTime() ?? 0;
  expect(until - row.updated_at.getTime()).toBe(24 * 3_600_000);
  expect((await patch(webhook.id, { rotateSecret: false })).json).not.toHaveProperty("signingSecret");
});

describe("addresses that lead where they must not are refused, and nothing is written", () => {
  const refusedBy = async (call: Promise<{ status: number; json: { error?: { codeType: string } } }>) => {
    const { status, json } = await call;
    return [status, json.error?.codeType];
  };

  test("every special network, in every notation, when made and when changed", async () => {
    const { webhook } = await create();
    for (const host of specialHosts) {
      const endpointUrl = `https://${host}/hooks`;
      expect([host, await refusedBy(rest("POST", "/v1/webhooks", { ...order, endpointUrl }))]).toEqual([
        host,
        [400, "INVALID_ENDPOINT_URL"],
      ]);
    }
    // One call for each network: a change runs the same check.
    for (const host of [
      "10.0.0.1",
      "0x7f.0.0.2",
      "0251.0376.1",
      "[::ffff:10.0.0.1]",
      "[64:ff9b::a00:1]",
      "[fe80::1]",
    ])
      expect(await refusedBy(patch(webhook.id, { endpointUrl: `https://${host}/` }))).toEqual([
        400,
        "INVALID_ENDPOINT_URL",
      ]);
    expect(await read(webhook.id)).toEqual(webhook);
    expect(await rowsOf()).toEqual({ webhooks: 1, subscribers: 1 });
  });

  test.each([
    ["a name that resolves to private addresses", "https://private.test/"],
    ["the same with a dot at its end", "https://PRIVATE.test./"],
    ["a name in Unicode", "https://bücher.test/"],
    ["cleartext", "http://public.test/"],
    ["a login", "https://me:secret@public.test/"],
    ["a port of another service", "https://public.test:25/"],
    ["another scheme", "ftp://public.test/"],
    ["no address", "public.test"],
  ])("%s", async (_, endpointUrl) => {
    const { webhook } = await create();
    const { status, json } = await rest("POST", "/v1/webhooks", { ...order, endpointUrl });
    expect([status, json.error.codeType]).toEqual([400, "INVALID_ENDPOINT_URL"]);
    expect(JSON.stringify(json.error.details)).toContain('"field":"endpointUrl"');
    expect(json.error.message).not.toContain("secret");
    expect(await refusedBy(patch(webhook.id, { endpointUrl }))).toEqual([400, "INVALID_ENDPOINT_URL"]);
    const client = workspace.client(WebhooksService);
    const refusal = await client
      .create({ ...order, endpointUrl })
      .catch((error) => ConnectError.from(error).code);
    expect(refusal).toBe(Code.InvalidArgument);
    expect(await rowsOf()).toEqual({ webhooks: 1, subscribers: 1 });
  });
});

test("networks that the operator allows may be reached, without TLS too, and sandboxes may use http anywhere", async () => {
  await create({ endpointUrl: "http://127.0.0.77:9000/hooks" });
  await create({ endpointUrl: "https://2130706509/" });
  const sandbox = await api.newSandbox(workspace);
  await create({ endpointUrl: "http://public.test/" }, sandbox.rest);
  const refused = await sandbox.rest("POST", "/v1/webhooks", {
    ...order,
    endpointUrl: "http://private.test/",
  });
  expect(refused.json.error.codeType).toBe("INVALID_ENDPOINT_URL");
});

test("a host without an address yet is taken: its messages wait until it has one", async () => {
  const { webhook } = await create({ endpointUrl: "https://soon.test/" });
  expect(webhook.endpointUrl).toBe("https://soon.test/");
});

test("bad requests name their field and write nothing", async () => {
  const { webhook } = await create();
  const theirs = await api.newWorkspace();
  const foreign = await theirs.rest("POST", "/v1/links", { destination: "https://example.com" });
  const cases: [string, string, object | undefined, number, string][] = [
    ["POST", "/v1/webhooks", { name: "CRM" }, 400, "endpointUrl"],
    ["POST", "/v1/webhooks", { endpointUrl: order.endpointUrl }, 400, "name"],
    ["POST", "/v1/webhooks", { ...order, name: "x".repeat(256) }, 400, "name"],
    ["POST", "/v1/webhooks", { ...order, triggers: ["KIND_NOTHING"] }, 400, "triggers"],
    ["POST", "/v1/webhooks", { ...order, linkId: "no" }, 400, "linkId"],
    ["POST", "/v1/webhooks", { ...order, linkId: randomUUID() }, 404, "linkId"],
    ["POST", "/v1/webhooks", { ...order, linkId: foreign.json.link.id }, 404, "linkId"],
    ["PATCH", `/v1/webhooks/${webhook.id}`, { status: "WEBHOOK_STATUS_DISABLED" }, 400, "status"],
    ["PATCH", `/v1/webhooks/${webhook.id}`, { name: "" }, 400, "name"],
    ["PATCH", `/v1/webhooks/${webhook.id}`, { endpointUrl: "" }, 400, "endpointUrl"],
    ["PATCH", `/v1/webhooks/${webhook.id}`, { linkId: foreign.json.link.id }, 404, "linkId"],
    ["PATCH", `/v1/webhooks/${randomUUID()}`, { name: "ERP" }, 404, "id"],
    ["DELETE", `/v1/webhooks/${randomUUID()}`, undefined, 404, "id"],
    ["DELETE", "/v1/webhooks/no", undefined, 400, "id"],
  ];
  for (const [method, path, body, status, field] of cases) {
    const answer = await rest(method, path, body);
    expect([method, path, body, answer.status]).toEqual([method, path, body, status]);
    expect(answer.json.error.message).toContain(field);
  }
  expect(await read(webhook.id)).toEqual(webhook);
  expect(await rowsOf()).toEqual({ webhooks: 1, subscribers: 1 });
  const deleted = await rest("DELETE", `/v1/webhooks/${webhook.id}`);
  expect([deleted.status, deleted.json]).toEqual([200, {}]);
  expect((await rest("DELETE", `/v1/webhooks/${webhook.id}`)).status).toBe(404);
});

test("a deleted link cannot be chosen, and stays on the webhooks that have it", async () => {
  const linkId = await addLink();
  const { webhook } = await create({ linkId });
  await rest("DELETE", `/v1/links/${linkId}`);
  expect((await rest("POST", "/v1/webhooks", { ...order, linkId })).status).toBe(404);
  expect((await patch(webhook.id, { name: "ERP" })).json.webhook.linkId).toBe(linkId);
});

test("the plan limits the number of webhooks, and no plan lifts the ceiling of 1,000", async () => {
  const plans = readPlanTable({ plans: { FREE: { limits: { WEBHOOKS: 2 } } } }, true, []);
  const limited = await startApi({
    database: api.database,
    clock: api.clock,
    deps: { plans, entitlements: createEntitlements({ plans, now: api.now }) },
  });
  const call = limited.rest(workspace.token);
  const endpointUrl = "https://1.0.0.1/";
  await api.db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED" })
    .where("id", "=", workspace.workspaceId)
    .execute();
  for (const status of [200, 200, 429])
    expect((await call("POST", "/v1/webhooks", { ...order, endpointUrl })).status).toBe(status);
  const { headers, json } = await call("POST", "/v1/webhooks", { ...order, endpointUrl });
  expect([json.error.codeType, headers["retry-after"]]).toEqual(["PLAN_LIMIT_REACHED", undefined]);
  const at = api.now();
  const values = Array.from({ length: 998 }, () => ({
    ...{ workspace_id: workspace.workspaceId, id: newId(at), name: "One of many", endpoint_url: endpointUrl },
    ...{ source: "API" as const, secret: Buffer.alloc(1), created_at: at, updated_at: at },
  }));
  await api.db.insertInto("webhooks").values(values).execute();
  const full = await rest("POST", "/v1/webhooks", order);
  expect([full.status, full.json.error.codeType]).toEqual([429, "LIMIT_REACHED"]);
});
