import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { type ColumnRow, rowsOf } from "../../../test/support/analytics/rows-of.ts";
import { storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomWorld, type World } from "../../../test/support/analytics/world.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { newId } from "../../lib/ids.ts";
import { factsByAction } from "../../model/steps/kinds.ts";
import type { StepCounts } from "../question.ts";
import { referenceAnalytics } from "../reference/driver.ts";
import { columnNames, packColumns, unpackColumn, unpackColumns } from "./pack-columns.ts";
import { readVisits } from "./read-visits.ts";

const { db, pool } = await testDatabase();
const ask = referenceAnalytics(() => new Date());
const dayMs = 86_400_000;

async function newWorld(seed: number, visits: number): Promise<{ workspaceId: string; world: World }> {
  const workspaceId = randomUUID();
  const links = ["a", "b", "c"].map((name) => ({
    id: randomUUID(),
    name,
    shortlink: name,
    tags: [],
    isDeleted: false,
  }));
  const world = randomWorld(randomFrom(seed), "UTC", links, visits);
  await storeWorld(db, workspaceId, world);
  return { workspaceId, world };
}

/** All visits of 2024 and around, read in spans of 40 days, in as many parts as the limit makes. */
async function readAll(workspaceId: string, limit?: number): Promise<ColumnRow[]> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read read only");
    const rows: ColumnRow[] = [];
    const end = Date.UTC(2025, 3, 1);
    for (let from = new Date(Date.UTC(2023, 10, 1)); from.getTime() < end; ) {
      const span = { workspaceId, from, to: new Date(Math.min(end, from.getTime() + 40 * dayMs)) };
      const read = await readVisits(client, span, limit);
      const packed = await packColumns(read.columns);
      const unpacked = unpackColumns(packed, read.visits);
      expect(unpacked).toEqual(read.columns);
      rows.push(...rowsOf(unpacked, from));
      from = read.to;
    }
    await client.query("commit");
    return rows;
  } finally {
    client.release();
  }
}

