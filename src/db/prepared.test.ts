import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../test/support/test-database.ts";
import { loadPlan } from "./load-plan.ts";
import { openDatabase } from "./open.ts";

const { connection } = await testDatabase();
const { db, close } = openDatabase({
  connection,
  poolSize: 1,
  statementTimeoutMs: 10_000,
  onError: (error) => expect.unreachable(String(error)),
});
afterAll(close);

test("a connection prepares the statement of a plan once, and then only runs it", async () => {
  for (let visit = 0; visit < 3; visit++) expect(await loadPlan(db, "", `nobody-${visit}`)).toBeUndefined();
  const { rows } = await sql<{ name: string; runs: number }>`
    select name, (generic_plans + custom_plans)::int as runs from pg_prepared_statements`.execute(db);
  expect(rows).toEqual([{ name: "load-plan", runs: 3 }]);
});
