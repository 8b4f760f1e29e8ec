import { Code, ConnectError } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import { CustomDomain_Status } from "../../../gen/signpost/v1/custom_domain_pb.js";
import { CustomDomainsService } from "../../../gen/signpost/v1/custom_domains_service_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { tickingClock } from "../../../test/support/clock.ts";
import { startNameServer } from "../../../test/support/name-server.ts";
import { startApi, type TestWorkspace, testDomains } from "../../../test/support/start-api.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { checkDueDomains } from "../../domains/check-domain.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";

const target = "domains.short.test";
const clock = tickingClock();
const dns = await startNameServer();
const domains = testDomains({ servers: [dns.server], timeoutMs: 30_000, nowMs: () => clock.now().getTime() });
const api = await startApi({ clock, deps: { domains } });

const secondMs = 1_000;
const dayMs = 24 * 60 * 60 * secondMs;

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
let made = 0;
/** A name of its own for each test. */
let name: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
  name = `links-${++made}.example.com`;
});

const register = (text: string, call = rest) => call("POST", "/v1/custom-domains", { name: text });
async function create(text = name, call = rest) {
  const { status, json } = await register(text, call);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.customDomain;
}
const read = async (id: string) => (await rest("GET", `/v1/custom-domains/${id}`)).json.customDomain;
const check = (id: string) => rest("POST", `/v1/custom-domains/${id}/check`);
async function instructionsOf(id: string, call = rest) {
  return (await call("GET", `/v1/custom-domains/${id}/validation_instructions`)).json.validations;
}
/** Sets the records of a name as the instructions say. */
async function setRecords(id: string, call = rest) {
  const [proof, routing] = await instructionsOf(id, call);
  dns.zone.set(proof.name, { TXT: [proof.value] }).set(routing.name, { CNAME: [routing.value] });
}
/** Registers a name, sets its records, and checks it until links can be made on it. */
async function activate(text = name, call = rest) {
  const { id } = await create(text, call);
  await setRecords(id, call);
  clock.advance(10 * secondMs);
  const { json } = await call("POST", `/v1/custom-domains/${id}/check`);
  expect(json.customDomain.status).toBe("STATUS_ACTIVE");
  return json.customDomain;
}
/** Everything that the database knows of domains. */
async function rows() {
  const { rows } = await api.database.pool.query(
    `select (select jsonb_agg(to_jsonb(d) order by id) from custom_domains d) as domains,
      (select jsonb_agg(to_jsonb(n) order by name) from domain_names n) as names`,
  );
  return rows[0];
}
const link = (fields: object, call = rest) =>
  call("POST", "/v1/links", { destination: "https://example.com", ...fields });

test("a new domain is checked at once, and says what is missing; each check takes it further", async () => {
  const domain = await create(name.toUpperCase());
  expect(domain).toMatchObject({
    name,
    workspaceId: workspace.workspaceId,
    status: "STATUS_DOMAIN_PENDING",
    rootDestination: "",
    lastError: expect.stringContaining(
      `${name} has no address and no CNAME record. Expected: a CNAME record to ${target}`,
    ),
  });
  expect(domain.lastError).toContain(`_svc-verify.${name} has no TXT record`);
  expect(domain).toHaveProperty("lastCheckedAt");
  expect(domain).not.toHaveProperty("activatedAt");
  const [proof, routing] = await instructionsOf(domain.id);
  expect(proof).toEqual({
    purpose: "PURPOSE_OWNERSHIP",
    type: "TYPE_TXT",
    name: `_svc-verify.${name}`,
    value: expect.stringMatching(/^[\w-]{32}$/),
  });
  expect(routing).toEqual({
    purpose: "PURPOSE_DOMAIN_VERIFICATION",
    type: "TYPE_CNAME",
    name,
    value: target,
  });
  dns.zone.set(name, { CNAME: [target] });
  clock.advance(10 * secondMs);
  const pointing = (await check(domain.id)).json.customDomain;
  expect(pointing).toMatchObject({ status: "STATUS_VERIFICATION_PENDING" });
  dns.zone.set(proof.name, { TXT: [proof.value] });
  clock.advance(10 * secondMs);
  const active = (await check(domain.id)).json.customDomain;
  expect(active).toMatchObject({ status: "STATUS_ACTIVE", lastError: "", activatedAt: expect.any(String) });
  expect(await read(domain.id)).toEqual(active);
});

