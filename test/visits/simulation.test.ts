import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/db/open.ts";
import { createTurns } from "../../src/db/turns.ts";
import { seal } from "../../src/lib/sealed.ts";
import { parseDate, parseNumber } from "../../src/model/visitors/attribute-operators.ts";
import { classifyUserAgent } from "../../src/scan/device/classify.ts";
import { openGeography } from "../../src/scan/device/geography.ts";
import { insertWorkflow, type TestWorkflow } from "../support/insert-workflow.ts";
import { startApi, type TestWorkspace } from "../support/start-api.ts";
import { type Answer, startTestScan, type TestScan } from "../support/start-scan.ts";
import { isExternalRun } from "../support/start-service.ts";
import { formAction } from "../support/visitor.ts";
import { type RandomVisit, type RandomWorkflow, visit, workflow, zones } from "./random-workflows.ts";

/*
 * A simulation predicts a real visit: random visitors open random workflows through HTTP, and their traces, journeys,
 * destinations and profiles are compared with the answers of `Simulate`.
 */
const seed = 20_261_121;
/** Fewer on an external server: the engine is the same, and only the storage differs. */
const workflowCount = isExternalRun ? 40 : 120;
const visitsEach = 5;
/** Several workflows are visited at the same moment, because the scan runtime has one clock. */
const workflowsAtOnce = 20;

/** The real visit that each part of a simulation is compared with. */
interface Reality {
  readonly eventId: string;
  readonly visitorId: string;
  readonly location: string;
  readonly answers: readonly object[];
}

/** A visit to make, with its link. */
interface Planned extends RandomVisit {
  readonly scan: TestScan;
  readonly workspace: TestWorkspace;
  readonly link: TestWorkflow<string>;
  /** Unique among all visits. */
  readonly number: number;
}

/** The data-collection levels of the workspaces that differ from the default. */
const levels: Readonly<Record<string, "NONE" | "ADVANCED">> = {
  "Pacific/Apia": "NONE",
  "Europe/Berlin": "ADVANCED",
};

const api = await startApi();
const geography = await openGeography();
const hour = 3_600_000;
const passwordKey = Buffer.from("00".repeat(32), "hex");
const clock = { now: new Date() };

test("a simulation takes the same steps as a real visit, in 600 visits of random workflows", async () => {
  const scan = await startTestScan(api.database, { now: () => clock.now });
  const ends = await compareAll(scan, fc.sample(workflow, { numRuns: workflowCount, seed }));
  if (isExternalRun) return;
  // Every kind of end occurs often enough to be meaningful.
  for (const kind of ["REDIRECT", "PAGE", "WAITING", "PREVIEW", "FALLBACK"])
    expect(ends.get(`KIND_${kind}`), kind).toBeGreaterThan(20);
}, 600_000);

test("a simulation also matches without the database, in workflows that ask nothing of the visitor's data", async () => {
  const away = openDatabase({
    connection: { host: "127.0.0.1", port: 1, user: "nobody", database: "nothing" },
    poolSize: 2,
    statementTimeoutMs: 1_000,
    onError: () => {},
  });
  onTestFinished(() => away.close());
  const turns = createTurns(away.db, { connections: 2 });
  const scan = await startTestScan(api.database, { now: () => clock.now, turns });
  const made = fc.sample(workflow, { numRuns: workflowCount / 4, seed: seed + 1 });
  await compareAll(scan, made.filter(asksNothing), keepsCookie);
}, 600_000);

/**
 * Whether the cookie alone can tell that a visitor returns. Programs keep no cookie; the database knows them by their
 * look.
 */
function keepsCookie({ userAgent }: RandomVisit): boolean {
  const { deviceActor } = classifyUserAgent(userAgent);
  return deviceActor !== "BOT" && deviceActor !== "AGENT";
}

/** Whether no step depends on what is stored of the visitor. */
function asksNothing({ steps }: RandomWorkflow): boolean {
  return Object.values(steps).every(
    ({ action, payload }) =>
      action !== "VISITOR_DATA_CONDITION" &&
      !JSON.stringify(payload ?? {}).includes('"autoSkipIfKnown":true'),
  );
}

/**
 * Visits every workflow several times, and compares each visit with its simulation. Returns how many ended in which
 * way.
 */
