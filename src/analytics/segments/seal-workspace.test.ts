import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { type Random, randomFrom } from "../../../test/fuzz/random.ts";
import { type ColumnRow, rowsOf } from "../../../test/support/analytics/rows-of.ts";
import { chunkOf } from "../../../test/support/chunk-of.ts";
import { insertWorkflow, type TestWorkflow } from "../../../test/support/insert-workflow.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { deleteVisitor } from "../../api/visitors/writes.ts";
import { loadPlan } from "../../db/load-plan.ts";
import { endIdleVisits } from "../../jobs/end-idle-visits.ts";
import { readPlanTable } from "../../model/plans/read-plan-table.ts";
import { compilePlan, type Plan } from "../../model/workflow/plan.ts";
import { createClassifier } from "../../scan/device/classify.ts";
import { nowhere } from "../../scan/device/geography.ts";
import { encodeVisit } from "../../scan/spool/record-format.ts";
import { encodeAnswer } from "../../scan/spool/step-record.ts";
import { createVisitIds, textOfId } from "../../scan/spool/visit-id.ts";
import { createRecordStore } from "../../scan/store/store-records.ts";
import { identifyVisitor } from "../../visitors/identify.ts";
import { revealVisits } from "../../visitors/reveal-visits.ts";
import { rebuildRollUps } from "../../visitors/roll-ups.ts";
import { decide } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import type { Visit } from "../../workflow/visit.ts";
import { type PackedColumns, unpackColumns } from "./pack-columns.ts";
import { readVisits } from "./read-visits.ts";
import { sealWorkspace } from "./seal-workspace.ts";
import { openSession } from "./session.ts";

const database = await testDatabase();
const { db } = database;
const session = await openSession(database.connection);
afterAll(() => session.close());

const dayMs = 86_400_000;
const beginMs = Date.UTC(2026, 7, 1);
const newVisitId = createVisitIds();
const plansWith = (TRACKED_VISITS: number) =>
  readPlanTable({ plans: { FREE: { limits: { TRACKED_VISITS } } } }, true, []);
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

const asked: Visit = {
  query: "",
  lbid: () => "",
  dataCollection: "ADVANCED",
  visitType: "FIRST",
  country: () => "",
  device: () => {
    throw new Error("nothing asks for the device");
  },
  attributes: undefined,
};

type Link = TestWorkflow<"entry" | "form" | "redirect">;

interface Made {
  readonly id: string;
  readonly link: Link;
}

/** A workspace whose visits begin with a form or are plain redirects, and everything that happens to them. */
async function newPlace(random: Random) {
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
    plans: plansWith(60),
  });
  const cookies = Array.from({ length: 8 }, () => randomUUID());
  const place = { workspaceId, nowMs: beginMs + dayMs, made: [] as Made[] };

  const visitAt = (atMs: number) => {
    const link = random.percent(50) ? paged : plain;
    const plan = plans.get(link);
    if (plan === undefined) throw new Error("no plan");
    const walk = decide(plan, asked, new Date(atMs));
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

  const visitorIds = async () =>
    (await db.selectFrom("visitors").select("id").where("workspace_id", "=", workspaceId).execute()).map(
      ({ id }) => id,
    );
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
      const one = random.pick(place.made);
      if (one === undefined) return;
      const row = await db
        .selectFrom("events")
        .select("device_id")
        .where("id", "=", one.id)
        .executeTakeFirst();
      const value = `ada.${random.below(4)}@example.com`;
      const attributes = [{ key: "$email", value, type: "STRING", setOnce: false } as const];
      const event = row && { id: one.id, deviceId: row.device_id, mayAttach: true };
      await db
        .transaction()
        .execute((tx) => identifyVisitor(tx, { workspaceId, at: now(), event, attributes }));
    },
    async erase() {
      const id = random.pick(await visitorIds());
      if (id !== undefined) await db.transaction().execute((tx) => deleteVisitor(tx, workspaceId, id, now()));
    },
    reveal: () => revealVisits({ db, plans: plansWith(60 + place.made.length / 2), now, batchSize: 5 }),
    endIdle: () => endIdleVisits({ db, plans: plansWith(60), now }),
    rebuild: () => rebuildRollUps(db, workspaceId),
    async pass() {
      place.nowMs += random.below(dayMs);
    },
    seal: () => sealWorkspace({ session, now, settledMs: 0, openMax: 20 }, workspaceId),
    async sealLater() {
      await sealWorkspace({ session, now, settledMs: 60_000, openMax: 20 }, workspaceId);
    },
  };
  return { place, deeds };
}

