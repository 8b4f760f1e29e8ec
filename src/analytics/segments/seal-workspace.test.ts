import { sql } from "kysely";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { compare } from "../../../test/support/analytics/as-answered.ts";
import { beginMs, type Deed, type Place, placeWithDeeds } from "../../../test/support/analytics/deeds.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { newId } from "../../lib/ids.ts";
import { shareRollUps } from "../../visitors/roll-ups.ts";
import { sealWorkspace } from "./seal-workspace.ts";
import { openSession } from "./session.ts";

const database = await testDatabase();
const { db } = database;
const session = await openSession(database.connection);
const others = await Promise.all([openSession(database.connection), openSession(database.connection)]);
afterAll(() => Promise.all([session, ...others].map((each) => each.close())));

const dayMs = 86_400_000;

/** How many visits segments have at this moment, when they say what the events say. */
async function sealedVisits({ workspaceId, nowMs }: Place, after: string): Promise<number> {
  const span = { workspaceId, from: new Date(beginMs - 10 * dayMs), to: new Date(nowMs + dayMs) };
  const { answered, stored, sealed, isGapless } = await compare(session, span);
  expect(answered, after).toEqual(stored);
  expect(isGapless, after).toBe(true);
  return sealed;
}

/** Seals as the job does, which comes again when writers were busy for too long. */
async function sealIn(place: Place, own = session, settledMs = 0): Promise<void> {
  const now = () => new Date(place.nowMs);
  try {
    await sealWorkspace({ session: own, now, settledMs, openMax: 20 }, place.workspaceId);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== "55P03") throw error;
    await sealIn(place, own, settledMs);
  }
}

async function marksLeft({ workspaceId }: Place): Promise<number> {
  const { rows } = await sql`select from segment_marks where workspace_id = ${workspaceId} and first_at <
    (select max(ends_at) from segments where workspace_id = ${workspaceId})`.execute(db);
  return rows.length;
}

test.each([1, 4])(
  "segments, marks and open visits say at any moment what the events say, whatever happens to visits (seed %i)",
  async (seed) => {
    const random = randomFrom(seed);
    const { place, deeds } = await placeWithDeeds(db, random);
    const { identify, visitLate, answer, endIdle, reveal, visitNow } = deeds;
    const often = { identify, visitLate, answer, endIdle, reveal, visitNow };
    const weighted = [deeds, often, often, { identify }].flatMap((some): [string, Deed][] =>
      Object.entries(some),
    );
    let sealedMost = 0;
    for (let visits = 0; visits < 8; visits++) await visitLate();
    for (let turn = 0; turn < 50; turn++) {
      const [name, deed] = random.pick(weighted) ?? [];
      // Most deeds meet segments without marks.
      await sealIn(place, session, random.percent(80) ? 0 : 60_000);
      await deed?.();
      sealedMost = Math.max(sealedMost, await sealedVisits(place, `after ${turn}: ${name}`));
    }
    expect(sealedMost).toBeGreaterThan(20);
    await sealIn(place);
    expect(await marksLeft(place)).toBe(0);
  },
);

test("two sealers and late writers who meet at any moment leave no visit out and count none twice", async () => {
  const random = randomFrom(11);
  const { place, deeds } = await placeWithDeeds(db, random);
  for (let visits = 0; visits < 10; visits++) await deeds.visitLate();
  const { visitNow, visitLate, answer, identify, erase } = deeds;
  let isOver = false;
  let looks = 0;
  const looking = (async () => {
    for (; !isOver; looks++) await sealedVisits(place, "meanwhile");
  })();
  try {
    for (let round = 0; round < 15; round++) {
      place.nowMs += random.below(dayMs / 4);
      const deed = random.pick([visitNow, answer, identify, erase] as const);
      await Promise.all([...others.map((own) => sealIn(place, own)), visitLate(), deed(), visitLate()]);
    }
  } finally {
    isOver = true;
    await looking;
  }
  expect(looks).toBeGreaterThan(0);
  await sealIn(place);
  expect(await sealedVisits(place, "in the end")).toBeGreaterThan(20);
  expect(await marksLeft(place)).toBe(0);
});

test("a visit that is being stored while its time is sealed is not lost", async () => {
  const { place, deeds } = await placeWithDeeds(db, randomFrom(12));
  const { workspaceId } = place;
  await deeds.visitLate();
  const [known] = await db.selectFrom("events").selectAll().where("workspace_id", "=", workspaceId).execute();
  if (known === undefined) throw new Error("there are no visits");
  const at = new Date(beginMs + 1_000);
  let sealing: Promise<void> | undefined;
  let isSealed = false;
  await db.transaction().execute(async (tx) => {
    await shareRollUps([workspaceId]).execute(tx);
    const event = { ...known, id: newId(at), created_at: at, counted: true, uncounted_reason: null };
    await tx.insertInto("events").values(event).execute();
    sealing = sealIn(place).then(() => {
      isSealed = true;
    });
    const waits = sql`select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await expect
      .poll(async () => isSealed || (await waits.execute(db)).rows.length > 0, {
        timeout: 10_000,
        interval: 5,
      })
      .toBe(true);
  });
  await sealing;
  expect(await sealedVisits(place, "afterwards")).toBeGreaterThan(0);
});
