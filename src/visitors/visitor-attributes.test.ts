import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../test/support/test-database.ts";
import { newId } from "../lib/ids.ts";
import { type AttributeToSave, saveVisitorAttributes } from "./visitor-attributes.ts";
import { visitorAttributesMax } from "./visitor-moves.ts";

const { db } = await testDatabase();
const startMs = Date.UTC(2026, 7, 1);

let workspaceId: string;
let visitorId: string;
beforeEach(async () => {
  workspaceId = randomUUID();
  visitorId = await addVisitor();
});

async function addVisitor(): Promise<string> {
  const at = new Date(startMs);
  const id = newId(at);
  await db
    .insertInto("visitors")
    .values({ workspace_id: workspaceId, id, created_at: at, updated_at: at })
    .execute();
  return id;
}

function write(value: string, more: Partial<AttributeToSave> = {}): AttributeToSave {
  return { workspaceId, visitorId, key: "k", value, type: "STRING", setOnce: false, atMs: startMs, ...more };
}

async function valuesOf(id = visitorId): Promise<Record<string, string>> {
  const rows = await db
    .selectFrom("visitor_attributes")
    .select(["key", "value"])
    .where("workspace_id", "=", workspaceId)
    .where("visitor_id", "=", id)
    .execute();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

const once = { setOnce: true };

test.each<[name: string, stored: string | undefined, writes: AttributeToSave[], expected: string]>([
  ["a write makes it", undefined, [write("a")], "a"],
  ["a write overwrites", "old", [write("a")], "a"],
  ["the last write of several wins", "old", [write("a"), write("b")], "b"],
  ["set once makes it", undefined, [write("a", once)], "a"],
  ["set once fills what is empty", "", [write("a", once)], "a"],
  ["set once leaves what is there", "old", [write("a", once)], "old"],
  ["the first of several that are set once wins", undefined, [write("a", once), write("b", once)], "a"],
  ["a write overwrites what was set once before it", "old", [write("a", once), write("b")], "b"],
  ["set once leaves what was written before it", undefined, [write("a"), write("b", once)], "a"],
])("%s", async (_, stored, writes, expected) => {
  const own = { workspaceId, visitorId };
  if (stored !== undefined) await saveVisitorAttributes(db, [write(stored, { ...own, atMs: startMs - 1 })]);
  await saveVisitorAttributes(
    db,
    writes.map((attribute) => ({ ...attribute, ...own })),
  );
  expect(await valuesOf()).toEqual({ k: expected });
});

test("an older write that comes late does not undo a newer one", async () => {
  await saveVisitorAttributes(db, [write("new", { atMs: startMs + 1_000 })]);
  await saveVisitorAttributes(db, [write("old")]);
  expect(await valuesOf()).toEqual({ k: "new" });
});

test("one statement saves what many visitors are given, each their own, and moves their time of change", async () => {
  const other = await addVisitor();
  const untouched = await addVisitor();
  const at = { atMs: startMs + 5_000 };
  await saveVisitorAttributes(db, [
    write("1", at),
    write("2", { ...at, visitorId: other, type: "NUMBER" }),
    write('quotes " and \\ and {}', { ...at, key: "odd" }),
  ]);
  expect(await valuesOf()).toEqual({ k: "1", odd: 'quotes " and \\ and {}' });
  expect(await valuesOf(other)).toEqual({ k: "2" });
  const rows = await db
    .selectFrom("visitors")
    .select(["id", "updated_at"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  const changed = new Date(at.atMs);
  expect(new Map(rows.map(({ id, updated_at }) => [id, updated_at]))).toEqual(
    new Map([
      [visitorId, changed],
      [other, changed],
      [untouched, new Date(startMs)],
    ]),
  );
});

test("nothing is saved for visitors who are gone, or are of another workspace", async () => {
  await saveVisitorAttributes(db, [
    write("a", { visitorId: randomUUID() }),
    write("b", { workspaceId: randomUUID() }),
  ]);
  const { rows } = await sql`select from visitor_attributes where workspace_id = ${workspaceId}`.execute(db);
  expect(rows).toEqual([]);
  expect(await valuesOf()).toEqual({});
});

test("keeps to the number of attributes that a visitor may have, and still changes those that are there", async () => {
  const many = Array.from({ length: visitorAttributesMax - 1 }, (_, index) =>
    write("x", { key: `k${String(index).padStart(3, "0")}` }),
  );
  await saveVisitorAttributes(db, many);
  const late = { atMs: startMs + 1 };
  await saveVisitorAttributes(db, [
    write("y", { ...late, key: "k000" }),
    write("y", { ...late, key: "z1" }),
    write("y", { ...late, key: "z2" }),
  ]);
  const values = await valuesOf();
  expect(Object.keys(values)).toHaveLength(visitorAttributesMax);
  expect(values).toMatchObject({ k000: "y", z1: "y" });
});

test("waits for nobody who is changing the visitor", async () => {
  await db.transaction().execute(async (tx) => {
    await sql`select from visitors where workspace_id = ${workspaceId} for update`.execute(tx);
    await saveVisitorAttributes(db, [write("a")]);
  });
  expect(await valuesOf()).toEqual({ k: "a" });
});
