import { expect, test } from "vitest";
import { runChaos } from "./support/outbox-chaos.ts";
import { insertLink } from "./support/start-scan.ts";
import { testDatabase } from "./support/test-database.ts";

const { db, connection } = await testDatabase();

test("whatever receivers answer and however often senders are killed, no message is lost or goes astray", async () => {
  const one = await insertLink(db);
  const few = await insertLink(db, { workspaceId: one.workspaceId });
  const other = await insertLink(db);
  const outcome = await runChaos({
    db,
    connection,
    links: [one, few, other],
    visits: 300,
    kills: 3,
    seed: 17,
  });
  expect(outcome.faults).toEqual([]);
  expect(outcome.messages.DELIVERED).toBeGreaterThan(300);
  expect(outcome.messages.EXHAUSTED).toBeGreaterThan(0);
  expect(outcome.requests).toBeGreaterThan(600);
}, 120_000);
