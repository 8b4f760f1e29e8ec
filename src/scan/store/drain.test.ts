import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { askedNothing } from "../../../test/support/asked-nothing.ts";
import { chunkOf } from "../../../test/support/chunk-of.ts";
import { insertLink, insertWorkspace, type TestLink } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { loadPlan } from "../../db/load-plan.ts";
import { compilePlan } from "../../model/workflow/plan.ts";
import { decide } from "../../workflow/decide.ts";
import { journeyOf } from "../../workflow/journey.ts";
import { createClassifier } from "../device/classify.ts";
import { nowhere } from "../device/geography.ts";
import type { RecordText } from "../spool/framed-records.ts";
import { encodeVisit, type SeenVisit } from "../spool/record-format.ts";
import { encodeReport } from "../spool/report-record.ts";
import { openSpool } from "../spool/spool.ts";
import { encodeAnswer } from "../spool/step-record.ts";
import { createVisitIds, textOfId } from "../spool/visit-id.ts";
import { startDrain } from "./drain.ts";
import { createQuarantine } from "./quarantine.ts";
import { createRecordStore } from "./store-records.ts";

const database = await testDatabase();
const { db } = database;
const newVisitId = createVisitIds();
const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const startMs = Date.UTC(2026, 7, 1, 12);

/** A record as it is given to the spool. */
interface Recorded {
  readonly id: Buffer;
  readonly text: RecordText;
}

/** Stores records as the spool gives them, in one chunk. */
function store(records: readonly Recorded[]) {
  return newStore()([chunkOf(records)], new Date());
}

function newStore() {
  return createRecordStore(db, {
    classify: createClassifier(),
    geography: { placeOf: (address) => ({ ...nowhere, country: address.startsWith("81.") ? "DE" : "" }) },
    key: "00".repeat(32),
  });
}

type VisitOptions = Partial<Omit<SeenVisit, "id">> & { atMs?: number };

/** The record of a visit of a browser that has just got its cookie. */
async function recordOf(link: TestLink, { atMs = startMs, ...seen }: VisitOptions = {}): Promise<Recorded> {
  const row = await loadPlan(db, link.host, link.shortlink);
  if (row === undefined) throw new Error("no such link");
  const plan = compilePlan(row, `https://go.example/${link.shortlink}`);
  const id = newVisitId(atMs);
  const visit: SeenVisit = {
    id,
    action: "CLICK",
    level: "ADVANCED",
    headers: { "user-agent": iphone, "accept-language": "de" },
    address: "81.2.3.4",
    cookie: randomUUID(),
    cookieWasSent: false,
    query: "",
    ...seen,
  };
  const walk = decide(plan, askedNothing, new Date(atMs));
  return { id, text: encodeVisit(plan, visit, walk, journeyOf(plan, walk)) };
}

function eventsOf({ workspaceId }: { workspaceId: string }) {
  return db.selectFrom("events").selectAll().where("workspace_id", "=", workspaceId).orderBy("id").execute();
}

function count(
  table: "devices" | "visitors" | "device_links" | "visit_traces" | "device_cookies",
  workspaceId: string,
) {
  return db
    .selectFrom(table)
    .select((e) => e.fn.countAll().as("count"))
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow()
    .then((row) => Number(row.count));
}

async function counterOf({ workspaceId, id }: TestLink): Promise<bigint> {
  const row = await db
    .selectFrom("link_counters")
    .select("event_count")
    .where("workspace_id", "=", workspaceId)
    .where("link_id", "=", id)
    .executeTakeFirst();
  return row?.event_count ?? 0n;
}

