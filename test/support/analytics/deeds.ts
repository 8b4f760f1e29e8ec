import { randomUUID } from "node:crypto";
import { deleteVisitor } from "../../../src/api/visitors/writes.ts";
import { loadPlan } from "../../../src/db/load-plan.ts";
import type { Db } from "../../../src/db/open.ts";
import { endIdleVisits } from "../../../src/jobs/end-idle-visits.ts";
import { jobCall } from "../../../src/jobs/queue.ts";
import { readPlanTable } from "../../../src/model/plans/read-plan-table.ts";
import { compilePlan, type Plan } from "../../../src/model/workflow/plan.ts";
import { createClassifier } from "../../../src/scan/device/classify.ts";
import { nowhere } from "../../../src/scan/device/geography.ts";
import { encodeVisit } from "../../../src/scan/spool/record-format.ts";
import { encodeAnswer } from "../../../src/scan/spool/step-record.ts";
import { createVisitIds, textOfId } from "../../../src/scan/spool/visit-id.ts";
import { createRecordStore } from "../../../src/scan/store/store-records.ts";
import { identifyVisitor } from "../../../src/visitors/identify.ts";
import { revealVisits } from "../../../src/visitors/reveal-visits.ts";
import { rebuildRollUps } from "../../../src/visitors/roll-ups.ts";
import { decide } from "../../../src/workflow/decide.ts";
import { journeyOf } from "../../../src/workflow/journey.ts";
import type { Random } from "../../fuzz/random.ts";
import { askedNothing } from "../asked-nothing.ts";
import { chunkOf } from "../chunk-of.ts";
import { insertWorkflow, type TestWorkflow } from "../insert-workflow.ts";

const dayMs = 86_400_000;
/** Visits come from two days before this moment on. */
export const beginMs = Date.UTC(2026, 7, 1);
const newVisitId = createVisitIds();
const plansWith = (TRACKED_VISITS: number) =>
  readPlanTable({ plans: { FREE: { limits: { TRACKED_VISITS }, leadScores: "unlimited" } } }, true, []);
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

type Link = TestWorkflow<"entry" | "form" | "redirect">;

export interface Made {
  readonly id: string;
  readonly link: Link;
}

/** A workspace with visits, and where its clock stands. */
export interface Place {
  readonly workspaceId: string;
  nowMs: number;
  readonly made: Made[];
}

export type Deed = () => Promise<unknown>;