test.each([1, 2, 3])("columns say what the reference says about the same visits (seed %i)", async (seed) => {
  const { workspaceId, world } = await newWorld(seed, 400);
  const rows = await readAll(workspaceId);
  expect(await readAll(workspaceId, 7)).toEqual(rows);
  expect(rows.map(({ atMs }) => atMs)).toEqual(rows.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
  const scope = { workspaceId, linkId: undefined, tagKey: undefined, from: undefined, to: undefined };
  for (const dimension of ["browser", "platform", "deviceType", "country", "city", "visitType"] as const) {
    const { answer } = await ask(db, "groups", { scope, dimension, limit: 100 });
    const { total, groups } = answer;
    expect(total).toBe(rows.length);
    const own = Map.groupBy(rows, (row) => row[dimension]);
    expect(groups.map(({ value, count }) => [value, count])).toEqual(
      groups.map(({ value }) => [value, own.get(value)?.length]),
    );
    expect(own.size).toBe(groups.length);
  }
  const { answer: summary } = await ask(db, "summary", { scope });
  const scores = rows.flatMap(({ score }) => (score === 255 ? [] : [score]));
  expect([scores.length, scores.reduce((sum, score) => sum + score, 0)]).toEqual([
    summary.scored,
    summary.scoreSum,
  ]);
  const { answer: funnel } = await ask(db, "funnel", { scope });
  const { visits, completed, steps } = funnel;
  expect([rows.length, rows.filter(({ isCompleted }) => isCompleted).length]).toEqual([visits, completed]);
  const identified = new Set(world.visitors.flatMap(({ id, email }) => (email === undefined ? [] : [id])));
  const numbers = await db
    .selectFrom("visitors")
    .select(["id", "number"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  const named = new Set(numbers.filter(({ id }) => identified.has(id)).map(({ number }) => Number(number)));
  expect(stepsOf(rows, named)).toEqual([...steps].sort((a, b) => (a.action < b.action ? -1 : 1)));
});

/** A funnel of ways, as the contract of `Way` says. */
function stepsOf(rows: readonly ColumnRow[], identified: ReadonlySet<number>): StepCounts[] {
  const actions = [...new Set(rows.flatMap(({ way }) => way.steps.map(({ action }) => action)))].sort();
  return actions.map((action): StepCounts => {
    const own = rows.flatMap((row) => {
      const step = row.way.steps.find((each) => each.action === action);
      return step === undefined ? [] : [{ ...row, step }];
    });
    const choices = own.flatMap(({ way }) => way.choices.filter((choice) => choice.action === action));
    const isExit = Object.entries(factsByAction).some(
      ([name, { kind }]) => name === action && kind === "EXIT",
    );
    const done = own.filter(({ step }) => (isExit && choices.length > 0 ? step.isMade : step.isDone));
    const byLabel = Map.groupBy(choices, ({ label }) => label);
    const others = Map.groupBy(
      own.flatMap(({ way }) => way.steps),
      (step) => step.action,
    );
    return {
      action: action as StepCounts["action"],
      visits: own.length,
      occurrences: own.reduce((sum, { step }) => sum + step.occurrences, 0),
      interactions: done.length,
      identified: own.filter(({ visitor }) => identified.has(visitor)).length,
      places: own.reduce((sum, { step }) => sum + step.place, 0),
      alsoReached: Object.fromEntries([...others].map(([other, visits]) => [other, visits.length])),
      choices: [...byLabel]
        .map(([value, all]) => ({ value, count: all.filter(({ isChosen }) => isChosen).length }))
        .sort((a, b) => b.count - a.count || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value))),
    };
  });
}

test("visits of one millisecond stay together, however small the limit is", async () => {
  const { workspaceId, world } = await newWorld(9, 40);
  const at = new Date(Date.UTC(2024, 5, 1));
  await db
    .updateTable("events")
    .set({ created_at: at, counted: true, locked_number: null })
    .where("workspace_id", "=", workspaceId)
    .execute();
  for (const { id } of world.visits)
    await db
      .updateTable("events")
      .set({ id: newId(at) })
      .where("id", "=", id)
      .execute();
  expect(await readAll(workspaceId, 3)).toHaveLength(40);
});

test("broken bytes are refused with the name of the column, and reserve little memory", async () => {
  const { workspaceId } = await newWorld(5, 60);
  const rows = await readAll(workspaceId);
  const client = await pool.connect();
  const from = new Date(Date.UTC(2024, 1, 1));
  const read = await readVisits(client, { workspaceId, from, to: new Date(Date.UTC(2024, 2, 10)) });
  client.release();
  expect(rows.length).toBeGreaterThan(read.visits);
  const packed = await packColumns(read.columns);
  const random = randomFrom(7);
  for (const name of columnNames) {
    const bytes = packed[name];
    const tries: Buffer[] = [Buffer.alloc(0), Buffer.from("hello world"), bytes.subarray(0, -1)];
    const long = Buffer.from(bytes);
    long.writeUInt32LE(0xffff_ffff, 1);
    tries.push(long);
    const other = Buffer.from(bytes);
    other[0] = 2;
    tries.push(other);
    for (const broken of tries)
      expect(() => unpackColumn(name, broken, read.visits)).toThrow(
        new RegExp(`^the column ${name} of a segment is broken \\(.+\\): seal the segment again$`),
      );
    expect(() => unpackColumn(name, bytes, read.visits + 1)).toThrow(`the column ${name} of a segment`);
    // Whatever single bytes change, the column is refused, or it is one of as many visits.
    for (let change = 0; change < 200; change++) {
      const changed = Buffer.from(bytes);
      changed[random.below(changed.length)] = random.below(256);
      try {
        const column = unpackColumn(name, changed, read.visits);
        const numbers = "codes" in column ? column.codes : column;
        expect(numbers).toHaveLength(read.visits);
        if ("codes" in column) expect(Math.max(...column.codes)).toBeLessThan(column.values.length);
      } catch (error) {
        expect(String(error)).toContain(`the column ${name} of a segment is broken`);
      }
    }
  }
});

test("numbers beyond four bytes keep every digit", async () => {
  const numbers = Float64Array.of(0, 1, 2 ** 32, 2 ** 53 - 1);
  const { workspaceId } = await newWorld(6, 1);
  const client = await pool.connect();
  const span = { workspaceId, from: new Date(0), to: new Date(1) };
  const { columns } = await readVisits(client, span);
  client.release();
  const packed = await packColumns({ ...columns, visitors: numbers });
  expect(unpackColumn("visitors", packed.visitors, 4)).toEqual(numbers);
});