test("writes a visit with its device, visitor, traces and counters", async () => {
  const link = await insertLink(db);
  const record = await recordOf(link, { action: "SCAN" });
  expect(await store([record])).toMatchObject({ written: 1, dropped: 0, poison: [] });

  const at = new Date(startMs);
  const id = textOfId(record.id);
  expect(await eventsOf(link)).toMatchObject([
    {
      id,
      link_id: link.id,
      action: "SCAN",
      visit_type: "FIRST",
      counted: true,
      entrypoint: `https://go.example/${link.shortlink}`,
      destination: "https://example.com/menu",
      destination_action: "CLIENT_REDIRECT",
      steps_total: 2,
      steps_reached: 2,
      last_step_id: link.redirectStepId,
      outcome: "COMPLETED",
      ended_at: at,
      created_at: at,
    },
  ]);
  const device = await db
    .selectFrom("devices")
    .selectAll()
    .where("workspace_id", "=", link.workspaceId)
    .executeTakeFirstOrThrow();
  expect(device).toMatchObject({
    device_type: "MOBILE",
    device_actor: "HUMAN",
    device_brand: "Apple",
    user_agent: iphone,
    ip_address: "81.2.3.4",
    country: "DE",
    browser_language: "de",
    last_used_at: at,
  });
  expect(device.visitor_id).not.toBeNull();
  const traces = await db
    .selectFrom("visit_traces")
    .selectAll()
    .where("workspace_id", "=", link.workspaceId)
    .orderBy("id")
    .execute();
  expect(traces).toMatchObject([
    {
      event_id: id,
      step_id: link.entryStepId,
      step_action: "LINK_VISIT",
      completed_at: at,
      data: {
        entryAccess: {
          accessedAt: "2026-08-01T12:00:00.000Z",
          action: "SCAN",
          entrypoint: `https://go.example/${link.shortlink}`,
          httpMethod: "GET",
          visitType: "FIRST",
        },
      },
    },
    {
      step_id: link.redirectStepId,
      step_action: "CLIENT_REDIRECT",
      data: {
        redirect: { destination: "https://example.com/menu", conversionTracking: false, fallback: false },
      },
    },
  ]);
  // The event tells both, so neither of them has a row.
  const rows = db.selectFrom("traces").select("id").where("workspace_id", "=", link.workspaceId);
  expect(await rows.execute()).toEqual([]);
  expect(await counterOf(link)).toBe(1n);
});

test("a visit that is stored more than a minute after its time says so, in whole seconds, and no other does", async () => {
  const link = await insertLink(db);
  const agesMs = [-5_000, 0, 60_000, 60_001, 3_600_500, 9 * 86_400_000];
  const now = new Date(startMs);
  const records: Recorded[] = [];
  for (const ageMs of agesMs) records.push(await recordOf(link, { atMs: startMs - ageMs }));
  expect(await newStore()([chunkOf(records)], now)).toMatchObject({ written: agesMs.length });
  const late = new Map(
    (await eventsOf(link)).map(({ created_at, late_seconds }) => [created_at.getTime(), late_seconds]),
  );
  expect(agesMs.map((ageMs) => late.get(startMs - ageMs))).toEqual([null, null, null, 60, 3_601, 777_600]);
});

test("writes each visit once, however often it is given and by however many drains", async () => {
  const links = await Promise.all(Array.from({ length: 5 }, () => insertLink(db)));
  const cookies = Array.from({ length: 40 }, () => randomUUID());
  const records: Recorded[] = [];
  for (const [index, cookie] of [...cookies, ...cookies, ...cookies].entries()) {
    const link = links[index % 5];
    if (link === undefined) continue;
    const cookieWasSent = index >= 40;
    const address = `81.0.0.${index % 40}`;
    records.push(await recordOf(link, { cookie, cookieWasSent, address, atMs: startMs + index }));
  }
  const stores = [newStore(), newStore(), newStore(), newStore()];
  const batches = stores.flatMap((own, turn) => {
    const turned = [...records.slice(turn * 17), ...records.slice(0, turn * 17)];
    return [turned.slice(0, 70), turned.slice(50), turned].map((some) => own([chunkOf(some)], new Date()));
  });
  const stored = await Promise.all(batches);
  expect(stored.reduce((sum, { written }) => sum + written, 0)).toBe(120);

  for (const link of links) {
    const events = await eventsOf(link);
    expect(events).toHaveLength(24);
    expect(await count("devices", link.workspaceId)).toBe(8);
    expect(await count("device_cookies", link.workspaceId)).toBe(8);
    expect(await count("visitors", link.workspaceId)).toBe(8);
    expect(await count("visit_traces", link.workspaceId)).toBe(48);
    expect(await counterOf(link)).toBe(24n);
    expect(events.filter((event) => event.visit_type === "FIRST")).toHaveLength(8);
  }
});

