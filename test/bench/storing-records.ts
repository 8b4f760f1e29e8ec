import { randomUUID } from "node:crypto";
import { loadPlan } from "../../src/db/load-plan.ts";
import type { Db } from "../../src/db/open.ts";
import { compilePlan, type Plan } from "../../src/model/workflow/plan.ts";
import { encodeVisit } from "../../src/scan/spool/record-format.ts";
import { encodeAnswer, type StepTrace, type TakenAnswer } from "../../src/scan/spool/step-record.ts";
import { createVisitIds, textOfId } from "../../src/scan/spool/visit-id.ts";
import { decide } from "../../src/workflow/decide.ts";
import { journeyOf } from "../../src/workflow/journey.ts";
import type { Visit } from "../../src/workflow/visit.ts";
import { makePages } from "../support/page-load.ts";
import type { RestApi } from "../support/rest-api.ts";
import type { Recorded } from "./storing.ts";
import { destinations } from "./visits.ts";

const newVisitId = createVisitIds();
const deviceCount = 10_000;
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

/** What the workflows here ask: nothing. */
const asked: Visit = {
  query: "",
  lbid: () => "",
  dataCollection: "BASIC",
  visitType: "FIRST",
  country: () => "",
  device: () => {
    throw new Error("nothing asks for the device");
  },
  attributes: undefined,
};

/** Visits of the links of `destinations`, a millisecond apart, by devices that all come again and again. */
export async function plainRecords(db: Db, count: number): Promise<Recorded[]> {
  const plans: Plan[] = [];
  for (const [path] of destinations) plans.push(await planOf(db, path.slice(1)));
  const startMs = Date.now();
  return Array.from({ length: count }, (_, index) => {
    const device = index % deviceCount;
    const cookie = `00000000-0000-4000-8000-${device.toString(16).padStart(12, "0")}`;
    const plan = plans[device % plans.length];
    if (plan === undefined) throw new Error("there are no links");
    return recordOf(plan, startMs - count + index, cookie);
  });
}

async function planOf(db: Db, shortlink: string): Promise<Plan> {
  const row = await loadPlan(db, "", shortlink);
  if (row === undefined) throw new Error(`no link ${shortlink}`);
  return compilePlan(row, `http://localhost:8080/${shortlink}`);
}

function recordOf(plan: Plan, atMs: number, cookie: string): Recorded {
  const walk = decide(plan, asked, new Date(atMs));
  const id = newVisitId(atMs);
  const visit = {
    id,
    action: "CLICK" as const,
    level: "BASIC" as const,
    headers: { "user-agent": phone, "accept-language": "en-GB,en;q=0.9" },
    address: "81.2.69.142",
    cookie,
    cookieWasSent: true,
    query: "",
  };
  return { id, text: encodeVisit(plan, visit, walk, journeyOf(plan, walk)) };
}

/** A visit that has begun at the first of three pages. */
export interface BegunVisit {
  readonly record: Recorded;
  readonly workspaceId: string;
  readonly linkId: string;
  readonly steps: Readonly<Record<string, string>>;
  readonly number: number;
}

/** The beginnings of visits of three pages, each by a device of its own. */
export async function pageRecords(db: Db, api: RestApi, count: number): Promise<BegunVisit[]> {
  const { shortlink, steps } = await makePages(api);
  const plan = await planOf(db, shortlink);
  const { workspaceId, linkId } = plan;
  return Array.from({ length: count }, (_, number) => {
    const record = recordOf(plan, Date.now() - 60_000 + number, randomUUID());
    return { record, workspaceId, linkId, steps, number };
  });
}

const pages = ["first", "second", "third"];

/** The answers to the page with this number, from 1. */
export function answerRecords(visits: readonly BegunVisit[], number: number): Recorded[] {
  const atMs = Date.now() - 30_000 + number * 5_000;
  return visits.map((visit, index) => ({
    id: newVisitId(atMs + index),
    text: encodeAnswer(answerTo(visit, number)),
  }));
}

function answerTo({ record, workspaceId, linkId, steps, number: who }: BegunVisit, number: number) {
  const page = pages[number - 1] ?? "";
  const next = pages[number] ?? "";
  const value = `v${who}`;
  const saved = [
    ...(number === 1 ? [{ key: "$email", value: `${value}@example.com` }] : []),
    { key: page, value },
  ].map((one) => ({ ...one, type: "STRING" as const, setOnce: false }));
  const fields = saved.map(({ key }) => ({ fieldId: key, key, type: "TEXT", value }));
  const destination = next === "" ? "https://example.com/?m=1" : "";
  const ahead: StepTrace =
    next === ""
      ? {
          stepId: steps.redirect ?? "",
          action: "CLIENT_REDIRECT",
          data: { redirect: { destination, conversionTracking: false, fallback: false } },
          isCompleted: true,
          saved: [],
        }
      : form(steps[next] ?? "", [], false);
  const answer: TakenAnswer = {
    workspaceId,
    eventId: textOfId(record.id),
    linkId,
    number,
    isPress: false,
    outcome: next === "" ? "COMPLETED" : "IN_PROGRESS",
    destination,
    exitAction: next === "" ? "CLIENT_REDIRECT" : "",
    lastStepId: ahead.stepId,
    stepsAhead: 3 - number,
    waitsAt: next === "" ? "" : ahead.stepId,
    query: "",
    level: "BASIC",
    seenVisitorId: "",
    saved,
    traces: [form(steps[page] ?? "", fields, true), ahead],
  };
  return answer;
}

function form(stepId: string, fields: readonly object[], isCompleted: boolean): StepTrace {
  return { stepId, action: "FORM_SUBMIT", data: { form: { fields } }, isCompleted, saved: [] };
}