test("the operations are the same over gRPC", async () => {
  const client = workspace.client(CustomDomainsService);
  const { customDomain } = await client.create({ name: "bücher.example.com" });
  const id = customDomain?.id ?? "";
  expect(customDomain?.name).toBe("xn--bcher-kva.example.com");
  expect((await client.get({ id })).customDomain).toEqual(customDomain);
  const { validations } = await client.validationInstructions({ id });
  dns.zone
    .set("xn--bcher-kva.example.com", { CNAME: [target] })
    .set(validations[0]?.name ?? "", { TXT: [validations[0]?.value ?? ""] });
  clock.advance(10 * secondMs);
  expect((await client.check({ id })).customDomain?.status).toBe(CustomDomain_Status.ACTIVE);
  const early = await client.check({ id }).catch((error: unknown) => ConnectError.from(error));
  expect(early).toMatchObject({ code: Code.ResourceExhausted });
  expect(
    (await client.update({ id, rootDestination: "https://example.com/home" })).customDomain?.rootDestination,
  ).toBe("https://example.com/home");
  expect(
    (await client.update({ id, updateMask: { paths: ["root_destination"] } })).customDomain?.rootDestination,
  ).toBe("");
  expect((await client.getSetupGuide({ id })).setupGuide?.records.map(({ detected }) => detected)).toEqual([
    true,
    true,
  ]);
  expect(
    (await client.list({ status: CustomDomain_Status.ACTIVE })).customDomains.map((one) => one.id),
  ).toEqual([id]);
  expect((await client.list({ status: CustomDomain_Status.EXPIRED })).totalCount).toBe(0n);
  await client.delete({ id });
  const gone = await client.get({ id }).catch((error: unknown) => ConnectError.from(error));
  expect(gone).toMatchObject({ code: Code.NotFound });
});

test.each([
  ["localhost"],
  ["printer.local"],
  ["links.internal"],
  ["127.0.0.1"],
  ["1.2.3"],
  ["0x7f.1"],
  ["[::1]"],
  ["co.uk"],
  ["github.io"],
  ["com"],
  ["api.test"],
  ["short.test"],
  ["a..example.com"],
  ["-a.example.com"],
  ["a_b.example.com"],
  ["ab--cd.example.com"],
  ["xn--zzzz.example.com"],
  ["example.com/links"],
  ["https://example.com"],
  ["ex%61mple.com"],
  ["*.example.com"],
  [`${"a".repeat(64)}.example.com`],
  [`${"a.".repeat(122)}example.com`],
])("a name that nobody can bring is refused, and nothing is written: %s", async (text) => {
  const before = await rows();
  const { status, json } = await register(text);
  expect([status, json.error?.message.split(":")[0]]).toEqual([400, "name"]);
  expect(await rows()).toEqual(before);
});

test("a name of the service is refused, and so are names below it", async () => {
  const ours = await startApi({
    database: api.database,
    deps: { domains: testDomains({ ownHosts: ["go.example.com"] }) },
  });
  const { rest: call } = await ours.newWorkspace();
  for (const text of ["go.example.com", "links.GO.example.com."]) {
    const { status, json } = await register(text, call);
    expect([status, json.error.message]).toEqual([
      400,
      "name: must be a name of your own: go.example.com belongs to this service",
    ]);
  }
  expect((await register("example.com", call)).status).toBe(200);
});

