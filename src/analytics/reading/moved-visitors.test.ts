import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomWorld } from "../../../test/support/analytics/world.ts";
import { insertLink } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { openDatabase } from "../../db/open.ts";
import type { Scope } from "../question.ts";
import { referenceAnalytics } from "../reference/driver.ts";
import { sealSpan } from "../segments/seal-span.ts";
import { openSession } from "../segments/session.ts";
import { createColumnStore } from "./column-store.ts";
import { readAnswer } from "./reader.ts";
import { createSpanReader } from "./spans.ts";
import { createMemories } from "./workspace-memory.ts";

const { db, connection } = await testDatabase();
const own = openDatabase({ connection, poolSize: 4, statementTimeoutMs: 20_000, onError: () => {} });
afterAll(() => own.db.destroy());

const { pool } = own;
const columns = createColumnStore(pool, 4_000_000);
const memoryOf = createMemories(pool, 4_000_000, 100_000);
/** What happens whenever a question lets others have their turn. */
let meanwhile = async () => {};
const spans = createSpanReader(pool, columns, () => meanwhile());
const deps = { pool, memoryOf, columns, spans, onFault: () => {} };
const terms = { now: () => Date.now(), maxAgeMs: 0, timeoutMs: 20_000 };

let workspaceId: string;
/** Visitors who are nobody else yet. */
let numbers: bigint[];
let movesLeft = 0;

beforeAll(async () => {
  const link = await insertLink(db);
  workspaceId = link.workspaceId;
  const links = [{ id: link.id, name: "", shortlink: "", tags: [], isDeleted: false }];
  await storeWorld(db, workspaceId, randomWorld(randomFrom(11), "UTC", links, 500));
  const session = await openSession(connection);
  for (const [from, to] of [
    [0, Date.UTC(2024, 6)],
    [Date.UTC(2024, 6), Date.UTC(2025, 0)],
  ] as const)
    await sealSpan(session, { workspaceId, from: new Date(from), to: new Date(to) });
  await session.close();
  const { rows } = await sql<{ number: bigint }>`select number from visitors v
    where workspace_id = ${workspaceId} and email is null and phone is null and exists (
      select from events e where e.workspace_id = v.workspace_id and e.visitor_id = v.id)
    order by number`.execute(db);
  numbers = rows.map(({ number }) => number);
});

/** Makes a visitor another one, or nobody, and has another question read it. */
async function moveOne(isErased: boolean): Promise<void> {
  const [kept] = numbers;
  const from = movesLeft > 0 && numbers.length > 1 ? numbers.pop() : undefined;
  if (from === undefined || kept === undefined) return;
  movesLeft -= 1;
  // Whoever others have become is not moved here: those who do so write the earlier moves again.
  const to = isErased ? 0n : kept;
  await db.transaction().execute(async (tx) => {
    const idOf = (number: bigint) =>
      sql`(select id from visitors where workspace_id = ${workspaceId} and number = ${number})`;
    await sql`update events set visitor_id = ${idOf(to)}
      where workspace_id = ${workspaceId} and visitor_id = ${idOf(from)}`.execute(tx);
    await sql`delete from visitors where workspace_id = ${workspaceId} and number = ${from}`.execute(tx);
    await sql`insert into moved_visitors (workspace_id, number, to_number)
      values (${workspaceId}, ${from}, ${to})`.execute(tx);
  });
  await memoryOf(workspaceId).state(0);
}

/** An answer whose steps, which have no order of their own, come by their actions. */
function inOrder(answer: object): object {
  if (!("steps" in answer)) return answer;
  const steps = answer.steps as { readonly action: string }[];
  return { ...answer, steps: steps.toSorted((one, other) => (one.action < other.action ? -1 : 1)) };
}

test("a question is answered as of its beginning, however many visitors merge or are erased meanwhile", async () => {
  const from = new Date(Date.UTC(2024, 9));
  const scope: Scope = { workspaceId, linkId: undefined, tagKey: undefined, from, to: undefined };
  const reference = referenceAnalytics(() => new Date());
  const question = { scope, starts: [from, new Date(Date.UTC(2024, 11))], key: "plan", limit: 10 };
  const asked = numbers.length;
  for (const isErased of [false, true, false]) {
    for (const kind of ["visitors", "summary", "attribute", "attributeGroups", "funnel"] as const) {
      const { answer: expected } = await reference(db, kind, question);
      movesLeft = 1;
      meanwhile = () => moveOne(isErased);
      const { answer } = await readAnswer(deps, kind, question, terms);
      meanwhile = async () => {};
      expect(inOrder(answer), kind).toEqual(inOrder(expected));
    }
  }
  expect(asked - numbers.length).toBeGreaterThan(12);
});
