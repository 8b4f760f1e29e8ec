import { sql } from "kysely";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { tickingClock } from "../../../test/support/clock.ts";
import { startNameServer } from "../../../test/support/name-server.ts";
import { startApi, type TestWorkspace, testDomains } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";
import { restoreWorkspace } from "../../db/end-workspaces.ts";
import { noCertificates } from "../../domains/certificates.ts";
import { checkDueDomains } from "../../domains/check-domain.ts";
import { settleDomain } from "../../domains/settle.ts";

const clock = tickingClock();
const dns = await startNameServer();
const domains = testDomains({ servers: [dns.server], timeoutMs: 30_000, nowMs: () => clock.now().getTime() });
const api = await startApi({ clock, deps: { domains } });
const { db } = api;
const scan = await startTestScan(api.database, {}, afterAll);

const hourMs = 60 * 60 * 1000;
const [service, elsewhere] = ["domains.short.test", "old.example.org"];

let workspace: TestWorkspace;
let made = 0;
let name: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  name = `served-${++made}.example.com`;
});

/** Waits until every process has heard of a change. */
const eventually = (expectation: () => Promise<void>) =>
  vi.waitFor(expectation, { timeout: 30_000, interval: 20 });
const statusOf = async (path: string) => (await scan.ask(path, { host: name })).status;
const checkDue = () => checkDueDomains({ db, domains, now: clock.now }, new AbortController().signal);

/** Registers a name whose records are right, and returns the domain. A refusal tells the record that proves the name. */
async function bring({ rest }: TestWorkspace) {
  dns.zone.set(name, { CNAME: [service] });
  const before = await rest("POST", "/v1/custom-domains", { name });
  const id = before.json.customDomain?.id;
  if (id === undefined) {
    const [{ metadata }] = before.json.error.details.filter(
      (detail: { metadata?: object }) => detail.metadata,
    );
    dns.zone.set(metadata.txtName, { TXT: [metadata.txtValue] });
    return (await rest("POST", "/v1/custom-domains", { name })).json.customDomain;
  }
  const { validations } = (await rest("GET", `/v1/custom-domains/${id}/validation_instructions`)).json;
  dns.zone.set(validations[0].name, { TXT: [validations[0].value] });
  clock.advance(10_000);
  return (await rest("POST", `/v1/custom-domains/${id}/check`)).json.customDomain;
}

async function addLink({ rest }: TestWorkspace, customDomainId: string, shortlink: string, host: string) {
  const { status } = await rest("POST", "/v1/links", {
    destination: `https://${host}/`,
    customDomainId,
    shortlink,
  });
  expect(status).toBe(200);
}

const leadsTo = async (path: string) => (await scan.ask(path, { host: name })).headers.location;

test("a domain serves its links and its root from when it is active, and both follow every change", async () => {
  expect(await statusOf("/")).toBe(404);
  const { id } = await bring(workspace);
  await addLink(workspace, id, "menu", "one.example");
  await eventually(async () => expect(await leadsTo("/menu")).toBe("https://one.example/"));
  await workspace.rest("PATCH", `/v1/custom-domains/${id}`, { rootDestination: "https://root.example/" });
  await eventually(async () => expect(await leadsTo("/")).toBe("https://root.example/"));
  expect((await scan.ask("/menu", { host: "other.example.com" })).status).toBe(404);
  await workspace.rest("DELETE", `/v1/custom-domains/${id}?moveLinksToDefault=true`);
  await eventually(async () => expect(await statusOf("/menu")).toBe(404));
  await eventually(async () => expect(await statusOf("/")).toBe(404));
  await eventually(async () => expect((await scan.ask("/menu")).status).toBe(302));
});