test("of 50 workspaces that want one name at once, one gets it", async () => {
  const all = await Promise.all(Array.from({ length: 50 }, () => api.newWorkspace()));
  const answers = await Promise.all(all.map((each) => register(name, each.rest)));
  const codes = answers.map(({ status, json }) => (status === 200 ? "OK" : json.error.codeType));
  expect(codes.toSorted()).toEqual([...Array(49).fill("DOMAIN_TAKEN"), "OK"]);
  const { domains: stored } = await rows();
  expect(stored.filter((row: { name: string }) => row.name === name)).toHaveLength(1);
});

test("a check too soon is refused with the time to wait, and of many at once one asks name servers", async () => {
  const { id } = await create();
  expect((await check(id)).status).toBe(200);
  const early = await check(id);
  expect([early.status, early.json.error.codeType]).toEqual([429, "RATE_LIMITED"]);
  expect(Number(early.headers["retry-after"])).toBeGreaterThan(0);
  clock.advance(10 * secondMs);
  dns.asked.length = 0;
  const answers = await Promise.all(Array.from({ length: 30 }, () => check(id)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(29).fill(429)]);
  expect(dns.asked.filter((question) => question === `TXT _svc-verify.${name}`)).toHaveLength(1);
});

test("a domain that is not proved in seven days is deleted, and its name is free for others at once", async () => {
  const { id } = await create();
  const other = await api.newWorkspace();
  expect((await register(name, other.rest)).json.error.codeType).toBe("DOMAIN_TAKEN");
  const due = () => checkDueDomains({ db: api.db, domains, now: clock.now }, new AbortController().signal);
  clock.advance(7 * dayMs - 60 * secondMs);
  await due();
  expect(await read(id)).toMatchObject({ status: "STATUS_DOMAIN_PENDING" });
  clock.advance(60 * secondMs);
  await due();
  expect(await read(id)).toBeUndefined();
  expect((await register(name, other.rest)).status).toBe(200);
});

describe("a released name", () => {
  test("comes back to its workspace at once", async () => {
    const { id } = await activate();
    expect((await rest("DELETE", `/v1/custom-domains/${id}`)).json).toEqual({});
    expect((await rest("DELETE", `/v1/custom-domains/${id}`)).status).toBe(404);
    expect(await create()).toMatchObject({ status: "STATUS_ACTIVE" });
  });

  test.each(["its domain", "its workspace"])(
    "is nobody else's for 90 days after %s was deleted, unless it is proved",
    async (deleted) => {
      const { id } = await activate();
      if (deleted === "its domain") await rest("DELETE", `/v1/custom-domains/${id}`);
      else await rest("DELETE", "/v1/workspace");
      const [proving, waiting] = [await api.newWorkspace(), await api.newWorkspace()];
      // Everything still points here: that alone gives nobody the name.
      const refused = await register(name, proving.rest);
      expect([refused.status, refused.json.error.codeType]).toEqual([409, "DOMAIN_TAKEN"]);
      const { txtName, txtValue } = refused.json.error.details.find(
        (detail: { metadata?: object }) => detail.metadata !== undefined,
      ).metadata;
      expect((await register(name, waiting.rest)).json.error.message).not.toContain(txtValue);
      dns.zone.set(txtName, { TXT: [txtValue] });
      expect((await register(name, waiting.rest)).status).toBe(409);
      const taken = await create(name, proving.rest);
      expect(taken).toMatchObject({ status: "STATUS_ACTIVE", workspaceId: proving.workspaceId });
      await proving.rest("DELETE", `/v1/custom-domains/${taken.id}`);
      clock.advance(90 * dayMs);
      expect(await create(name, waiting.rest)).toMatchObject({ status: "STATUS_VERIFICATION_PENDING" });
    },
  );
});