test("recognises people's devices by the cookie alone, and programs by their look on one day", async () => {
  const workspaceId = await insertWorkspace(db);
  const link = await insertLink(db, { workspaceId });
  const other = await insertLink(db, { workspaceId });
  const cookie = randomUUID();
  const minute = 60_000;
  const visits: [TestLink, VisitOptions][] = [
    [link, { cookie }],
    [link, { cookie, cookieWasSent: true, address: "81.9.9.9", atMs: startMs + minute }],
    [other, { cookie, cookieWasSent: true, atMs: startMs + 2 * minute }],
    [link, { atMs: startMs + 3 * minute }],
    [link, { atMs: startMs + 4 * minute }],
    [link, { atMs: startMs + 5 * minute, headers: { "user-agent": crawler } }],
    [link, { atMs: startMs + 6 * minute, headers: { "user-agent": crawler } }],
    [link, { cookie, cookieWasSent: true, atMs: startMs + 7 * minute }],
    [link, { atMs: startMs + 26 * 60 * minute, headers: { "user-agent": crawler } }],
  ];
  const records = await Promise.all(visits.map(([target, options]) => recordOf(target, options)));
  await store(records.slice(0, 3));
  await store(records.slice(3, 5));
  await store(records.slice(5));
  const events = await eventsOf(link);
  const all = [...events, ...(await eventsOf(other))];
  const devices = new Map(all.map((event) => [event.id, event.device_id]));
  const names = new Map<string | undefined, string>();
  const told = records.map(({ id }) => {
    const device = devices.get(textOfId(id));
    if (!names.has(device)) names.set(device, "abcde"[names.size] ?? "?");
    return names.get(device);
  });
  expect(told).toEqual(["a", "a", "a", "b", "c", "d", "d", "a", "e"]);
  const types = new Map(all.map((event) => [event.id, event.visit_type]));
  expect(records.map(({ id }) => types.get(textOfId(id)))).toEqual([
    "FIRST",
    "RETURNING",
    "FIRST",
    "FIRST",
    "FIRST",
    "FIRST",
    "RETURNING",
    "RETURNING",
    "FIRST",
  ]);
});

test("the same cookie is another device in another workspace", async () => {
  const [one, two] = [await insertLink(db), await insertLink(db)];
  const cookie = randomUUID();
  await store([await recordOf(one, { cookie }), await recordOf(two, { cookie, cookieWasSent: true })]);
  const [first] = await eventsOf(one);
  const [second] = await eventsOf(two);
  expect(first?.device_id).not.toBe(second?.device_id);
  expect(second?.visit_type).toBe("FIRST");
});

test("records bots without counting them, and gives them no visitor", async () => {
  const link = await insertLink(db);
  const headers = { "user-agent": crawler };
  await store([await recordOf(link, { headers }), await recordOf(link, { headers, atMs: startMs + 1 })]);
  expect(await eventsOf(link)).toMatchObject([
    { counted: false, visitor_id: null, visit_type: "FIRST" },
    { counted: false, visitor_id: null, visit_type: "RETURNING" },
  ]);
  expect(await count("devices", link.workspaceId)).toBe(1);
  expect(await count("device_cookies", link.workspaceId)).toBe(0);
  expect(await count("visitors", link.workspaceId)).toBe(0);
  expect(await counterOf(link)).toBe(0n);
});

