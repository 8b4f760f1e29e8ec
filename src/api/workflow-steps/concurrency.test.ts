import { beforeEach, expect, test, vi } from "vitest";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { startTestScan } from "../../../test/support/start-scan.ts";
import { loadPlan } from "../../db/load-plan.ts";
import { compilePlan } from "../../model/workflow/plan.ts";
import { decide } from "../../workflow/decide.ts";
import type { Visit } from "../../workflow/visit.ts";

const api = await startApi();
const second = await startApi({ database: api.database });

let workspace: TestWorkspace;
let link: { id: string; shortlink: string };
let entry: string;
let redirect: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  const { json } = await workspace.rest("POST", "/v1/links", { destination: "https://a.example/" });
  link = json.link;
  [entry, redirect] = json.workflowSteps.map(({ id }: { id: string }) => id);
});

const steps = () => `/v1/links/${link.id}/workflow-steps`;

async function add(eventAction: string, payload: object, more: object = {}) {
  const body = { eventAction: `EVENT_ACTION_${eventAction}`, payload, ...more };
  const { status, json } = await workspace.rest("POST", steps(), body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.workflowStep.id;
}

const patience = { timeout: 20_000, interval: 20 };

test("an edit by any process reaches the scans of a running one", async () => {
  const scan = await startTestScan(api.database);
  const visit = async () => (await scan.ask(`/${link.shortlink}`)).headers.location;
  const other = second.rest(workspace.token);
  expect(await visit()).toBe("https://a.example/");
  const payload = { clientRedirect: { destination: "https://b.example/" } };
  expect((await other("PATCH", `${steps()}/${redirect}`, { payload })).status).toBe(200);
  await vi.waitFor(async () => expect(await visit()).toBe("https://b.example/"), patience);
  await other("DELETE", `${steps()}/${entry}/branches/next/connection`);
  await vi.waitFor(async () => expect(await visit()).toBeUndefined(), patience);
  await other("PUT", `${steps()}/${entry}/branches/next/connection`, { nextStepId: redirect });
  await vi.waitFor(async () => expect(await visit()).toBe("https://b.example/"), patience);
});

/** A visit of which nothing is known. */
const visit: Visit = {
  query: "",
  lbid: () => "",
  dataCollection: "BASIC",
  visitType: "FIRST",
  country: () => "DE",
  device: () => ({
    deviceType: "UNKNOWN",
    deviceActor: "HUMAN",
    platformName: "",
    browserName: "",
    deviceBrand: "",
  }),
  attributes: undefined,
};

test("no plan holds half an edit: new branches never come without where they lead", async () => {
  const condition = await add("COUNTRY_CONDITION", { countryCondition: { elseNextStepId: redirect } });
  const connect = (from: string, to: string) =>
    workspace.rest("PUT", `${steps()}/${from}/branches/next/connection`, { nextStepId: to });
  expect((await connect(entry, condition)).status).toBe(200);
  const other = await add("CLIENT_REDIRECT", { clientRedirect: { destination: "https://b.example/" } });
  let isEditing = true;
  const edit = async () => {
    for (let count = 0; count < 40; count++) {
      const nextStepId = count % 2 === 0 ? redirect : other;
      const countries = count % 3 === 0 ? [] : [{ countryCode: "DE", nextStepId }];
      const payload = { countryCondition: { countries, elseNextStepId: nextStepId } };
      const changed = await workspace.rest("PATCH", `${steps()}/${condition}`, { payload });
      const page = await add("FORM_SUBMIT", {}, { insertBefore: condition });
      const connected = await connect(entry, condition);
      const deleted = await workspace.rest("DELETE", `${steps()}/${page}`);
      expect([changed.status, connected.status, deleted.status]).toEqual([200, 200, 200]);
    }
  };
  const edits = edit().finally(() => {
    isEditing = false;
  });
  const ends = new Set<string>();
  while (isEditing) {
    const row = await loadPlan(api.db, "", link.shortlink);
    if (row === undefined) throw new Error("the link is gone");
    ends.add(decide(compilePlan(row, "https://short.test/x"), visit, api.now()).end.kind);
  }
  await edits;
  expect([...ends].filter((kind) => kind !== "redirect" && kind !== "interaction")).toEqual([]);
  expect(ends).toContain("redirect");
});

test("steps inserted at the same time stand in one row, and none is lost", async () => {
  const rests = [workspace.rest, second.rest(workspace.token)];
  const body = { eventAction: "EVENT_ACTION_FORM_SUBMIT", insertBefore: redirect };
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) => rests[index % 2]?.("POST", steps(), body)),
  );
  expect(replies.map((reply) => reply?.status)).toEqual(replies.map(() => 200));
  const { workflowSteps } = (await workspace.rest("GET", steps())).json;
  expect(workflowSteps).toHaveLength(22);
  const next = new Map<string, string[]>();
  for (const { id, childStepIds } of workflowSteps) next.set(id, childStepIds);
  let length = 1;
  for (let at = entry; at !== redirect; length++) {
    const [child = "", ...others] = next.get(at) ?? [];
    expect(others).toEqual([]);
    at = child;
  }
  expect(length).toBe(22);
});

test("two conditions connected to each other at the same time do not become a circle", async () => {
  for (let count = 0; count < 5; count++) {
    const [one, two] = [await add("COUNTRY_CONDITION", {}), await add("COUNTRY_CONDITION", {})];
    const connect = (from: string, to: string) =>
      workspace.rest("PUT", `${steps()}/${from}/branches/else/connection`, { nextStepId: to });
    const replies = await Promise.all([connect(one, two), connect(two, one)]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  }
});

test("a hundred steps made at the same time do not become more than a hundred", async () => {
  const make = () => workspace.rest("POST", steps(), { eventAction: "EVENT_ACTION_FORM_SUBMIT" });
  const replies = await Promise.all(Array.from({ length: 100 }, make));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(98);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(2);
});

test("a link deleted while its steps are edited leaves no step behind", async () => {
  const make = () =>
    workspace.rest("POST", steps(), { eventAction: "EVENT_ACTION_FORM_SUBMIT", insertBefore: redirect });
  const drop = () => workspace.rest("DELETE", `/v1/links/${link.id}`);
  const replies = await Promise.all([make(), make(), make(), drop(), make(), make()]);
  expect(replies.every(({ status }) => status === 200 || status === 404)).toBe(true);
  for (const table of ["workflow_steps", "workflow_connections"] as const)
    expect(await api.db.selectFrom(table).selectAll().where("link_id", "=", link.id).execute()).toEqual([]);
});

test("a refused edit leaves the link's `updatedAt`, and one that is made moves it", async () => {
  const updatedAt = async () => (await workspace.rest("GET", `/v1/links/${link.id}`)).json.link.updatedAt;
  const before = await updatedAt();
  await workspace.rest("POST", steps(), { eventAction: "EVENT_ACTION_FORM_SUBMIT", insertBefore: entry });
  await workspace.rest("PUT", `${steps()}/${entry}/branches/next/connection`, { nextStepId: redirect });
  expect(await updatedAt()).toBe(before);
  await workspace.rest("POST", steps(), { eventAction: "EVENT_ACTION_FORM_SUBMIT" });
  expect(Date.parse(await updatedAt())).toBeGreaterThan(Date.parse(before));
});