test("a deleted workspace that is restored finds its domains, without those that others have proved", async () => {
  const [kept, lost] = [await activate(), await activate(`other-${name}`)];
  await link({ customDomainId: lost.id, shortlink: "menu" });
  await rest("DELETE", "/v1/workspace");
  const heir = await api.newWorkspace();
  const refused = await register(lost.name, heir.rest);
  const { metadata } = refused.json.error.details.find(
    (detail: { metadata?: object }) => detail.metadata !== undefined,
  );
  dns.zone.set(metadata.txtName, { TXT: [metadata.txtValue] });
  const taken = await create(lost.name, heir.rest);
  // The short links of the former holder are free for the new one.
  const made = await link({ customDomainId: taken.id, shortlink: "menu" }, heir.rest);
  expect(made.json.link.entrypoint).toBe(`https://${lost.name}/menu`);
  const { restoreWorkspace } = await import("../../db/end-workspaces.ts");
  expect(await restoreWorkspace(api.db, workspace.workspaceId, clock.now())).toEqual([lost.name]);
  const token = await api.scopedToken(workspace.workspaceId, ["domains:write", "links:write"]);
  const call = api.rest(token);
  const list = (await call("GET", "/v1/custom-domains")).json.customDomains;
  expect(list.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
    [lost.id, "STATUS_INACTIVE"],
    [kept.id, "STATUS_ACTIVE"],
  ]);
  expect((await link({ customDomainId: lost.id }, call)).json.error.codeType).toBe("DOMAIN_NOT_ACTIVE");
  clock.advance(10 * secondMs);
  const checked = await call("POST", `/v1/custom-domains/${lost.id}/check`);
  expect(checked.json.customDomain).toMatchObject({
    status: "STATUS_INACTIVE",
    lastError: expect.stringContaining("Another workspace has this name now"),
  });
});

test("a domain with links is not deleted; its links move with their short links, all or none", async () => {
  const [from, to] = [await activate(), await activate(`new-${name}`)];
  const menu = (await link({ customDomainId: from.id, shortlink: "menu" })).json.link;
  const card = (await link({ customDomainId: from.id, shortlink: "card" })).json.link;
  const taken = (await link({ customDomainId: to.id, shortlink: "card" })).json.link;
  const remove = (query = "") => rest("DELETE", `/v1/custom-domains/${from.id}${query}`);
  expect((await remove()).json.error).toMatchObject({ code: 412, codeType: "DOMAIN_IN_USE" });
  expect((await remove(`?moveLinksTo=${to.id}`)).json.error).toMatchObject({
    codeType: "SHORTLINK_TAKEN",
    message: expect.stringContaining("card"),
  });
  expect((await remove(`?moveLinksTo=${from.id}`)).status).toBe(400);
  expect((await remove("?moveLinksTo=x")).json.error.codeType).toBe("INVALID_ID");
  expect((await remove(`?moveLinksTo=${to.id}&moveLinksToDefault=true`)).json.error.codeType).toBe(
    "MUTUALLY_EXCLUSIVE_FIELDS",
  );
  const entrypoint = async (id: string) => (await rest("GET", `/v1/links/${id}`)).json.link.entrypoint;
  expect(await entrypoint(menu.id)).toBe(`https://${name}/menu`);
  await rest("DELETE", `/v1/links/${taken.id}`);
  // A deleted link's name is reserved on its own host.
  expect((await remove(`?moveLinksTo=${to.id}`)).json.error.codeType).toBe("SHORTLINK_TAKEN");
  await rest("DELETE", `/v1/links/${card.id}`);
  expect((await remove(`?moveLinksTo=${to.id}`)).json).toEqual({});
  const moved = (await rest("GET", `/v1/links/${menu.id}?include=customDomain`)).json.link;
  expect(moved).toMatchObject({
    customDomainId: to.id,
    entrypoint: `https://new-${name}/menu`,
    customDomain: { name: `new-${name}` },
  });
  expect(moved).toHaveProperty("qrcodePendingUpdateSince");
  const free = await rest("GET", `/v1/links/shortlink-availability?shortlink=menu&customDomainId=${to.id}`);
  expect(free.json).toEqual({ available: false });
  expect((await rest("DELETE", `/v1/custom-domains/${to.id}?moveLinksToDefault=true`)).json).toEqual({});
  expect(await entrypoint(menu.id)).toBe("https://short.test/menu");
});

