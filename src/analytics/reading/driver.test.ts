import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Random, randomFrom } from "../../../test/fuzz/random.ts";
import { storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomMoment, randomWorld, type World } from "../../../test/support/analytics/world.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { clockSettings, intervalStarts } from "../../model/intervals.ts";
import type { Analytics } from "../driver.ts";
import type { Dimension, Kind, QuestionOf, Scope } from "../question.ts";
import { referenceAnalytics } from "../reference/driver.ts";
import { columnNames, packColumns } from "../segments/pack-columns.ts";
import { readVisits } from "../segments/read-visits.ts";
import { segmentAnalytics } from "./driver.ts";

const { db, pool, connection } = await testDatabase();
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

interface Place {
  readonly workspaceId: string;
  readonly world: World;
}

async function newPlace(seed: number, visits: number): Promise<Place> {
  const workspaceId = randomUUID();
  const links = ["a", "b", "c"].map((name) => {
    return { id: randomUUID(), name, shortlink: name, tags: [], isDeleted: false };
  });
  const world = randomWorld(randomFrom(seed), "Europe/Berlin", links, visits);
  await storeWorld(db, workspaceId, world);
  return { workspaceId, world };
}

const dayMs = 86_400_000;

/** Seals the visits up to a moment, in segments of some days. */
async function seal({ workspaceId }: Place, through: number, days: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read");
    const begin = Date.UTC(2023, 11, 1);
    for (let at = begin; at < through; ) {
      const from = at === begin ? new Date(0) : new Date(at);
      const to = new Date(Math.min(through, at + days * dayMs));
      const read = await readVisits(client, { workspaceId, from: new Date(at), to });
      const packed = await packColumns(read.columns);
      const bytes = columnNames.map((name) => packed[name]);
      const names = columnNames.map((name) => name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`));
      const empty = at === begin ? [[workspaceId, from, new Date(at)]] : [];
      for (const [id, since, until] of empty)
        await client.query(
          `insert into segments (workspace_id, begins_at, ends_at, sealed_at, visits, ${names.join()})
          values ($1, $2, $3, now(), 0, ${names.map(() => "''").join()})`,
          [id, since, until],
        );
      await client.query(
        `insert into segments (workspace_id, begins_at, ends_at, sealed_at, visits, ${names.join()})
        values ($1, $2, $3, now(), $4, ${names.map((_, index) => `$${index + 5}`).join()})`,
        [workspaceId, new Date(at), read.to, read.visits, ...bytes],
      );
      at = read.to.getTime();
    }
    await client.query("commit");
  } finally {
    client.release();
  }
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
  place = await newPlace(7, 800);
});

test("what is in no segment is answered from events like by the reference", async () => {
  await compare(place, 1, 20);
});

test("what is partly in segments is answered like by the reference", async () => {
  await seal(place, Date.UTC(2024, 8, 20), 7);
  await compare(place, 2, 30);
});

test("what is in segments is answered like by the reference", async () => {
  await sql`delete from segments where workspace_id = ${place.workspaceId}`.execute(db);
  await seal(place, Date.UTC(2025, 2, 20), 30);
  await compare(place, 3, 50);
});
