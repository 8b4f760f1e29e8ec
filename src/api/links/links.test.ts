import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const suggestions: string[] = [];
const api = await startApi({
  deps: { newShortlink: () => suggestions.shift() ?? randomUUID().slice(0, 8) },
});
const { db, now } = api;
const destination = "https://www.example.com/menu?table=7#top";

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

async function create(body: object) {
  return rest("POST", "/v1/links", { destination, ...body });
}

test("makes a link with an entry step that is connected to a redirect", async () => {
  const { status, json } = await create({ conversionTracking: true });
  expect(status).toBe(200);
  const { link, workflowSteps } = json;
  expect(link).toMatchObject({
    workspaceId: workspace.workspaceId,
    name: "www.example.com",
    entrypoint: `https://short.test/${link.shortlink}`,
    customDomainId: "",
    fallbackDestination: "",
    directoryId: "",
    purpose: "",
    metadata: {},
    eventCount: "0",
    tags: [],
    createdAt: link.updatedAt,
    qrcodePendingUpdateSince: link.createdAt,
  });
  expect(link).not.toHaveProperty("qrcodeSignedUrl");
  const [entry, redirect] = workflowSteps;
  expect(workflowSteps).toHaveLength(2);
  expect(entry).toMatchObject({
    linkId: link.id,
    eventAction: "EVENT_ACTION_LINK_VISIT",
    kind: "KIND_ENTRY",
    nodeType: "NODE_TYPE_ATOMIC",
    payload: { linkVisit: {} },
    branches: [{ branchId: "next", label: "next step", nextStepId: redirect.id }],
    childStepIds: [redirect.id],
    parentStepIds: [],
    canvasPosition: { x: 0, y: 0 },
  });
  expect(redirect).toMatchObject({
    eventAction: "EVENT_ACTION_CLIENT_REDIRECT",
    kind: "KIND_EXIT",
    payload: { clientRedirect: { destination, conversionTracking: true } },
    branches: [],
    childStepIds: [],
    parentStepIds: [entry.id],
    canvasPosition: { x: 320, y: 0 },
  });
});

test("stores what it answers, and what the scan runtime and the worker read", async () => {
  const { link, workflowSteps } = (await create({ purpose: "lunch", metadata: { a: "1" } })).json;
  expect((await rest("GET", `/v1/links/${link.id}`)).json.link).toEqual({ ...link, tags: [] });
  const stored = await db
    .selectFrom("workflow_steps")
    .selectAll()
    .where("link_id", "=", link.id)
    .orderBy("id")
    .execute();
  expect(stored.map((step) => [step.id, step.event_action, step.payload])).toEqual([
    [workflowSteps[0].id, "LINK_VISIT", {}],
    [workflowSteps[1].id, "CLIENT_REDIRECT", { destination, conversionTracking: false }],
  ]);
  const connections = await db
    .selectFrom("workflow_connections")
    .select(["step_id", "branch_id", "next_step_id"])
    .where("link_id", "=", link.id)
    .execute();
  expect(connections).toEqual([
    { step_id: workflowSteps[0].id, branch_id: "next", next_step_id: workflowSteps[1].id },
  ]);
  const { rows } = await api.database.pool.query(
    "select payload from graphile_worker._private_jobs where payload->>'linkId' = $1",
    [link.id],
  );
  expect(rows).toEqual([{ payload: { workspaceId: workspace.workspaceId, linkId: link.id } }]);
});

test("keeps an address byte for byte", async () => {
  const odd = "https://EXAMPLE.com/%7Euser/ä?b=2&a=1&a=%20+#Frag";
  const { workflowSteps } = (await create({ destination: odd })).json;
  expect(workflowSteps[1].payload.clientRedirect.destination).toBe(odd);
});

test("takes the id, short link and name asked for", async () => {
  const id = randomUUID();
  const { link } = (await create({ id: id.toUpperCase(), shortlink: "Summer_Sale-26", name: "Sale" })).json;
  expect(link).toMatchObject({ id, shortlink: "Summer_Sale-26", name: "Sale" });
});

interface Detail {
  readonly fieldViolations?: readonly { readonly field: string }[];
}

function refusedFields(json: { readonly error: { readonly details: readonly Detail[] } }): string[] {
  return json.error.details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field);
}

test.each(["javascript:alert(1)", "example.com", "data:text/html,x", "https://short.test/4BnH-R19p"])(
  "refuses the destination %s, and as fallback too",
  async (bad) => {
    const { status, json } = await create({ destination: bad, fallbackDestination: bad });
    expect(status).toBe(400);
    expect(json.error.codeType).toBe("INVALID_DESTINATION");
    expect(refusedFields(json)).toEqual(["destination", "fallbackDestination"]);
  },
);

