import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../test/support/test-database.ts";
import { loadPlan } from "./load-plan.ts";
import { openDatabase } from "./open.ts";
import { prepareAll } from "./prepared.ts";

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

test("a connection that prepares everything goes on after a migration has changed what a statement returns", async () => {
  const own = openDatabase({
    connection,
    poolSize: 1,
    statementTimeoutMs: 10_000,
    onError: (error) => expect.unreachable(String(error)),
  });
  own.pool.on("connect", prepareAll);
  await sql`create table grown (id integer)`.execute(db);
  const read = () => sql`select * from grown where id > ${0}`.execute(own.db);
  await read();
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(
    own.db,
  );
  expect(rows).toEqual([{ statement: "select * from grown where id > $1" }]);
  await sql`alter table grown add column name text`.execute(db);
  await sql`insert into grown values (1, 'one')`.execute(db);
  await expect(read()).rejects.toThrow("cached plan must not change result type");
  expect((await read()).rows).toEqual([{ id: 1, name: "one" }]);
  await own.close();
});