test("a prefetch is recorded but not counted, and the visit after it is still the first one", async () => {
  const link = await insertLink(db);
  const cookie = randomUUID();
  const prefetch = { "user-agent": iphone, "accept-language": "de", "sec-purpose": "prefetch;prerender" };
  await store([await recordOf(link, { cookie, headers: prefetch })]);
  await store([
    await recordOf(link, { cookie, cookieWasSent: true, atMs: startMs + 1 }),
    await recordOf(link, { cookie, cookieWasSent: true, atMs: startMs + 2, headers: prefetch }),
  ]);
  await store([await recordOf(link, { cookie, cookieWasSent: true, atMs: startMs + 3, headers: prefetch })]);
  const events = await eventsOf(link);
  expect(events.map(({ counted, visit_type }) => [counted, visit_type])).toEqual([
    [false, "FIRST"],
    [true, "FIRST"],
    [false, "RETURNING"],
    [false, "RETURNING"],
  ]);
  expect(await counterOf(link)).toBe(1n);
  expect(await count("devices", link.workspaceId)).toBe(1);
});

test("at level NONE keeps nothing that identifies a visitor or shows that a visitor came back", async () => {
  const link = await insertLink(db, { dataCollection: "NONE" });
  const options: VisitOptions = { level: "NONE", cookie: "" };
  await store([await recordOf(link, options), await recordOf(link, { ...options, atMs: startMs + 1 })]);
  expect(await eventsOf(link)).toMatchObject([
    { visit_type: "FIRST", visitor_id: null, counted: true },
    { visit_type: "FIRST", visitor_id: null, counted: true },
  ]);
  const devices = await db
    .selectFrom("devices")
    .selectAll()
    .where("workspace_id", "=", link.workspaceId)
    .execute();
  expect(devices).toHaveLength(2);
  expect(devices[0]).toMatchObject({
    country: "DE",
    device_type: "MOBILE",
    device_actor: "HUMAN",
    fingerprint: null,
    ip_address: "",
    user_agent: "",
    browser_name: "",
    browser_language: "",
  });
  expect(await count("device_links", link.workspaceId)).toBe(0);
});

test("keeps visits of deleted links and drops those of purged workspaces", async () => {
  const deleted = await insertLink(db);
  const purged = await insertLink(db);
  const records = [await recordOf(deleted), await recordOf(purged)];
  await db.deleteFrom("links").where("id", "=", deleted.id).execute();
  await db.deleteFrom("workspaces").where("id", "=", purged.workspaceId).execute();
  expect(await store(records)).toMatchObject({ written: 1, dropped: 1, poison: [] });
  expect(await eventsOf(deleted)).toHaveLength(1);
  expect(await eventsOf(purged)).toHaveLength(0);
});

test("an answer waits for its visit in a sandbox, and for seconds only where the visit's month has no visit left", async () => {
  const thisMonth = Date.UTC(2026, 7, 31, 23, 59, 50);
  const [full, open] = [
    await insertLink(db, { environment: "test" }),
    await insertLink(db, { environment: "test" }),
  ];
  const cycle = { limit_key: "TRACKED_VISITS", cycle: "2026-08" };
  await db
    .insertInto("allowance_cycles")
    .values([
      { ...cycle, workspace_id: full.workspaceId, used: 500n },
      { ...cycle, workspace_id: open.workspaceId, used: 499n },
    ])
    .execute();
  // The answers come in the month after, which has visits left.
  const answers = [full, open].map((link) => answerOf(link, newVisitId(thisMonth), thisMonth + 20_000));
  const after = async (ms: number) => {
    const { dropped, early } = await newStore()([chunkOf(answers)], new Date(thisMonth + 20_000 + ms));
    return { dropped, early: new Set(early.map(({ id }) => textOfId(id))) };
  };
  const ids = answers.map(({ id }) => textOfId(id));
  expect(await after(1_000)).toEqual({ dropped: 0, early: new Set(ids) });
  expect(await after(60_000)).toEqual({ dropped: 1, early: new Set(ids.slice(1)) });
  expect(await after(3_600_000)).toEqual({ dropped: 2, early: new Set() });
});

/** The record of an answer that ends a visit. */
function answerOf(
  { workspaceId, id: linkId, redirectStepId }: TestLink,
  visit: Buffer,
  atMs: number,
): Recorded {
  const text = encodeAnswer({
    workspaceId,
    linkId,
    eventId: textOfId(visit),
    number: 1,
    isPress: false,
    outcome: "COMPLETED",
    destination: "https://example.com/menu",
    exitAction: "CLIENT_REDIRECT",
    lastStepId: redirectStepId,
    stepsAhead: 0,
    waitsAt: "",
    query: "",
    level: "ADVANCED",
    seenVisitorId: "",
    saved: [],
    traces: [],
  });
  return { id: newVisitId(atMs), text };
}