test("refuses hosts of the block list and everything below them", async () => {
  await db
    .insertInto("blocked_hosts")
    .values({ host: "evil.example", reason: "malware", created_at: now() })
    .execute();
  for (const bad of ["https://evil.example/x", "https://a.b.EVIL.example./", "https://evil.example:8443"]) {
    const { status, json } = await create({ destination: bad });
    expect([status, json.error.codeType]).toEqual([400, "MALICIOUS_URL"]);
  }
  const fallback = await create({ fallbackDestination: "https://evil.example", shortlink: "not-made" });
  expect(fallback.json.error).toMatchObject({ codeType: "MALICIOUS_URL" });
  expect(refusedFields(fallback.json)).toEqual(["fallbackDestination"]);
  expect((await create({ shortlink: "not-made", destination: "https://notevil.example" })).status).toBe(200);
});

test.each(["-x", "a b", "robots.txt", "API", "a".repeat(65)])(
  "refuses the short link %j",
  async (shortlink) => {
    const { status, json } = await create({ shortlink });
    expect([status, json.error.codeType]).toEqual([400, "INVALID_SHORTLINK"]);
  },
);

test("gives a short link once, whatever the workspace", async () => {
  const shortlink = `once-${randomUUID().slice(0, 8)}`;
  expect((await create({ shortlink })).status).toBe(200);
  const other = await api.newWorkspace();
  for (const client of [rest, other.rest]) {
    const { status, json } = await client("POST", "/v1/links", { destination, shortlink });
    expect([status, json.error.codeType]).toEqual([409, "SHORTLINK_TAKEN"]);
  }
  expect((await create({ shortlink: shortlink.toUpperCase() })).status).toBe(200);
});

test("counts what looks like an id as taken", async () => {
  const { status, json } = await create({ shortlink: randomUUID() });
  expect([status, json.error.codeType]).toEqual([409, "SHORTLINK_TAKEN"]);
});

test("refuses an id that is in use, and leaves its short link free", async () => {
  const { link } = (await create({})).json;
  const { status, json } = await create({ id: link.id, shortlink: "left-free" });
  expect([status, json.error.codeType]).toEqual([409, "ID_TAKEN"]);
  expect((await create({ shortlink: "left-free" })).status).toBe(200);
});

test("does not tell whether an id is in use elsewhere", async () => {
  const other = await api.newWorkspace();
  const { link } = (await other.rest("POST", "/v1/links", { destination })).json;
  expect((await create({ id: link.id })).status).toBe(200);
});

test("draws another random short link when one is taken", async () => {
  const { link } = (await create({})).json;
  suggestions.push(link.shortlink, link.shortlink, "AbCd-1234");
  expect((await create({})).json.link.shortlink).toBe("AbCd-1234");
});

test("draws another random short link under an idempotency key too", async () => {
  const { link } = (await create({})).json;
  suggestions.push(link.shortlink, "AbCd-5678");
  const key = { "idempotency-key": "again" };
  const first = await rest("POST", "/v1/links", { destination }, key);
  const second = await rest("POST", "/v1/links", { destination }, key);
  expect(first.json.link.shortlink).toBe("AbCd-5678");
  expect(second.json).toEqual(first.json);
});

test("makes tags on the fly, unique in any case, in the order asked for and the spelling of the first use", async () => {
  await create({ tags: ["Summer"] });
  const { link } = (await create({ tags: ["zoo", "SUMMER", "Äpfel", "äpfel", "Zoo"] })).json;
  expect(link.tags.map(({ name }: { name: string }) => name)).toEqual(["zoo", "Summer", "Äpfel"]);
  const read = await rest("GET", `/v1/links/${link.id}?include=tags`);
  expect(read.json.link.tags).toEqual(link.tags);
  const { count } = await db
    .selectFrom("tags")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("workspace_id", "=", workspace.workspaceId)
    .executeTakeFirstOrThrow();
  expect(count).toBe(3n);
});

test("links made at once share a new tag", async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => create({ tags: ["b", "a", "c"] })));
  const ids = new Set(made.map(({ json }) => json.link.tags.map(({ id }: { id: string }) => id).join()));
  expect(ids.size).toBe(1);
});