async function compareAll(
  scan: TestScan,
  workflows: readonly RandomWorkflow[],
  mayReturn: (visit: RandomVisit) => boolean = () => true,
): Promise<ReadonlyMap<string, number>> {
  const workspaces = new Map<string, TestWorkspace>();
  for (const zone of zones) {
    const workspace = await api.newWorkspace();
    await api.db
      .updateTable("workspaces")
      .set({ timezone: zone })
      .where("id", "=", workspace.workspaceId)
      .execute();
    await api.db
      .updateTable("link_settings")
      .set({ data_collection: levels[zone] ?? "BASIC" })
      .where("workspace_id", "=", workspace.workspaceId)
      .execute();
    workspaces.set(zone, workspace);
  }
  const visits = fc.sample(visit, { numRuns: workflows.length * visitsEach, seed });
  const ends = new Map<string, number>();
  let number = 0;
  for (let first = 0; first < workflows.length; first += workflowsAtOnce) {
    const made = workflows.slice(first, first + workflowsAtOnce);
    const links = await Promise.all(
      made.map(async (one) => {
        const workspace = workspaces.get(one.zone);
        if (workspace === undefined) throw new Error("every zone has a workspace");
        return { workspace, link: await insert(workspace, one) };
      }),
    );
    for (let time = 0; time < visitsEach; time++) {
      const { atMs } = visits[number] ?? { atMs: 0 };
      const planned = links.flatMap((place) => {
        const one = visits[number];
        number += 1;
        if (one === undefined) return [];
        // Each visitor has a separate address; visitors with the same one would be merged.
        const before = mayReturn(one) ? one.known : null;
        const known = before?.$email ? { ...before, $email: `v${number}.${before.$email}` } : before;
        return { ...place, scan, number, ...one, known, atMs };
      });
      for (const kind of await visitAtOnce(planned, atMs)) ends.set(kind, (ends.get(kind) ?? 0) + 1);
    }
  }
  expect(number).toBe(workflows.length * visitsEach);
  return ends;
}

async function insert(
  workspace: TestWorkspace,
  { steps, hasFallback }: RandomWorkflow,
): Promise<TestWorkflow<string>> {
  const { workspaceId } = workspace;
  const fallback = hasFallback ? "https://example.com/fallback" : "";
  const link = await insertWorkflow(api.db, steps, { workspaceId, fallback });
  for (const [name, { action, payload }] of Object.entries(steps)) {
    if (action !== "PASSWORD_VERIFY") continue;
    const id = link.steps[name] ?? "";
    const password = seal(Buffer.from("sesame"), passwordKey, `${workspaceId}/${id}`).toString("base64");
    await api.db
      .updateTable("workflow_steps")
      .set({ payload: JSON.stringify({ ...payload, password }) })
      .where("workspace_id", "=", workspaceId)
      .where("id", "=", id)
      .execute();
  }
  return link;
}

/** Visits different links at one moment and compares each with its simulation; returns how they ended. */
async function visitAtOnce(visits: readonly Planned[], atMs: number): Promise<string[]> {
  const returning = visits.filter(({ known }) => known !== null);
  clock.now = new Date(atMs - hour / 6);
  const cookies = new Map<Planned, string>();
  const before = await Promise.all(returning.map(newEvents));
  await Promise.all(returning.map(async (one) => cookies.set(one, await visitBefore(one))));
  await visits[0]?.scan.drained();
  await Promise.all(returning.map(async (one, index) => remember(one, (await before[index]?.()) ?? [])));
  clock.now = new Date(atMs);
  const since = await Promise.all(visits.map(newEvents));
  const sent = await Promise.all(visits.map((one) => visitReally(one, cookies.get(one) ?? "")));
  await visits[0]?.scan.drained();
  return Promise.all(
    visits.map(async (one, index) => {
      const [event, ...others] = (await since[index]?.()) ?? [];
      const really = sent[index];
      if (event === undefined || really === undefined || others.length > 0)
        throw new Error(`visit ${one.number} is not one event`);
      return compare(one, { ...really, eventId: event.id, visitorId: event.visitor_id ?? "" });
    }),
  );
}

