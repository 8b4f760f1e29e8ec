import { expect, test } from "vitest";
import { runChaos } from "./support/outbox-chaos.ts";
import { insertLink } from "./support/start-scan.ts";
import { testDatabase } from "./support/test-database.ts";

const { db, connection } = await testDatabase();

// `CHAOS_VISITS=10000 CHAOS_KILLS=10 npx vitest run test/outbox-chaos.test.ts` is the long run.
const visits = Number(process.env.CHAOS_VISITS ?? 80);
const kills = Number(process.env.CHAOS_KILLS ?? 2);

test("whatever receivers answer and however often senders are killed, no message is lost or goes astray", async () => {
  const one = await insertLink(db);
  const few = await insertLink(db, { workspaceId: one.workspaceId });
  const other = await insertLink(db);
  const outcome = await runChaos({
    db,
    connection,
    links: [one, few, other],
    visits,
    kills,
    seed: 17,
  });
  expect(outcome.faults).toEqual([]);
  expect(outcome.messages.DELIVERED).toBeGreaterThan(visits);
  expect(outcome.messages.EXHAUSTED).toBeGreaterThan(0);
  expect(outcome.requests).toBeGreaterThan(2 * visits);
}, 3_600_000);
