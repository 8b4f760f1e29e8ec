import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Random, randomFrom } from "../../../test/fuzz/random.ts";
import {
  moveVisitor,
  newPlace,
  type Place,
  seal as sealThrough,
} from "../../../test/support/analytics/sealed-place.ts";
import { randomMoment } from "../../../test/support/analytics/world.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { clockSettings, intervalStarts } from "../../model/intervals.ts";
import { toCallError } from "../../rpc/pipeline/failure.ts";
import type { Analytics } from "../driver.ts";
import type { Dimension, Kind, QuestionOf, Scope } from "../question.ts";
import { referenceAnalytics } from "../reference/driver.ts";
import { segmentAnalytics } from "./driver.ts";

const { db, connection } = await testDatabase();
const now = () => new Date();
const faults: string[] = [];
const { ask: askSegments, close } = segmentAnalytics({
  connection,
  now,
  cacheBytes: 4_000_000,
  timeoutMs: 20_000,
  maxAgeMs: 0,
  onFault: (fault) => faults.push(fault),
});
const askReference = referenceAnalytics(now);
afterAll(close);

const dayMs = 86_400_000;

/** Seals the visits up to a moment, and says how many lie in segments. */
async function seal({ workspaceId }: Place, through: number): Promise<number> {
  await sealThrough(connection, workspaceId, new Date(through));
  const { rows } = await sql<{ visits: number }>`
    select sum(visits)::int as visits from segments where workspace_id = ${workspaceId}`.execute(db);
  return rows[0]?.visits ?? 0;
}

const dimensions: readonly Dimension[] = [
  "browser",
  "platform",
  "deviceType",
  "country",
  "city",
  "visitType",
];

type Asked = { readonly [K in Kind]: { readonly kind: K; readonly question: QuestionOf<K> } }[Kind];

function randomAsked(random: Random, { workspaceId, world }: Place): Asked {
  const to = new Date(randomMoment(random));
  const length = random.pick([0, 6, 72, 720, 9_600] as const) * 3_600_000;
  const from = new Date(to.getTime() - length);
  const timezone = random.pick(["Europe/Berlin", "Pacific/Chatham", "UTC"] as const);
  const isOpen = random.percent(15);
  const scope: Scope = {
    workspaceId,
    linkId: random.percent(40) ? random.pick(world.links)?.id : undefined,
    tagKey: random.percent(25) ? random.pick(["red", "none"]) : undefined,
    from: isOpen ? undefined : from,
    to: isOpen && random.percent(50) ? undefined : to,
  };
  const minutes = random.pick([1_440, 10_080, length < 30 * dayMs ? 45 : 720] as const);
  const starts = isOpen ? [new Date(0)] : (intervalStarts({ from, to }, minutes, timezone, 2_000) ?? [from]);
  const limit = random.pick([1, 3, 10, 100] as const);
  const dimension = random.pick(dimensions);
  if (dimension === undefined) throw new Error("there are dimensions");
  const key = random.pick(["plan", "$email", "none"] as const);
  const asked: readonly Asked[] = [
    { kind: "groups", question: { scope, dimension, limit } },
    { kind: "series", question: { scope, dimension, limit, starts } },
    { kind: "topLinks", question: { scope, limit } },
    { kind: "intervals", question: { scope, starts } },
    { kind: "hours", question: { scope, clock: clockSettings(from, to, timezone) } },
    { kind: "visitors", question: { scope, starts } },
    { kind: "funnel", question: { scope } },
    { kind: "attribute", question: { scope, key } },
    { kind: "attributeGroups", question: { scope, key, limit } },
    { kind: "attributeValues", question: { scope, key, limit } },
    { kind: "summary", question: { scope } },
  ];
  const one = random.pick(asked);
  if (one === undefined) throw new Error("there are kinds of questions");
  if (one.kind === "hours" && isOpen) return { kind: "summary", question: { scope } };
  return one;
}

async function answerOf(ask: Analytics, { kind, question }: Asked): Promise<unknown> {
  const { answer, through } = await ask(db, kind, question);
  expect(now().getTime() - through.getTime()).toBeLessThan(60_000);
  if (kind !== "funnel") return answer;
  const { steps, ...others } = answer as Awaited<ReturnType<typeof askFunnel>>;
  return { ...others, steps: steps.toSorted((a, b) => (a.action < b.action ? -1 : 1)) };
}

const askFunnel = async (scope: Scope) => (await askReference(db, "funnel", { scope })).answer;

async function compare(place: Place, seed: number, count: number): Promise<void> {
  const random = randomFrom(seed);
  for (let index = 0; index < count; index++) {
    const asked = randomAsked(random, place);
    const [given, expected] = [await answerOf(askSegments, asked), await answerOf(askReference, asked)];
    expect(given, JSON.stringify(asked)).toEqual(expected);
  }
}