test("a visit makes an inactive workspace active again", async () => {
  const link = await insertLink(db);
  const workspace = db.selectFrom("workspaces").select("inactive_since").where("id", "=", link.workspaceId);
  await db
    .updateTable("workspaces")
    .set({ inactive_since: new Date() })
    .where("id", "=", link.workspaceId)
    .execute();
  await store([await recordOf(link)]);
  expect(await workspace.executeTakeFirstOrThrow()).toEqual({ inactive_since: null });
});

async function freshSpool() {
  const directory = await mkdtemp(join(tmpdir(), "drain-"));
  const spool = await openSpool(directory);
  onTestFinished(async () => {
    await spool.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { directory, spool };
}

test("puts aside records that can never be stored, and stores the rest", async () => {
  const link = await insertLink(db);
  const { directory, spool } = await freshSpool();
  const good = await Promise.all([0, 1, 2, 3, 4].map((index) => recordOf(link, { atMs: startMs + index })));
  const torn = { id: newVisitId(startMs), text: { own: "[1,", shared: "" } };
  const own = good[0]?.text.own ?? "";
  // The reader accepts this record and the database refuses it: half a surrogate pair is no JSON text there.
  const odd = {
    id: newVisitId(startMs),
    text: { own, shared: `\n${randomUUID()}1COUNTRY_CONDITION {"country":"\\ud800"}` },
  };
  // The data of this trace reads as two elements, which would shift the data of other visits' traces.
  const split = {
    id: newVisitId(startMs),
    text: { own, shared: `\n${randomUUID()}1COUNTRY_CONDITION {},{}` },
  };
  const refused = [torn, odd, split];
  await Promise.all([...good, ...refused].map(({ id, text }) => spool.append(id, text)));
  const reasons: string[] = [];
  const drain = startDrain({
    spool,
    store: newStore(),
    quarantine: createQuarantine(directory),
    now: () => new Date(startMs),
    isBusy: () => false,
    onTrouble: () => {},
    onPoison: (reason) => reasons.push(reason),
  });
  expect(await drain.flush(10_000)).toBe(true);
  await drain.close();
  expect(drain.counts).toMatchObject({ drained: 5, quarantined: 3, failures: 0 });
  expect(reasons).toHaveLength(3);
  expect((await eventsOf(link)).map(({ id }) => id)).toEqual(good.map(({ id }) => textOfId(id)));
  const lines = (await readFile(join(directory, "quarantine.jsonl"), "utf8")).trim().split("\n");
  const quarantined = lines.map((line) => JSON.parse(line));
  expect(quarantined).toHaveLength(3);
  for (const { id, text } of refused)
    expect(quarantined).toContainEqual(
      expect.objectContaining({
        id: textOfId(id),
        bytes: Buffer.from(text.own + text.shared).toString("base64"),
      }),
    );
});

test("stores long records in parts, and still says which of them can never be stored", async () => {
  const link = await insertLink(db);
  const query = "x".repeat(200_000);
  const long = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const { id, text } = await recordOf(link, { atMs: startMs + index });
      const fields: unknown[] = JSON.parse(text.own);
      const own = JSON.stringify(fields.with(14, `https://example.com/?${query}`));
      return { id, text: { own, shared: "" } };
    }),
  );
  const torn = { id: newVisitId(startMs), text: { own: "[1,", shared: "" } };
  const stored = await store([...long.slice(0, 7), torn, ...long.slice(7)]);
  expect(stored).toMatchObject({ written: 8, dropped: 0, oldestMs: startMs });
  expect(stored.poison.map(({ id }) => textOfId(id))).toEqual([textOfId(torn.id)]);
  const events = await eventsOf(link);
  expect(events.map(({ destination }) => destination.length)).toEqual(Array.from(long, () => 200_021));
});