interface StoredSegment {
  readonly begins_at: Date;
  readonly ends_at: Date;
  readonly visits: number;
  readonly is_marked: boolean;
}

/** Visits as an answer counts them: of segments without marks, and of events for the rest. Moved visitors are followed. */
async function asAnswered(workspaceId: string, toMs: number): Promise<{ rows: ColumnRow[]; sealed: number }> {
  const { rows: segments } = await sql<
    StoredSegment & PackedColumns & { visit_type: Buffer; device_type: Buffer }
  >`
    select s.*, exists (select from segment_marks m where m.workspace_id = s.workspace_id
      and m.first_at < s.ends_at and m.last_at >= s.begins_at) as is_marked
    from segments s where workspace_id = ${workspaceId} order by begins_at`.execute(db);
  for (const [index, { begins_at }] of segments.entries())
    expect(begins_at).toEqual(segments[index - 1]?.ends_at ?? new Date(0));
  const rows: ColumnRow[] = [];
  let sealed = 0;
  for (const segment of segments) {
    const { begins_at: from, ends_at: to, visits, visit_type: visitType, device_type: deviceType } = segment;
    const firstMs = Math.max(from.getTime(), beginMs - 10 * dayMs);
    if (segment.is_marked) rows.push(...(await readRows(workspaceId, new Date(firstMs), to)));
    else if (visits > 0) {
      const { times, links, visitors, devices, country, city, browser, platform, completed, scores, ways } =
        segment;
      const packed = {
        times,
        links,
        visitors,
        devices,
        country,
        city,
        browser,
        platform,
        completed,
        scores,
        ways,
      };
      rows.push(...rowsOf(unpackColumns({ ...packed, visitType, deviceType }, visits), from));
      sealed += visits;
    }
  }
  const openFrom = segments.at(-1)?.ends_at ?? new Date(beginMs - 10 * dayMs);
  rows.push(...(await readRows(workspaceId, openFrom, new Date(toMs))));
  const { rows: moves } = await sql<{ number: number; to: number }>`
    select number::float8 as number, to_number::float8 as to from moved_visitors
    where workspace_id = ${workspaceId}`.execute(db);
  const moved = new Map(moves.map(({ number, to }) => [number, to]));
  return { rows: rows.map((row) => ({ ...row, visitor: moved.get(row.visitor) ?? row.visitor })), sealed };
}

async function readRows(workspaceId: string, from: Date, to: Date): Promise<ColumnRow[]> {
  if (from >= to) return [];
  const read = await readVisits(session.client, { workspaceId, from, to });
  return rowsOf(read.columns, from);
}

test.each([1, 4])(
  "segments, marks and open visits say at any moment what the events say, whatever happens to visits (seed %i)",
  async (seed) => {
    const random = randomFrom(seed);
    const { place, deeds } = await newPlace(random);
    const { workspaceId } = place;
    const names = Object.keys(deeds) as (keyof typeof deeds)[];
    const weighted = [...names, "visitNow", "visitNow", "visitLate", "answer", "seal", "pass"] as const;
    let sealedMost = 0;
    for (let turn = 0; turn < 80; turn++) {
      const name = random.pick(weighted);
      await deeds[name ?? "pass"]();
      const toMs = place.nowMs + dayMs;
      const { rows, sealed } = await asAnswered(workspaceId, toMs);
      const fresh = await readRows(workspaceId, new Date(beginMs - 10 * dayMs), new Date(toMs));
      expect(rows, `after ${turn}: ${name}`).toEqual(fresh);
      sealedMost = Math.max(sealedMost, sealed);
    }
    expect(sealedMost).toBeGreaterThan(20);
    await deeds.seal();
    const marks = await sql`select from segment_marks m where workspace_id = ${workspaceId} and first_at <
      (select max(ends_at) from segments where workspace_id = ${workspaceId})`.execute(db);
    expect(marks.rows).toEqual([]);
  },
  30_000,
);