test("cookies of a custom domain are its own: no other host gets them", async () => {
  const { id } = await bring(workspace);
  await addLink(workspace, id, "menu", "one.example");
  await workspace.rest("PUT", `/v1/link-settings/${await linkSettingOf(workspace)}`, {
    dataCollection: "DATA_COLLECTION_ADVANCED",
  });
  await eventually(async () => {
    const { headers } = await scan.ask("/menu", { host: name, headers: { "user-agent": "Mozilla/5.0" } });
    expect(headers["set-cookie"]).toMatch(/Path=\//);
    expect(headers["set-cookie"]).not.toMatch(/domain/i);
  });
});

async function linkSettingOf({ workspaceId }: TestWorkspace): Promise<string> {
  const { id } = await db
    .selectFrom("link_settings")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return id;
}

test("a name that leads elsewhere is told to the administrators, served for a day, and then no longer until it is proved anew", async () => {
  const { id } = await bring(workspace);
  await addLink(workspace, id, "menu", "one.example");
  dns.zone.set(name, { CNAME: [elsewhere] });
  dns.zone.delete(`_svc-verify.${name}`);
  clock.advance(24 * hourMs);
  await checkDue();
  const { rows } = await sql<{ facts: string; to: string }>`
    select payload ->> 'facts' as facts, payload ->> 'to' as to from graphile_worker._private_jobs
    where payload ->> 'workspaceId' = ${workspace.workspaceId} and payload ->> 'kind' = 'domain-away'`.execute(
    db,
  );
  expect(rows).toHaveLength(1);
  expect(JSON.parse(rows[0]?.facts ?? "")).toMatchObject({
    domain: name,
    fault: expect.stringContaining(elsewhere),
  });
  expect(await leadsTo("/menu")).toBe("https://one.example/");
  const read = async () => (await workspace.rest("GET", `/v1/custom-domains/${id}`)).json.customDomain;
  expect(await read()).toMatchObject({
    status: "STATUS_ACTIVE",
    lastError: expect.stringContaining(elsewhere),
  });
  clock.advance(24 * hourMs);
  await checkDue();
  expect(await read()).toMatchObject({ status: "STATUS_DOMAIN_PENDING" });
  await eventually(async () => expect(await statusOf("/")).toBe(404));
  dns.zone.set(name, { CNAME: [service] });
  clock.advance(24 * hourMs);
  await checkDue();
  expect(await read()).toMatchObject({ status: "STATUS_VERIFICATION_PENDING" });
  expect(await statusOf("/")).toBe(404);
  const { validations } = (await workspace.rest("GET", `/v1/custom-domains/${id}/validation_instructions`))
    .json;
  dns.zone.set(validations[0].name, { TXT: [validations[0].value] });
  clock.advance(24 * hourMs);
  await checkDue();
  expect(await read()).toMatchObject({ status: "STATUS_ACTIVE", lastError: "" });
  await eventually(async () => expect(await leadsTo("/menu")).toBe("https://one.example/"));
});

test("name servers that are away for days take no domain from its visitors", async () => {
  const { id } = await bring(workspace);
  await addLink(workspace, id, "menu", "one.example");
  for (const each of [name, service, `_svc-verify.${name}`]) dns.zone.set(each, "failed");
  for (let day = 0; day < 4; day++) {
    clock.advance(24 * hourMs);
    await checkDue();
  }
  const { customDomain } = (await workspace.rest("GET", `/v1/custom-domains/${id}`)).json;
  expect(customDomain).toMatchObject({
    status: "STATUS_ACTIVE",
    lastError: expect.stringContaining("no answer that can be used"),
  });
  expect(await leadsTo("/menu")).toBe("https://one.example/");
  dns.zone.delete(service);
});

test("a certificate decides: pending, active, renewal and expiry follow, and an expired domain answers nothing", async () => {
  const orders: string[] = [];
  const certificates = {
    ...noCertificates,
    needed: true,
    order: async (_tx: unknown, domain: { readonly name: string }) => void orders.push(domain.name),
  };
  const secured = testDomains({
    servers: [dns.server],
    timeoutMs: 30_000,
    certificates,
    nowMs: () => clock.now().getTime(),
  });
  const other = await startApi({ database: api.database, clock, deps: { domains: secured } });
  const owner = await other.newWorkspace();
  const { id, status } = await bring(owner);
  expect(status).toBe("STATUS_CERTIFICATE_PENDING");
  expect(orders).toEqual([name]);
  const settle = (learned: Parameters<typeof settleDomain>[3]) =>
    db
      .transaction()
      .execute((tx) =>
        settleDomain(tx, { certificates, now: clock.now }, { workspaceId: owner.workspaceId, id }, learned),
      );
  const fault = "The authority refused the name.";
  expect(await settle({ certificateFault: fault })).toMatchObject({
    status: "CERTIFICATE_PENDING",
    last_error: fault,
  });
  const expiresAt = new Date(clock.now().getTime() + 48 * hourMs);
  expect(
    await settle({ certificate: { expiresAt, needsRenewal: false }, certificateFault: "" }),
  ).toMatchObject({
    status: "ACTIVE",
    last_error: "",
  });
  await addLink(owner, id, "menu", "one.example");
  await eventually(async () => expect(await statusOf("/menu")).toBe(302));
  expect(await settle({ certificate: { expiresAt, needsRenewal: true } })).toMatchObject({
    status: "RENEWAL_PENDING",
  });
  expect(await statusOf("/menu")).toBe(302);
  clock.advance(48 * hourMs);
  await checkDueDomains({ db, domains: secured, now: clock.now }, new AbortController().signal);
  const { customDomain } = (await owner.rest("GET", `/v1/custom-domains/${id}`)).json;
  expect(customDomain).toMatchObject({ status: "STATUS_EXPIRED" });
  await eventually(async () => expect(await statusOf("/menu")).toBe(404));
  await eventually(async () => expect(await statusOf("/")).toBe(404));
});

test("nobody takes over a name through a deleted workspace: its links serve the new holder only, restored or not", async () => {
  const { id } = await bring(workspace);
  for (const shortlink of ["menu", "card", "late"]) await addLink(workspace, id, shortlink, "former.example");
  await eventually(async () => expect(await leadsTo("/menu")).toBe("https://former.example/"));
  await workspace.rest("DELETE", "/v1/workspace");
  await eventually(async () => expect(await statusOf("/menu")).toBe(404));
  const [stranger, heir] = [await api.newWorkspace(), await api.newWorkspace()];
  const refused = await stranger.rest("POST", "/v1/custom-domains", { name });
  expect(refused.json.error).toMatchObject({ code: 409, codeType: "DOMAIN_TAKEN" });
  const taken = await bring(heir);
  expect(taken).toMatchObject({ status: "STATUS_ACTIVE", workspaceId: heir.workspaceId });
  await addLink(heir, taken.id, "menu", "heir.example");
  await eventually(async () => expect(await leadsTo("/menu")).toBe("https://heir.example/"));
  expect(await restoreWorkspace(db, workspace.workspaceId, clock.now())).toEqual([name]);
  await eventually(async () => expect(await statusOf("/card")).toBe(404));
  // Even a status that somebody wrote by hand serves no name of others.
  await db.updateTable("custom_domains").set({ status: "ACTIVE" }).where("id", "=", id).execute();
  expect(await statusOf("/late")).toBe(404);
  expect(await leadsTo("/menu")).toBe("https://heir.example/");
});