/** Whether a visit is a first one. A bot or agent counts as new on each day, because its look holds for one day. */
function isFirst({ known, atMs }: Planned, actor: string): boolean {
  const isOfToday = new Date(atMs).getUTCDate() === new Date(atMs - hour / 6).getUTCDate();
  return known === null || ((actor === "BOT" || actor === "AGENT") && !isOfToday);
}

/** Simulates the same visit and compares. */
async function compare(planned: Planned, reality: Reality): Promise<string> {
  const { workspace, link, number, known } = planned;
  const { deviceType, deviceActor, platformName, browserName, deviceBrand } = classifyUserAgent(
    planned.userAgent,
  );
  const { status, json } = await workspace.rest("POST", `/v1/links/${link.id}/workflow-steps:simulate`, {
    visit: {
      at: new Date(planned.atMs).toISOString(),
      country: geography.placeOf(planned.address).country,
      deviceType: `DEVICE_TYPE_${deviceType}`,
      deviceActor: `DEVICE_ACTOR_${deviceActor}`,
      platformName,
      browserName,
      deviceBrand,
      visitType: `VISIT_TYPE_${isFirst(planned, deviceActor) ? "FIRST" : "RETURNING"}`,
      query: planned.query,
      attributes: known ?? {},
    },
    answers: reality.answers,
  });
  const { scan: _, workspace: __, link: ___, ...told } = planned;
  const about = `visit ${number}: ${JSON.stringify(told)}`;
  expect(status, `${about} ${JSON.stringify(json)}`).toBe(200);
  const { json: listed } = await workspace.rest(
    "GET",
    `/v1/events?linkId=${link.id}&include=journey,traces&pageSize=1000`,
  );
  const event = listed.json.events.find(({ id }: { id: string }) => id === reality.eventId);

  const stepIds = await tracedSteps(planned, event.traces);
  expect(waysOf(json), about).toEqual(tracesOf(event.traces, stepIds));
  expect(json.journey, about).toMatchObject({
    stepsReached: event.journey.stepsReached,
    stepsTotal: event.journey.stepsTotal,
    completed: event.journey.completed,
  });
  const isSent = json.end.kind === "KIND_REDIRECT" || json.end.kind === "KIND_FALLBACK";
  expect(isSent ? json.end.destination : "", about).toBe(unnamed(event.destination));
  expect(isSent ? json.end.destination : "", about).toBe(unnamed(reality.location));
  if (reality.visitorId !== "") {
    const { json: profile } = await workspace.rest("GET", `/v1/visitors/${reality.visitorId}`);
    expect(profileOf(profile), about).toEqual(profileAfter(known ?? {}, json.path));
  }
  return json.end.kind;
}

/** The steps of traces, read from the database because the contract has no field for them. */
async function tracedSteps({ link }: Planned, traces: readonly { readonly id: string }[]): Promise<string[]> {
  const ids = traces.map(({ id }) => id);
  const rows = await api.db
    .selectFrom("visit_traces")
    .select(["id", "step_id"])
    .where("workspace_id", "=", link.workspaceId)
    .where("id", "in", [...ids, "00000000-0000-0000-0000-000000000000"])
    .execute();
  const steps = new Map(rows.map((row) => [row.id, row.step_id]));
  return ids.map((id) => steps.get(id) ?? "");
}

type Send = (method: string, path: string, fields?: URLSearchParams) => Promise<Answer>;

/** A browser, with the cookie of earlier visits if it has one. */
function browser(
  { scan, address, userAgent, number }: Planned,
  cookie: string,
): { send: Send; cookie: () => string } {
  let kept = cookie;
  const send: Send = async (method, path, fields) => {
    const answer = await scan.ask(path, {
      method,
      address,
      headers: {
        "user-agent": userAgent,
        // Bots and agents are distinguished by address, agent and language.
        "accept-language": `en;q=0.5, x-v${number}`,
        ...(kept === "" ? {} : { cookie: kept }),
        ...(fields && { "content-type": "application/x-www-form-urlencoded", origin: "https://go.example" }),
      },
      ...(fields && { body: String(fields) }),
    });
    kept = answer.headers["set-cookie"]?.split(";")[0] ?? kept;
    return answer;
  };
  return { send, cookie: () => kept };
}