test("waits for the QR image when asked to, and no longer than it may", async () => {
  const late = await create({ waitForQrcode: true });
  expect(late.status).toBe(200);
  expect(late.json.link).not.toHaveProperty("qrcodeSignedUrl");
  expect(late.json.link).toHaveProperty("qrcodePendingUpdateSince");

  const patient = await startApi({
    database: api.database,
    clock: api.clock,
    deps: { qrcodeWaitMs: 20_000 },
  });
  const id = randomUUID();
  const body = { destination, id, waitForQrcode: true };
  // The call also waits with an idempotency key, although nobody sees the link before the call's transaction has ended.
  const answer = patient.rest(workspace.token)("POST", "/v1/links", body, { "idempotency-key": "wait" });
  await drawImage(id);
  const { link } = (await answer).json;
  expect(link).not.toHaveProperty("qrcodePendingUpdateSince");
  expect(link.qrcodeSignedUrl).toMatch(/^http:\/\/api\.test\/_p\/files\/qrcodes\/done\.png\?expires=/);
  const replay = await patient.rest(workspace.token)("POST", "/v1/links", body, {
    "idempotency-key": "wait",
  });
  expect(replay.json.link).toMatchObject({ id });
  expect((await rest("GET", `/v1/links/${id}`)).json.link).not.toHaveProperty("qrcodeSignedUrl");
  const read = await rest("GET", `/v1/links/${id}?include=qrcodeSignedUrl`);
  expect(read.json.link.qrcodeSignedUrl).toContain("/qrcodes/done.png");
});

/** Does what the job does, once the link is there. */
async function drawImage(id: string): Promise<void> {
  for (;;) {
    const [result] = await db
      .updateTable("links")
      .set({ qrcode_image_key: "qrcodes/done.png", qrcode_pending_update_since: null })
      .where("id", "=", id)
      .execute();
    if (result?.numUpdatedRows === 1n) return;
  }
}

test("deletes a link for good, and keeps its short link for 90 days", async () => {
  const { link } = (await create({ shortlink: "reserved-1", tags: ["t"] })).json;
  const deleted = await rest("DELETE", `/v1/links/${link.id}`);
  expect([deleted.status, deleted.json]).toEqual([200, {}]);
  expect((await rest("GET", `/v1/links/${link.id}`)).status).toBe(404);
  expect((await rest("PATCH", `/v1/links/${link.id}`, { name: "x" })).status).toBe(404);
  expect((await rest("DELETE", `/v1/links/${link.id}`)).status).toBe(404);
  expect((await rest("GET", "/v1/links")).json).toMatchObject({ links: [], totalCount: "0" });
  for (const table of ["workflow_steps", "workflow_connections", "qrcode_designs", "link_tags"] as const)
    expect(await db.selectFrom(table).selectAll().where("link_id", "=", link.id).execute()).toEqual([]);

  const day = 24 * 60 * 60 * 1000;
  api.clock.advance(90 * day - 1000);
  expect((await create({ shortlink: "reserved-1" })).json.error.codeType).toBe("SHORTLINK_TAKEN");
  expect((await availability("reserved-1")).json).toEqual({ available: false });
  api.clock.advance(2000);
  expect((await availability("reserved-1")).json).toEqual({ available: true });
  expect((await create({ shortlink: "reserved-1" })).status).toBe(200);
});

test("does not delete, show or change a link of another workspace", async () => {
  const { link } = (await create({})).json;
  const other = await api.newWorkspace();
  for (const [method, body] of [["GET"], ["DELETE"], ["PATCH", { name: "mine" }]] as const) {
    const theirs = await other.rest(method, `/v1/links/${link.id}`, body);
    const unknown = randomUUID();
    const nobodys = await other.rest(method, `/v1/links/${unknown}`, body);
    expect(theirs.status).toBe(404);
    expect(theirs.json.error.message).toBe(nobodys.json.error.message.replace(unknown, link.id));
  }
  expect((await rest("GET", `/v1/links/${link.id}`)).json.link.name).toBe("www.example.com");
});

async function availability(shortlink: string) {
  return rest("GET", `/v1/links/shortlink-availability?shortlink=${shortlink}`);
}

test("suggests a short link that is free", async () => {
  const { link } = (await create({})).json;
  suggestions.push(link.shortlink, "Free-0001");
  const { json } = await rest("GET", "/v1/links/shortlink-random");
  expect(json).toEqual({ shortlink: "Free-0001" });
});

test("embeds nothing that is unset, and refuses unknown names", async () => {
  const { link } = (await create({})).json;
  const all = "customDomain,qrcodeDesign,qrcodeSignedUrl,tags&include=pageTheme";
  const { json } = await rest("GET", `/v1/links/${link.id}?include=${all}`);
  for (const absent of ["customDomain", "qrcodeSignedUrl", "pageTheme"])
    expect(json.link).not.toHaveProperty(absent);
  expect((await rest("GET", `/v1/links/${link.id}?include=secrets`)).status).toBe(400);
});