/** A workspace whose visits begin with a form or are plain redirects, and everything that changes what answers count. */
export async function placeWithDeeds(db: Db, random: Random) {
  const redirect = { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com" } } as const;
  const entry = (next: string) => ({ action: "LINK_VISIT", next: { next } }) as const;
  const form = { action: "FORM_SUBMIT", payload: { title: "Who" }, next: { next: "redirect" } } as const;
  const paged = await insertWorkflow(db, { entry: entry("form"), form, redirect });
  const { workspaceId } = paged;
  const plain = await insertWorkflow(db, { entry: entry("redirect"), form, redirect }, { workspaceId });
  await db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED" })
    .where("id", "=", workspaceId)
    .execute();
  const plans = new Map<Link, Plan>();
  for (const link of [paged, plain]) {
    const row = await loadPlan(db, link.host, link.shortlink);
    if (row === undefined) throw new Error("no such link");
    plans.set(link, compilePlan(row, `https://go.example/${link.shortlink}`));
  }
  const store = createRecordStore(db, {
    classify: createClassifier(),
    geography: { placeOf: (address) => ({ ...nowhere, country: address.endsWith("1") ? "DE" : "" }) },
    key: "00".repeat(32),
    plans: plansWith(25),
  });
  const cookies = Array.from({ length: 8 }, () => randomUUID());
  const place: Place = { workspaceId, nowMs: beginMs + dayMs, made: [] };

  const visitAt = (atMs: number) => {
    const link = random.percent(50) ? paged : plain;
    const plan = plans.get(link);
    if (plan === undefined) throw new Error("no plan");
    const walk = decide(plan, askedNothing, new Date(atMs));
    const id = newVisitId(atMs);
    place.made.push({ id: textOfId(id), link });
    const visit = {
      id,
      action: "CLICK" as const,
      level: "ADVANCED" as const,
      headers: { "user-agent": random.percent(90) ? phone : "curl/8.0", "accept-language": "de" },
      address: `81.2.3.${random.below(3)}`,
      cookie: random.pick(cookies) ?? "",
      cookieWasSent: true,
      query: "",
    };
    return { id, text: encodeVisit(plan, visit, walk, journeyOf(plan, walk)) };
  };

  const answerTo = ({ id, link }: Made, number: number) => {
    const { steps } = link;
    const atMs = place.nowMs - random.below(1_000);
    const email = random.percent(50) ? [`ada.${random.below(4)}@example.com`] : [];
    const saved = email.map((value) => ({ key: "$email", value, type: "STRING", setOnce: false }) as const);
    const fields = [{ fieldId: "a", key: "a", type: "TEXT", value: "b" }];
    const data = { form: { action: random.percent(80) ? "SUBMITTED" : "SKIPPED", fields } };
    const destination = "https://example.com/";
    const sent = { redirect: { destination, conversionTracking: false, fallback: false } };
    const text = encodeAnswer({
      workspaceId,
      eventId: id,
      linkId: link.id,
      number,
      isPress: false,
      outcome: "COMPLETED",
      destination,
      exitAction: "CLIENT_REDIRECT",
      lastStepId: steps.redirect,
      stepsAhead: 0,
      waitsAt: "",
      query: "",
      level: "ADVANCED",
      seenVisitorId: "",
      saved,
      traces: [
        { stepId: steps.form, action: "FORM_SUBMIT", data, isCompleted: true, saved: [] },
        { stepId: steps.redirect, action: "CLIENT_REDIRECT", data: sent, isCompleted: true, saved: [] },
      ],
    });
    return { id: newVisitId(atMs), text };
  };

  // A seed chooses the same rows each time, however the tables have them.
  const visitorIds = async () => {
    const visitors = db.selectFrom("visitors").select("id").where("workspace_id", "=", workspaceId);
    return (await visitors.orderBy("number").execute()).map(({ id }) => id);
  };
  const namedVisitors = async () => {
    const visitors = db.selectFrom("visitors").select("id").where("workspace_id", "=", workspaceId);
    return new Set((await visitors.where("email", "is not", null).execute()).map(({ id }) => id));
  };
  const now = () => new Date(place.nowMs);

  const deeds = {
    async visitNow() {
      await store(
        [
          chunkOf(
            Array.from({ length: 1 + random.below(6) }, () => visitAt(place.nowMs - random.below(60_000))),
          ),
        ],
        now(),
      );
    },
    async visitLate() {
      const times = Array.from(
        { length: 1 + random.below(4) },
        () => beginMs - 2 * dayMs + random.below(place.nowMs - beginMs + 2 * dayMs),
      );
      await store([chunkOf(times.map(visitAt))], now());
    },
    async answer() {
      const waiting = place.made.filter(({ link }) => link === paged);
      const some = Array.from({ length: 1 + random.below(3) }, () => random.pick(waiting));
      const records = some.flatMap((one) => (one === undefined ? [] : [answerTo(one, 1 + random.below(2))]));
      await store([chunkOf(records)], now());
    },
    async identify() {
      const events = await db
        .selectFrom("events")
        .select(["id", "device_id", "visitor_id"])
        .where("workspace_id", "=", workspaceId)
        .where("counted", "=", true)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      const named = await namedVisitors();
      const nobodys = events.filter(({ visitor_id }) => visitor_id === null);
      const known = events.filter(({ visitor_id }) => named.has(visitor_id ?? ""));
      const row = random.pick(random.pick([nobodys, known, events].filter(({ length }) => length > 0)) ?? []);
      if (row === undefined) return;
      const value = `ada.${random.below(4)}@example.com`;
      const attributes = [{ key: "$email", value, type: "STRING", setOnce: false } as const];
      const event = { id: row.id, deviceId: row.device_id, mayAttach: true };
      await db
        .transaction()
        .execute((tx) => identifyVisitor(tx, { workspaceId, at: now(), event, attributes }));
    },
    async erase() {
      const id = random.pick(await visitorIds());
      if (id !== undefined)
        await db.transaction().execute((tx) => deleteVisitor(tx, jobCall, { workspaceId, id, at: now() }));
    },
    reveal: () =>
      revealVisits({ db, plans: plansWith(25 + Math.floor(place.made.length / 2)), now, batchSize: 5 }),
    endIdle: () => endIdleVisits({ db, plans: plansWith(25), now }),
    rebuild: () => rebuildRollUps(db, workspaceId),
    async pass() {
      place.nowMs += random.below(dayMs);
    },
  } satisfies Record<string, Deed>;
  return { place, deeds };
}