let place: Place;
beforeAll(async () => {
  place = await newPlace(db, 7, 800);
});

test("what is in no segment is answered from events like by the reference", async () => {
  await compare(place, 1, 12);
});

test("what is partly in segments is answered like by the reference", async () => {
  expect(await seal(place, Date.UTC(2024, 8, 20))).toBeGreaterThan(200);
  await compare(place, 2, 20);
});

test("what is in segments is answered like by the reference", async () => {
  expect(await seal(place, Date.UTC(2025, 2, 20))).toBeGreaterThan(600);
  await compare(place, 3, 40);
});

/** Makes one visitor another one, and erases a third, as the rooms that do so leave it. */
async function mergeAndErase({ workspaceId, world }: Place): Promise<void> {
  const [gone, kept, erased] = world.visitors.filter(({ email }) => email === undefined);
  if (gone === undefined || erased === undefined)
    throw new Error("the world has visitors without an address");
  await moveVisitor(db, workspaceId, { from: gone.id, to: kept?.id });
  await moveVisitor(db, workspaceId, { from: erased.id, to: undefined });
}

test("visitors who are merged or erased are followed, although their segments stay as they are", async () => {
  await mergeAndErase(place);
  await compare(place, 4, 20);
});

test("a segment that lacks a change, or that cannot be read, is read from events instead", async () => {
  const { workspaceId, world } = place;
  await sql`update events set counted = false
    where workspace_id = ${workspaceId} and link_id = ${world.links[0]?.id}`.execute(db);
  await sql`insert into segment_marks (workspace_id, first_at, last_at, marked_at)
    values (${workspaceId}, '2024-01-01', '2025-02-01', clock_timestamp())`.execute(db);
  await compare(place, 5, 4);
  await sql`delete from segment_marks where workspace_id = ${workspaceId}`.execute(db);
  await seal(place, Date.UTC(2025, 2, 20));
  const names = ["times", "links", "country", "city", "visitors", "ways"].map((name) => sql.ref(name));
  for (const name of names)
    await sql`update segments set version = default, ${name} = substring(${name} for 7)
      where workspace_id = ${workspaceId} and visits > 0`.execute(db);
  await compare(place, 6, 8);
  await seal(place, Date.UTC(2025, 2, 20));
  expect(faults.length).toBeGreaterThan(0);
  expect(faults[0]).toMatch(
    /^segment \d+: the column \w+ of a segment is broken .*: seal the segment again$/,
  );
});

const whole = (workspaceId: string): Scope => {
  return { workspaceId, linkId: undefined, tagKey: undefined, from: undefined, to: undefined };
};

test("questions beyond the line of a workspace are refused, and do not hold up another one's", async () => {
  const crowded = Array.from({ length: 80 }, () =>
    askSegments(db, "summary", { scope: whole(place.workspaceId) }).then(
      () => "answered",
      (error: unknown) => error,
    ),
  );
  const other = askSegments(db, "summary", { scope: whole(randomUUID()) });
  const first = await Promise.race([
    other.then(({ answer }) => answer.total),
    Promise.all(crowded).then(() => "the crowd"),
  ]);
  expect(first).toBe(0);
  const refused = (await Promise.all(crowded)).filter((each) => each !== "answered");
  expect(refused).toHaveLength(14);
  expect(refused[0]).toMatchObject({ code: "RESOURCE_EXHAUSTED", refusal: { retryAfterSeconds: 1 } });
});

test("a thread that ends fails its questions with a time to come back, and is replaced", async () => {
  const question = { scope: whole(place.workspaceId) };
  const asked = askSegments(db, "summary", question);
  const failing = expect(asked).rejects.toMatchObject({
    code: "UNAVAILABLE",
    refusal: { retryAfterSeconds: 1 },
  });
  await close();
  await failing;
  expect((await askSegments(db, "summary", question)).answer.total).toBeGreaterThan(0);
});

test("a database that is away fails a question like any other call", async () => {
  const away = segmentAnalytics({
    connection: { ...connection, host: "127.0.0.1", port: 1 },
    now,
    cacheBytes: 1_000_000,
    timeoutMs: 5_000,
    onFault: (fault) => faults.push(fault),
  });
  onTestFinished(away.close);
  const error: unknown = await away
    .ask(db, "summary", { scope: whole(randomUUID()) })
    .catch((thrown) => thrown);
  expect(toCallError(error)).toMatchObject({ code: "UNAVAILABLE", refusal: { retryAfterSeconds: 1 } });
});