test("goes on by itself after the database was away, and loses nothing", async () => {
  const link = await insertLink(db);
  const { directory, spool } = await freshSpool();
  const store = newStore();
  let failuresLeft = 2;
  const troubles: unknown[] = [];
  for (let index = 0; index < 10; index++) {
    const { id, text } = await recordOf(link, { atMs: startMs + index });
    await spool.append(id, text);
  }
  const drain = startDrain({
    spool,
    store: (records, now) => {
      failuresLeft -= 1;
      return failuresLeft >= 0 ? Promise.reject(new Error("connection refused")) : store(records, now);
    },
    quarantine: createQuarantine(directory),
    now: () => new Date(startMs),
    isBusy: () => false,
    onTrouble: (error) => troubles.push(error),
    onPoison: () => {},
  });
  expect(await drain.flush(10_000)).toBe(true);
  await drain.close();
  expect(drain.counts).toMatchObject({ drained: 10, failures: 2, quarantined: 0 });
  expect(troubles).toHaveLength(1);
  expect(await eventsOf(link)).toHaveLength(10);
});

test("catches up with what is in the spool, and says at once when there is nothing or the database is away", async () => {
  const link = await insertLink(db);
  const { directory, spool } = await freshSpool();
  const store = newStore();
  let isAway = false;
  const drain = startDrain({
    spool,
    store: (records, now) => (isAway ? Promise.reject(new Error("connection refused")) : store(records, now)),
    quarantine: createQuarantine(directory),
    now: () => new Date(startMs),
    isBusy: () => false,
    onTrouble: () => {},
    onPoison: () => {},
    // Only `catchUp` and `flush` hurry the drain.
    gatherMs: 60_000,
  });
  onTestFinished(() => drain.close());
  const append = async (atMs: number) => {
    const { id, text } = await recordOf(link, { atMs });
    await spool.append(id, text);
  };
  expect(await drain.catchUp(60_000)).toBe(true);
  await append(startMs);
  await append(startMs + 1);
  expect(await drain.catchUp(20_000)).toBe(true);
  expect(await eventsOf(link)).toHaveLength(2);

  isAway = true;
  await append(startMs + 2);
  expect(await drain.catchUp(50)).toBe(false);
  await expect.poll(() => drain.counts.failures, { timeout: 10_000 }).toBeGreaterThan(0);
  // A call that waited would take a minute.
  expect(await drain.catchUp(60_000)).toBe(false);
  isAway = false;
  expect(await drain.flush(10_000)).toBe(true);
  expect(await eventsOf(link)).toHaveLength(3);
});

test("a report waits ten minutes for its visit, and of two about one device the later one stays", async () => {
  const link = await insertLink(db);
  const visit = await recordOf(link);
  const reportOf = (afterMs: number, networkRtt: number): Recorded => ({
    id: newVisitId(startMs + afterMs),
    text: encodeReport({
      workspaceId: link.workspaceId,
      eventId: textOfId(visit.id),
      report: { networkRtt },
    }),
  });
  const [first, second] = [reportOf(1_000, 20), reportOf(2_000, 30)];
  const storeAt = (records: readonly Recorded[], afterMs: number) =>
    newStore()([chunkOf(records)], new Date(startMs + afterMs));
  const waiting = await storeAt([first, second], 60_000);
  expect(waiting).toMatchObject({ written: 0, dropped: 0, poison: [] });
  expect(waiting.early.map(({ id, text }) => ({ id: Buffer.from(id), text }))).toEqual([first, second]);
  expect(await storeAt([first], 11 * 60_000)).toMatchObject({ written: 0, dropped: 1, early: [] });
  // Visits are stored first, also those behind their reports.
  expect(await storeAt([second, first, visit], 60_000)).toMatchObject({ written: 3, dropped: 0, early: [] });
  const devices = await db
    .selectFrom("devices")
    .selectAll()
    .where("workspace_id", "=", link.workspaceId)
    .execute();
  expect(devices).toMatchObject([{ network_rtt: 30, gpu: null }]);
});
