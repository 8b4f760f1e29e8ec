import type pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { randomFrom } from "../../../test/fuzz/random.ts";
import { storeWorld } from "../../../test/support/analytics/store-world.ts";
import { randomWorld } from "../../../test/support/analytics/world.ts";
import { insertLink } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { openSession } from "../segments/session.ts";
import { readOpen } from "./read-state.ts";

const { db, connection } = await testDatabase();

/** What PostgreSQL says of a plan, as far as it is looked at. */
interface Plan {
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

function rowsRemoved(plan: Plan): number {
  const own = plan["Rows Removed by Filter"] ?? 0;
  return (plan.Plans ?? []).reduce((sum, each) => sum + rowsRemoved(each), own);
}

test("the open part is found without a look at the visits before it", async () => {
  const link = await insertLink(db);
  const links = [{ id: link.id, name: "", shortlink: "", tags: [], isDeleted: false }];
  await storeWorld(db, link.workspaceId, randomWorld(randomFrom(3), "UTC", links, 400));
  const { client, close } = await openSession(connection);
  onTestFinished(close);
  // A table of this size would be read as a whole.
  await client.query("set enable_seqscan = off");
  const removed: number[] = [];
  const explained = {
    async query(query: pg.QueryArrayConfig<unknown[]>) {
      if (query.rowMode === "array") {
        const text = `explain (analyze, format json) ${query.text}`;
        const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(text, query.values);
        for (const row of rows) removed.push(rowsRemoved(row["QUERY PLAN"][0].Plan));
      }
      return client.query(query);
    },
  } as Pick<pg.ClientBase, "query">;
  const span = { workspaceId: link.workspaceId, openMax: 1_000_000 };
  const all = await readOpen(explained, { ...span, fromMs: 0 });
  const last = all.at(-1)?.beginsMs ?? 0;
  const parts = await readOpen(explained, { ...span, fromMs: last });
  expect(all.length).toBeGreaterThan(1);
  expect(parts).toHaveLength(1);
  // One look finds the last part and another one the end; visits that do not count are left out.
  expect(Math.max(...removed.slice(-2))).toBeLessThan(100);
});
