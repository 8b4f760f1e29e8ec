import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { addDirectory } from "../../../test/support/add-directory.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();
const { db, now } = api;
const destination = "https://www.example.com/menu";

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

async function create(body: object) {
  return rest("POST", "/v1/links", { destination, ...body });
}

async function addDomain(workspaceId: string, status: "ACTIVE" | "DOMAIN_PENDING" | "RENEWAL_PENDING") {
  const id = randomUUID();
  const name = `go-${id.slice(0, 8)}.example`;
  const values = { workspace_id: workspaceId, id, name, status, created_at: now(), updated_at: now() };
  await db.insertInto("custom_domains").values(values).execute();
  return { id, name };
}

async function addDesign(workspaceId: string, options: object): Promise<string> {
  const id = randomUUID();
  const values = {
    workspace_id: workspaceId,
    id,
    options: JSON.stringify(options),
    created_at: now(),
    updated_at: now(),
  };
  await db.insertInto("qrcode_designs").values(values).execute();
  return id;
}

async function addTemplate(workspaceId: string, options: object): Promise<string> {
  const id = randomUUID();
  const design = await addDesign(workspaceId, options);
  const values = {
    workspace_id: workspaceId,
    id,
    name: "Ours",
    look_id: design,
    created_at: now(),
    updated_at: now(),
  };
  await db.insertInto("qrcode_templates").values(values).execute();
  return id;
}

async function availability(shortlink: string, customDomainId = "") {
  const query = new URLSearchParams({ shortlink, customDomainId });
  return rest("GET", `/v1/links/shortlink-availability?${query}`);
}

test("puts a link on an active domain of the workspace", async () => {
  const { id, name } = await addDomain(workspace.workspaceId, "RENEWAL_PENDING");
  const { link } = (await create({ customDomainId: id, shortlink: "menu" })).json;
  expect(link).toMatchObject({ customDomainId: id, entrypoint: `https://${name}/menu` });
  const again = await create({ customDomainId: id, shortlink: "menu" });
  expect(again.json.error.codeType).toBe("SHORTLINK_TAKEN");
  const included = await rest("GET", `/v1/links/${link.id}?include=customDomain`);
  expect(included.json.link.customDomain).toMatchObject({ id, name, status: "STATUS_RENEWAL_PENDING" });
  const loop = await create({ customDomainId: id, destination: `https://${name}/menu` });
  expect(loop.json.error.codeType).toBe("INVALID_DESTINATION");
});

test("refuses a domain that does not serve links", async () => {
  const { id } = await addDomain(workspace.workspaceId, "DOMAIN_PENDING");
  const { status, json } = await create({ customDomainId: id });
  expect([status, json.error.codeType]).toEqual([412, "DOMAIN_NOT_ACTIVE"]);
});

test("does not know the records of others", async () => {
  const other = await api.newWorkspace();
  const foreign: [string, string][] = [
    ["customDomainId", (await addDomain(other.workspaceId, "ACTIVE")).id],
    ["directoryId", await addDirectory(other)],
    ["qrcodeDesignId", await addDesign(other.workspaceId, {})],
    ["qrcodeTemplateId", await addTemplate(other.workspaceId, {})],
  ];
  for (const [field, id] of foreign) {
    const theirs = await create({ [field]: id });
    const unknown = randomUUID();
    const nobodys = await create({ [field]: unknown });
    expect([theirs.status, theirs.json.error.codeType]).toEqual([404, "NOT_FOUND"]);
    expect(theirs.json.error.message).toBe(nobodys.json.error.message.replace(unknown, id));
  }
});

test("draws the code by an own design, by a template's, or by the default one", async () => {
  const plain = (await create({})).json.link;
  const read = await rest("GET", `/v1/links/${plain.id}?include=qrcodeDesign`);
  expect(read.json.link.qrcodeDesign).toMatchObject({
    id: plain.qrcodeDesignId,
    shape: "SHAPE_SQUARE",
    centralImageSize: 0.4,
    hideBackgroundDots: true,
    errorCorrectionLevel: "Q",
    width: 512,
    height: 512,
  });
  const template = await addTemplate(workspace.workspaceId, { width: 1000, height: 1000 });
  const styled = (await create({ qrcodeTemplateId: template })).json.link;
  expect(styled.qrcodeTemplateId).toBe(template);
  const copy = await rest("GET", `/v1/links/${styled.id}?include=qrcodeDesign`);
  expect(copy.json.link.qrcodeDesign).toMatchObject({ id: styled.qrcodeDesignId, width: 1000 });

  const design = await addDesign(workspace.workspaceId, { width: 640 });
  const own = (await create({ qrcodeDesignId: design })).json.link;
  expect(own.qrcodeDesignId).toBe(design);
  const { status, json } = await create({ qrcodeDesignId: design });
  expect([status, json.error.codeType]).toEqual([412, "DESIGN_IN_USE"]);
});

test("tells the scan runtime of links that are made, changed and deleted", async () => {
  const heard: string[] = [];
  const listener = await api.database.pool.connect();
  listener.on("notification", ({ payload }) => heard.push(payload ?? ""));
  await listener.query("listen signpost_plan");
  const domain = await addDomain(workspace.workspaceId, "ACTIVE");
  const { link } = (await create({ shortlink: "heard" })).json;
  await rest("PATCH", `/v1/links/${link.id}`, { fallbackDestination: "https://example.org" });
  await rest("DELETE", `/v1/links/${link.id}`);
  const onDomain = (await create({ shortlink: "heard", customDomainId: domain.id })).json.link;
  await rest("DELETE", `/v1/links/${onDomain.id}`);
  // Notifications arrive before the answer to a later statement of the same connection.
  await listener.query("unlisten signpost_plan");
  listener.release(true);
  expect(heard).toEqual(["/heard", "/heard", "/heard", `${domain.name}/heard`, `${domain.name}/heard`]);
});

test("tells whether a short link is free on a host", async () => {
  const { id } = await addDomain(workspace.workspaceId, "ACTIVE");
  await create({ shortlink: "asked-for" });
  expect((await availability("asked-for")).json).toEqual({ available: false });
  expect((await availability("asked-for", id)).json).toEqual({ available: true });
  expect((await availability("ASKED-FOR")).json).toEqual({ available: true });
  for (const never of ["api", "Robots.txt", randomUUID()])
    expect((await availability(never)).json).toEqual({ available: false });
  const invalid = await availability("a b");
  expect([invalid.status, invalid.json.error.codeType]).toEqual([400, "INVALID_SHORTLINK"]);
  const foreign = await addDomain((await api.newWorkspace()).workspaceId, "ACTIVE");
  expect((await availability("x", foreign.id)).status).toBe(404);
});
