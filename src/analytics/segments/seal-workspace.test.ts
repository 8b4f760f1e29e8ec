import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { compare } from "../../../test/support/analytics/as-answered.ts";
import { beginMs, type Deed, type Place, placeWithDeeds } from "../../../test/support/analytics/deeds.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
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

function sealIn(place: Place, own = session, settledMs = 0) {
  const now = () => new Date(place.nowMs);
  return sealWorkspace({ session: own, now, settledMs, openMax: 20 }, place.workspaceId);
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
    const all: readonly (readonly [string, Deed])[] = [
      ...Object.entries(deeds),
      ["seal", () => sealIn(place)],
      ["seal later", () => sealIn(place, session, 60_000)],
    ];
    const often = ["visitNow", "visitNow", "visitLate", "answer", "seal", "pass"];
    const weighted = [...all, ...often.flatMap((name) => all.filter(([own]) => own === name))];
    let sealedMost = 0;
    for (let turn = 0; turn < 80; turn++) {
      const [name, deed] = random.pick(weighted) ?? [];
      await deed?.();
      sealedMost = Math.max(sealedMost, await sealedVisits(place, `after ${turn}: ${name}`));
    }
    expect(sealedMost).toBeGreaterThan(20);
    await sealIn(place);
    expect(await marksLeft(place)).toBe(0);
  },
  30_000,
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
  expect(looks).toBeGreaterThan(5);
  await sealIn(place);
  expect(await sealedVisits(place, "in the end")).toBeGreaterThan(20);
  expect(await marksLeft(place)).toBe(0);
}, 30_000);