test("links are made on ACTIVE and RENEWAL_PENDING domains only, alone or many at once", async () => {
  const { id } = await activate();
  const set = (status: "ACTIVE" | "RENEWAL_PENDING" | "EXPIRED" | "VERIFICATION_PENDING") =>
    api.db.updateTable("custom_domains").set({ status }).where("id", "=", id).execute();
  for (const status of ["ACTIVE", "RENEWAL_PENDING"] as const) {
    await set(status);
    expect((await link({ customDomainId: id })).status).toBe(200);
  }
  for (const status of ["EXPIRED", "VERIFICATION_PENDING"] as const) {
    await set(status);
    expect((await link({ customDomainId: id })).json.error).toMatchObject({
      code: 412,
      codeType: "DOMAIN_NOT_ACTIVE",
    });
    const many = await rest("POST", "/v1/links/batch", [
      { destination: "https://example.com", customDomainId: id },
    ]);
    expect(many.json.error).toMatchObject({ code: 412, codeType: "DOMAIN_NOT_ACTIVE" });
  }
});

test("links are listed by their domain, and another workspace's domain is unknown", async () => {
  const { id } = await activate();
  const own = (await link({ customDomainId: id })).json.link;
  await link({});
  const list = await rest("GET", `/v1/links?customDomainId=${id}`);
  expect([list.json.totalCount, list.json.links.map((each: { id: string }) => each.id)]).toEqual([
    "1",
    [own.id],
  ]);
  const all = await workspace.client(LinksService).list({});
  expect(all.totalCount).toBe(2n);
  const stranger = await api.newWorkspace();
  expect((await stranger.rest("GET", `/v1/links?customDomainId=${id}`)).status).toBe(404);
});

test("the root destination is judged as other destinations are, and cannot lead back", async () => {
  const { id } = await create();
  const patch = (rootDestination: unknown) => rest("PATCH", `/v1/custom-domains/${id}`, { rootDestination });
  for (const wrong of [
    "javascript:alert(1)",
    "no address",
    `https://${name}`,
    `https://${name}/menu`,
    "https://short.test/menu",
  ]) {
    const { status, json } = await patch(wrong);
    expect([status, json.error.codeType], wrong).toEqual([400, "INVALID_DESTINATION"]);
  }
  await api.db
    .insertInto("blocked_hosts")
    .values({ host: "bad.example", reason: "for a test", created_at: clock.now() })
    .onConflict((on) => on.doNothing())
    .execute();
  expect((await patch("https://www.bad.example/x")).json.error.codeType).toBe("MALICIOUS_URL");
  expect((await read(id)).rootDestination).toBe("");
  const { json } = await patch("https://example.com/home");
  expect(json.customDomain.rootDestination).toBe("https://example.com/home");
  expect((await patch("https://example.com/home")).json).toEqual(json);
  const renamed = await rest("PATCH", `/v1/custom-domains/${id}`, { name: "other.example.com" });
  expect(renamed.json).toEqual(json);
  expect((await patch("")).json.customDomain.rootDestination).toBe("");
});

test("a plan's limit of domains holds when many are made at once, and a domain that is refused leaves no name", async () => {
  const plans = readPlanTable({ plans: { ENTERPRISE: { limits: { CUSTOM_DOMAINS: 2 } } } }, true, []);
  const entitlements = createEntitlements({ plans, now: clock.now });
  const limited = await startApi({ database: api.database, clock, deps: { domains, entitlements } });
  const { rest: call } = await limited.newWorkspace();
  const answers = await Promise.all([1, 2, 3, 4].map((place) => register(`${place}.${name}`, call)));
  const codes = answers.map(({ status, json }) => (status === 200 ? "OK" : json.error.codeType));
  expect(codes.toSorted()).toEqual(["OK", "OK", "PLAN_LIMIT_REACHED", "PLAN_LIMIT_REACHED"]);
  const { names } = await rows();
  expect(names.filter((row: { name: string }) => row.name.endsWith(name))).toHaveLength(2);
});