async function visitBefore(planned: Planned): Promise<string> {
  const { send, cookie } = browser(planned, "");
  await send("GET", `/${planned.link.shortlink}`);
  return cookie();
}

async function visitReally(planned: Planned, cookie: string): Promise<Pick<Reality, "answers" | "location">> {
  const { link, query, choices, number } = planned;
  const { send } = browser(planned, cookie);
  const answers: object[] = [];
  let answer = await send("GET", `/${link.shortlink}?${query}`);
  for (const choice of choices) {
    while (answer.status === 303) answer = await send("GET", answer.headers.location ?? "");
    const asked = askedBy(answer);
    if (asked === undefined) break;
    const given = answerTo(asked.kind, choice, number);
    answers.push({ stepId: asked.stepId, ...given.simulated });
    answer = await send("POST", asked.path, new URLSearchParams(given.fields));
  }
  while (answer.status === 303) answer = await send("GET", answer.headers.location ?? "");
  return { location: answer.headers.location ?? "", answers };
}

interface FoundEvent {
  readonly id: string;
  readonly visitor_id: string | null;
}

/** Returns a function that finds the events of the link that came since. */
async function newEvents({ link }: Planned): Promise<() => Promise<FoundEvent[]>> {
  const find = () =>
    api.db
      .selectFrom("events")
      .select(["id", "visitor_id"])
      .where("workspace_id", "=", link.workspaceId)
      .where("link_id", "=", link.id)
      .execute();
  const before = new Set((await find()).map(({ id }) => id));
  return async () => (await find()).filter(({ id }) => !before.has(id));
}

/** Sets the attributes that the planned visitor has, whatever earlier visits have left. */
async function remember({ link, known }: Planned, events: readonly FoundEvent[]): Promise<void> {
  const { workspaceId } = link;
  const visitorId = events[0]?.visitor_id ?? null;
  if (visitorId === null) return;
  await api.db
    .deleteFrom("visitor_attributes")
    .where("workspace_id", "=", workspaceId)
    .where("visitor_id", "=", visitorId)
    .execute();
  const { $email, ...custom } = known ?? {};
  const at = clock.now;
  await api.db
    .updateTable("visitors")
    .set({ email: $email ?? null })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", visitorId)
    .execute();
  const owner = { workspace_id: workspaceId, visitor_id: visitorId, created_at: at, updated_at: at };
  const rows = Object.entries(custom).map(([key, value]) => ({
    ...owner,
    key,
    value,
    type: typeFor(value),
  }));
  if (rows.length > 0) await api.db.insertInto("visitor_attributes").values(rows).execute();
}

/** The type that a simulation gives a text. */
function typeFor(value: string): "NUMBER" | "DATE" | "STRING" {
  if (parseNumber(value) !== undefined) return "NUMBER";
  return parseDate(value) === undefined ? "STRING" : "DATE";
}

type Asked = "password" | "form" | "message" | "buttons";

/** The interaction that this page belongs to; undefined for all other answers. */
function askedBy({
  body,
}: Answer): { readonly path: string; readonly stepId: string; readonly kind: Asked } | undefined {
  // The page of social links is an exit, although it has a form.
  if (!body.includes("<form") || body.includes('name="link"')) return undefined;
  const path = formAction({ body });
  const [, stepId = ""] = /\/s\/([0-9a-f-]{36})/.exec(path) ?? [];
  return { path, stepId, kind: kindOf(body) };
}

function kindOf(body: string): Asked {
  if (body.includes('name="password"')) return "password";
  if (body.includes('name="field-plan"')) return "form";
  return body.includes('name="button"') ? "buttons" : "message";
}

interface GivenAnswer {
  /** The answer in the form that the page posts. */
  readonly fields: Readonly<Record<string, string>>;
  /** The answer in the form that the simulation takes. */
  readonly simulated: object;
}

function answerTo(kind: Asked, choice: number, number: number): GivenAnswer {
  switch (kind) {
    case "password": {
      const passwordMatches = choice % 3 !== 0;
      return { fields: { password: passwordMatches ? "sesame" : "guess" }, simulated: { passwordMatches } };
    }
    case "form":
      return formAnswer(choice, number);
    case "buttons": {
      const button = ["a", "b", "a", "b", "a", "z"][choice] ?? "a";
      return { fields: { button }, simulated: { button } };
    }
    case "message":
      return { fields: {}, simulated: { proceed: true } };
  }
}

