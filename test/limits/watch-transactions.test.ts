import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "../support/test-database.ts";
import { watchTransactions } from "../support/watch-transactions.ts";

const { db } = await testDatabase();

test("a transaction that waits for something else than the database is noted, and a merely long one is not", async () => {
  const watched = watchTransactions(db);
  await watched.db.transaction().execute((tx) => sql`select pg_sleep(0.5)`.execute(tx));
  expect(watched.idle).toEqual([]);
  // Each pause alone is short, like the pauses between two looks for a record.
  await watched.db.transaction().execute(async (tx) => {
    for (let look = 0; look < 10; look++) {
      await sql`select 1`.execute(tx);
      await pause(50);
    }
  });
  expect(watched.idle).toEqual(["select 1"]);
});