describe("a setup guide", () => {
  const guideOf = async (id: string) =>
    (await rest("GET", `/v1/custom-domains/${id}/setup-guide`)).json.setupGuide;

  test("knows the provider by the zone's name servers, and what is set already", async () => {
    const zone = `zone-${made}.com`;
    const { id } = await create(`links.${zone}`);
    dns.zone.set(zone, { NS: ["ada.ns.cloudflare.com", "bob.ns.cloudflare.com"] });
    dns.zone.set(`links.${zone}`, { CNAME: [target] });
    const guide = await guideOf(id);
    expect(guide).toMatchObject({
      customDomainId: id,
      domain: `links.${zone}`,
      zone,
      host: "links",
      nameservers: ["ada.ns.cloudflare.com", "bob.ns.cloudflare.com"],
      dnsProvider: "DNS_PROVIDER_CLOUDFLARE",
      dnsProviderName: "Cloudflare",
      dnsSettingsUrl: `https://dash.cloudflare.com/?to=/:account/${zone}/dns/records`,
      hostFieldLabel: "Name",
      hints: ["CUSTOM_DOMAIN_SETUP_HINT_CLOUDFLARE_DNS_ONLY"],
    });
    expect(guide.records).toMatchObject([
      {
        purpose: "DNS_RECORD_PURPOSE_ROUTING",
        type: "DNS_RECORD_TYPE_CNAME",
        host: "links",
        value: target,
        required: true,
        detected: true,
      },
      {
        purpose: "DNS_RECORD_PURPOSE_OWNERSHIP",
        type: "DNS_RECORD_TYPE_TXT",
        host: "_svc-verify.links",
        required: true,
        detected: false,
      },
    ]);
    // Look-ups are kept for a minute.
    dns.zone.delete(`links.${zone}`);
    expect((await guideOf(id)).records[0].detected).toBe(true);
    clock.advance(60 * secondMs);
    expect((await guideOf(id)).records[0].detected).toBe(false);
  });

  test.each([
    ["ns1.domaincontrol.com", "DNS_PROVIDER_GODADDY", "@"],
    ["ns-12.awsdns-34.co.uk", "DNS_PROVIDER_AWS_ROUTE53", ""],
    ["ns1.of-nobody.example", "DNS_PROVIDER_UNKNOWN", "@"],
  ])("types the apex as the provider wants it: %s", async (server, dnsProvider, host) => {
    const zone = `apex-${made}.com`;
    dns.zone.set(zone, { NS: [server] });
    const guide = await guideOf((await create(zone)).id);
    expect(guide).toMatchObject({ zone, dnsProvider, host, hints: ["CUSTOM_DOMAIN_SETUP_HINT_APEX_DOMAIN"] });
  });

  test("without name servers says so, and is no error", async () => {
    const guide = await guideOf((await create(`nowhere-${made}.com`)).id);
    expect(guide).toMatchObject({
      zone: "",
      nameservers: [],
      dnsProvider: "DNS_PROVIDER_UNKNOWN",
      dnsSettingsUrl: "",
      host: `nowhere-${made}.com`,
      hints: ["CUSTOM_DOMAIN_SETUP_HINT_NAMESERVERS_NOT_FOUND"],
    });
  });
});

test("a sandbox has no domains, and its list is empty", async () => {
  const sandbox = await api.newSandbox(workspace);
  const { status, json } = await register(name, sandbox.rest);
  expect([status, json.error.codeType]).toEqual([403, "NOT_AVAILABLE_IN_SANDBOX"]);
  expect((await sandbox.rest("GET", "/v1/custom-domains")).json).toEqual({
    customDomains: [],
    nextPageToken: "",
    totalCount: "0",
  });
});
