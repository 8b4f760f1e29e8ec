import { randomUUID } from "node:crypto";
import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { Kysely, PostgresDialect } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import type { DB } from "../../../gen/database.ts";
import { VisitorsService } from "../../../gen/signpost/v1/visitors_service_pb.js";
import { ask, protocols } from "../../../test/support/ask.ts";
import { callContext } from "../../../test/support/call-context.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startVisits } from "../../../test/support/visits.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { jobCall } from "../../jobs/queue.ts";
import { defaultPlans } from "../../model/plans/plan-table.ts";
import { refreshAllPages } from "../../visitors/pages/refresh-pages.ts";
import { visitorsService } from "./service.ts";

const api = await startApi();

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await api.newWorkspace();
});

async function newVisitor(visitor: Record<string, string | number | boolean>): Promise<string> {
  const { json } = await workspace.rest("POST", "/v1/visitor/identify", { visitor });
  return json.visitor.id;
}

const firstNames = (visitors: { readonly firstName: string }[]) => visitors.map(({ firstName }) => firstName);

async function list(query: Record<string, string> = {}) {
  const { status, json } = await workspace.rest("GET", `/v1/visitors?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return json.json;
}

describe.each(["rest", "grpc"] as const)("search over %s", (protocol) => {
  const search = async (request: JsonObject) => {
    const answer = await ask(api, protocol, VisitorsService.method.search, request, workspace.token);
    // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
    return { reason: answer.reason, message: answer.message, page: (answer.body as any)?.json };
  };
  const filter = (key: string, operator: string, value = "") => ({
    key,
    operator: `VISITOR_ATTRIBUTE_FILTER_OPERATOR_${operator}`,
    value,
  });

  beforeEach(async () => {
    await newVisitor({
      $email: "ada@example.com",
      $firstName: "Ada",
      plan: "Pro",
      seats: 12,
      joined: "2026-11-01",
    });
    await newVisitor({
      $email: "bob@example.com",
      $firstName: "Bob",
      plan: "free",
      seats: 3,
      code: "3",
      active: true,
    });
    // The columns have Ada and Bob, and Cleo is read as she is.
    await refreshAllPages(api.db);
    await newVisitor({ $phone: "+14155550100", $firstName: "Cleo", plan: "" });
  });

  test.each([
    { filters: [filter("plan", "STRING_EQUALS", "Pro")], names: ["Ada"] },
    { filters: [filter("plan", "STRING_EQUALS", "pro")], names: [] },
    { filters: [filter("plan", "STRING_NOT_EQUALS", "Pro")], names: ["Cleo", "Bob"] },
    { filters: [filter("plan", "STRING_IS_EMPTY", "ignored")], names: ["Cleo"] },
    { filters: [filter("plan", "EXISTS")], names: ["Cleo", "Bob", "Ada"] },
    { filters: [filter("seats", "NOT_EXISTS")], names: ["Cleo"] },
    { filters: [filter("seats", "NUMBER_GREATER_THAN", "3")], names: ["Ada"] },
    { filters: [filter("seats", "NUMBER_GREATER_OR_EQUAL", "3")], names: ["Bob", "Ada"] },
    { filters: [filter("seats", "NUMBER_NOT_EQUALS", "3")], names: ["Ada"] },
    { filters: [filter("code", "NUMBER_EQUALS", "3")], names: [] },
    { filters: [filter("code", "STRING_EQUALS", "3")], names: ["Bob"] },
    { filters: [filter("joined", "DATE_BEFORE", "2026-11-02")], names: ["Ada"] },
    { filters: [filter("joined", "DATE_BEFORE_OR_EQUAL", "2026-11-01")], names: ["Ada"] },
    { filters: [filter("joined", "DATE_AFTER_OR_EQUAL", "2026-11-02")], names: [] },
    { filters: [filter("active", "BOOLEAN_IS_TRUE")], names: ["Bob"] },
    { filters: [filter("active", "BOOLEAN_IS_FALSE")], names: ["Cleo", "Ada"] },
    { filters: [filter("$email", "STRING_ENDS_WITH", "@example.com")], names: ["Bob", "Ada"] },
    { filters: [filter("$email", "STRING_IS_EMPTY")], names: ["Cleo"] },
    { filters: [filter("$phone", "EXISTS")], names: ["Cleo"] },
    {
      filters: [filter("$email", "STRING_IS_NOT_EMPTY"), filter("seats", "NUMBER_LESS_THAN", "10")],
      names: ["Bob"],
    },
    { filters: [filter("nothing", "STRING_IS_NOT_EMPTY")], names: [] },
  ])("finds who matches every filter: $filters", async ({ filters, names }) => {
    const { page } = await search({ attributeFilters: filters });
    expect(firstNames(page.visitors)).toEqual(names);
    expect(page.totalCount).toBe(String(names.length));
  });

  test.each([
    {
      fault: "21 filters",
      filters: Array(21).fill(filter("a", "STRING_IS_EMPTY")),
      reason: "TOO_MANY_FILTERS",
    },
    { fault: "no number", filters: [filter("seats", "NUMBER_EQUALS", "many")] },
    { fault: "no date", filters: [filter("joined", "DATE_AFTER", "2026-02-30")] },
    { fault: "a number of a reserved key", filters: [filter("$phone", "NUMBER_EQUALS", "1")] },
    { fault: "a reserved key that is not true", filters: [filter("$email", "BOOLEAN_IS_FALSE")] },
    { fault: "UNSPECIFIED", filters: [filter("plan", "UNSPECIFIED", "x")] },
    { fault: "an unknown reserved key", filters: [filter("$plan", "STRING_EQUALS", "x")] },
    { fault: "no operator", filters: [{ key: "plan" }] },
  ])("$fault: refused", async ({ filters, reason = "INVALID_ARGUMENT" }) => {
    const answer = await search({ attributeFilters: filters });
    expect(answer.reason).toBe(reason);
    expect(answer.message).toContain("attributeFilters");
  });

  test("takes 20 filters, and pages through them", async () => {
    const attributeFilters = Array(20).fill(filter("$firstName", "STRING_IS_NOT_EMPTY"));
    const { page: first } = await search({ attributeFilters, pageSize: 2 });
    expect(firstNames(first.visitors)).toEqual(["Cleo", "Bob"]);
    const next = { attributeFilters, pageSize: 2, pageToken: first.nextPageToken };
    expect(firstNames((await search(next)).page.visitors)).toEqual(["Ada"]);
    const others = { ...next, attributeFilters: attributeFilters.slice(1) };
    expect((await search(others)).reason).toBe("INVALID_PAGE_TOKEN");
  });

  test.each([
    ["ada@EX", ["Ada"]],
    ["cleo", ["Cleo"]],
    ["415555", ["Cleo"]],
    ["FREE", ["Bob"]],
    ["%", []],
    ["_", []],
    ["", ["Cleo", "Bob", "Ada"]],
  ])("text %j is looked for in names, addresses and attributes", async (text, names) => {
    expect(firstNames((await search({ search: text })).page.visitors)).toEqual(names);
  });
});

test("a first and a last name are looked for as they are written", async () => {
  await newVisitor({ $email: "ada@example.com", $firstName: "Ada", $lastName: "Lovelace" });
  expect((await list({ search: "ada love" })).visitors).toHaveLength(1);
});

test("a link that is unknown, deleted, expired or another workspace's is refused, in lists, searches and CSV", async () => {
  const newLink = async ({ rest }: TestWorkspace): Promise<string> =>
    (await rest("POST", "/v1/links", { destination: "https://example.com" })).json.link.id;
  const deleted = await newLink(workspace);
  await workspace.rest("DELETE", `/v1/links/${deleted}`);
  const expired = await newLink(workspace);
  await api.db
    .updateTable("links")
    .set({ expires_at: new Date(0) })
    .where("id", "=", expired)
    .execute();
  for (const linkId of [randomUUID(), deleted, expired, await newLink(await api.newWorkspace())])
    for (const responseFormat of ["RESPONSE_FORMAT_JSON", "RESPONSE_FORMAT_CSV"])
      for (const protocol of protocols)
        for (const method of [VisitorsService.method.list, VisitorsService.method.search]) {
          const { reason } = await ask(api, protocol, method, { linkId, responseFormat }, workspace.token);
          expect(reason).toBe("NOT_FOUND");
        }
});

test("an address finds its visitor whatever the case", async () => {
  await newVisitor({ $email: "ada@example.com", $firstName: "Ada" });
  await newVisitor({ $email: "ada@example.com.au", $firstName: "Other" });
  expect(firstNames((await list({ email: "ADA@example.com" })).visitors)).toEqual(["Ada"]);
});

test("days are those of the workspace's time zone", async () => {
  const { workspaceId } = workspace;
  await api.db
    .updateTable("workspaces")
    .set({ timezone: "Asia/Tokyo" })
    .where("id", "=", workspaceId)
    .execute();
  await newVisitor({ $email: "ada@example.com", seen: "2026-11-20T23:30:00Z" });
  const on = async (value: string) => {
    const attributeFilters = [
      { key: "seen", operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_DATE_EQUALS", value },
    ];
    const { json } = await workspace.rest("POST", "/v1/visitors/search", { attributeFilters });
    return json.json.totalCount;
  };
  expect([await on("2026-11-20"), await on("2026-11-21")]).toEqual(["0", "1"]);
});

describe("sorting", () => {
  let names: Map<string, string>;
  let links: { readonly id: string; readonly shortlink: string }[];
  // Ada: 3 visits of 1 link, 1 device. Bob: 2 visits of 2 links, 2 devices. Cleo and Dora: none.
  beforeEach(async () => {
    const visits = await startVisits(api, workspace);
    links = [await visits.newLink(), await visits.newLink()];
    const identify = async (name: string, link: number, browser: string) => {
      const { lbid } = await visits.visit(links[link]?.shortlink ?? "", browser);
      const visitor = { $email: `${name}@example.com`, $firstName: name };
      const { json } = await workspace.rest("POST", "/v1/visitor/identify", { lbid, visitor });
      names.set(json.visitor.id, name);
    };
    names = new Map();
    for (let count = 0; count < 3; count++) await identify("Ada", 0, "Firefox/140.0");
    await identify("Bob", 0, "Chrome/142.0");
    await refreshAllPages(api.db);
    await identify("Bob", 1, "Firefox/141.0");
    // Visits have the time of the machine, and the clock of the API is behind it.
    api.clock.advance(600_000);
    await newVisitor({ $email: "cleo@example.com", $firstName: "Cleo" });
    await newVisitor({ $email: "dora@example.com", $firstName: "Dora" });
  });

  test.each([
    ["UNSPECIFIED", "DESC", ["Dora", "Cleo", "Bob", "Ada"]],
    ["CREATED_AT", "ASC", ["Ada", "Bob", "Cleo", "Dora"]],
    ["VISIT_COUNT", "DESC", ["Ada", "Bob", "Dora", "Cleo"]],
    ["VISIT_COUNT", "ASC", ["Cleo", "Dora", "Bob", "Ada"]],
    ["DEVICE_COUNT", "DESC", ["Bob", "Ada", "Dora", "Cleo"]],
    ["QRCODE_COUNT", "DESC", ["Bob", "Ada", "Dora", "Cleo"]],
  ])("by %s %s, page by page, shows each visitor once", async (field, direction, expected) => {
    const sort = {
      sortField: `VISITOR_SORT_FIELD_${field}`,
      sortDirection: `SORT_DIRECTION_${direction}`,
      pageSize: "1",
    };
    const found: string[] = [];
    for (let pageToken = ""; ; ) {
      const page = await list({ ...sort, pageToken });
      found.push(...firstNames(page.visitors));
      expect(page.totalCount).toBe("4");
      expect(page.hasMore).toBe(page.nextPageToken !== "");
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(found).toEqual(expected);
  });

  test("a link shows its own visitors only", async () => {
    expect(firstNames((await list({ linkId: links[1]?.id ?? "" })).visitors)).toEqual(["Bob"]);
  });

  test("a link's attributes are those of its visitors", async () => {
    const { json } = await workspace.rest("GET", `/v1/visitors/attributes?linkId=${links[1]?.id}`);
    expect(json.attributeKeys).toEqual(["$email", "$firstName"]);
    expect((await workspace.rest("GET", `/v1/visitors/attributes?linkId=${randomUUID()}`)).status).toBe(404);
  });

  test("objects are embedded where they belong", async () => {
    const { visitors } = await list({ include: "devices,events,links" });
    const shown = visitors.map((each: { firstName: string; devices: []; events: []; links: [] }) => [
      each.firstName,
      each.devices.length,
      each.events.length,
      each.links.length,
    ]);
    expect(shown).toEqual([
      ["Dora", 0, 0, 0],
      ["Cleo", 0, 0, 0],
      ["Bob", 2, 2, 2],
      ["Ada", 1, 3, 1],
    ]);
  });
});

test("keys are listed with the type that most values have, reserved ones first", async () => {
  expect((await workspace.rest("GET", "/v1/visitors/attributes")).json).toEqual({
    attributeKeys: [],
    attributes: [],
  });
  await newVisitor({ $email: "ada@example.com", $lastName: "Lovelace", seats: 3, Plan: "pro" });
  await newVisitor({ $email: "bob@example.com", seats: 4, plan: "pro" });
  await newVisitor({ $email: "cleo@example.com", seats: "some" });
  const { json } = await workspace.rest("GET", "/v1/visitors/attributes");
  expect(json.attributeKeys).toEqual(["$email", "$lastName", "Plan", "plan", "seats"]);
  expect(json.attributes.at(-1)).toEqual({ key: "seats", type: "VISITOR_ATTRIBUTE_TYPE_NUMBER" });
});

test("as CSV a visitor is a row, with attributes as JSON and formulas made harmless", async () => {
  await newVisitor({ $email: "ada@example.com", $firstName: "=1+1", plan: 'pro, "plus"' });
  await newVisitor({ $email: "bob@example.com" });
  const query = "responseFormat=RESPONSE_FORMAT_CSV&pageSize=1&sortDirection=SORT_DIRECTION_ASC";
  const { json } = await workspace.rest("GET", `/v1/visitors?${query}`);
  expect(json.json).toBeUndefined();
  expect(json.csv.contentType).toBe("text/csv");
  expect(json.csv.nextPageToken).not.toBe("");
  const [header, row, end] = json.csv.csvData.split("\r\n");
  expect(header).toBe(
    "id,workspaceId,email,phone,firstName,lastName,attributes,deviceCount,qrcodeCount,visitCount,createdAt,updatedAt",
  );
  expect(row).toContain(",ada@example.com,,'=1+1,,");
  expect(row).toContain('\\""plus\\""');
  expect(end).toBe("");
});

test("a page is read by one statement, counted by one, and embeds each kind of object by one more", async () => {
  for (const name of ["ada", "bob", "cleo"]) await newVisitor({ $email: `${name}@example.com`, plan: "pro" });
  const statements: string[] = [];
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool: api.database.pool }),
    log: ({ query }) => void statements.push(query.sql),
  });
  const { workspaceId } = workspace;
  const context = callContext(db, workspaceId);
  const entitlements = createEntitlements({ plans: defaultPlans, now: api.now });
  // What a workspace is allowed is in memory.
  await entitlements.of(workspaceId, db);
  const { list: listVisitors } = visitorsService({
    now: api.now,
    shortUrl: "https://short.test",
    entitlements,
    jobCall,
  });
  const count = async (init: MessageInitShape<typeof VisitorsService.method.list.input>) => {
    statements.length = 0;
    await listVisitors(create(VisitorsService.method.list.input, init), context);
    return statements.length;
  };
  expect(await count({})).toBe(2);
  expect(await count({ include: ["devices", "events", "links"] })).toBe(5);
});