function formAnswer(choice: number, number: number): GivenAnswer {
  if (choice === 0) return { fields: { skip: "1" }, simulated: { form: { skip: true } } };
  const values = [
    { plan: "", mail: "nobody" },
    { plan: "pro", mail: `F${number}.${choice}@Example.com`, age: "31" },
    { plan: "Basic", mail: "", age: "seventeen" },
    { plan: "Basic", mail: "", age: "17" },
    { plan: "proper", mail: `f${number}@example.com`, age: "" },
  ][choice - 1];
  const entries = Object.entries(values ?? {});
  return {
    fields: Object.fromEntries(entries.map(([field, value]) => [`field-${field}`, value])),
    simulated: { form: { fields: entries.map(([field, value]) => ({ field, values: [value] })) } },
  };
}

interface SimulatedStepAnswer {
  readonly stepId: string;
  readonly eventAction: string;
  readonly completed: boolean;
  readonly stepData: Readonly<Record<string, unknown>>;
  readonly savedAttributes: readonly {
    readonly key: string;
    readonly value: string;
    readonly setOnce: boolean;
  }[];
}

interface SimulationAnswer {
  readonly path: readonly SimulatedStepAnswer[];
  readonly end: { readonly kind: string; readonly destination: string };
}

type Ways = Readonly<Record<string, unknown>>;

/** The last entry of a simulation for each step, by the step's id. */
function waysOf({ path, end }: SimulationAnswer): Ways {
  // The preview stands for a page that the bot is not shown.
  const opened = end.kind === "KIND_PREVIEW" ? path.slice(0, -1) : path;
  const isCompleted = (id: string) => opened.some(({ stepId, completed }) => stepId === id && completed);
  return Object.fromEntries(
    opened.map(({ stepId, eventAction, stepData }) => [
      stepId,
      { eventAction, isCompleted: isCompleted(stepId), data: dataOf(stepData) },
    ]),
  );
}

interface TraceAnswer {
  readonly stepAction: string;
  readonly completedAt?: string;
  readonly stepData: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The traces of a visit, by the step's id; a fallback belongs to no step of the link. */
function tracesOf(traces: readonly TraceAnswer[], stepIds: readonly string[]): Ways {
  return Object.fromEntries(
    traces.flatMap(({ stepAction, completedAt, stepData }, index) =>
      stepData.redirect?.fallback === true
        ? []
        : [
            [
              stepIds[index] ?? "",
              { eventAction: stepAction, isCompleted: completedAt !== undefined, data: dataOf(stepData) },
            ] as const,
          ],
    ),
  );
}

/** The entry's trace without the moment and the address, which a simulation cannot know. */
function dataOf(data: Readonly<Record<string, unknown>>): unknown {
  const { entryAccess, ...rest } = data;
  if (entryAccess === undefined) return JSON.parse(unnamed(JSON.stringify(rest)));
  const { action, visitType } = entryAccess as Readonly<Record<string, unknown>>; // of EntryAccessTraceData
  return { action, visitType };
}

function unnamed(text: string): string {
  return text.replace(/lbid=[A-Za-z0-9_-]{22}/g, "lbid=LBID");
}

interface ProfileAnswer {
  readonly email: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

function profileOf({ email, attributes }: ProfileAnswer): Readonly<Record<string, string>> {
  const custom = Object.fromEntries(attributes.map(({ key, value }) => [key, value]));
  return email === "" ? custom : { ...custom, $email: email };
}

/** The expected profile after a visit that took this way. */
function profileAfter(
  known: Readonly<Record<string, string>>,
  path: readonly SimulatedStepAnswer[],
): Readonly<Record<string, string>> {
  const profile: Record<string, string> = { ...known };
  for (const { savedAttributes } of path) {
    for (const { key, value, setOnce } of savedAttributes) {
      if (setOnce && (profile[key] ?? "") !== "") continue;
      profile[key] = key === "$email" ? value.toLowerCase() : value;
    }
  }
  return profile;
}
