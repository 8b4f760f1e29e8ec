import { randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Kysely, PostgresDialect, sql } from "kysely";
import { expect, test } from "vitest";
import type { DB } from "../../../gen/database.ts";
import { EventsService } from "../../../gen/signpost/v1/events_service_pb.js";
import { callContext } from "../../../test/support/call-context.ts";
import { tickingClock } from "../../../test/support/clock.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { newId } from "../../lib/ids.ts";
import { defaultPlans } from "../../model/plans/plan-table.ts";
import { eventsService } from "./service.ts";

const { pool } = await testDatabase();
const statements: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
const db = new Kysely<DB>({
  dialect: new PostgresDialect({ pool }),
  log: ({ query }) => void statements.push(query),
});
const { now } = tickingClock();
const service = eventsService({
  shortUrl: "https://short.test",
  now,
  entitlements: createEntitlements({ plans: defaultPlans, now }),
});

const workspaceId = randomUUID();
const context = callContext(db, workspaceId);

async function list(init: MessageInitShape<typeof EventsService.method.listEvents.input>) {
  statements.length = 0;
  return service.listEvents(create(EventsService.method.listEvents.input, init), context);
}

async function addEvents(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const at = now();
    await sql`insert into events (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted,
        entrypoint, steps_total, steps_reached, outcome, created_at, updated_at)
      values (${workspaceId}, ${newId(at)}, ${randomUUID()}, ${randomUUID()}, ${randomUUID()}, 'SCAN', 'FIRST', true,
        '', 2, 2, 'COMPLETED', ${at}, ${at})`.execute(db);
  }
}

test("a page is read by one statement, counted by one, and embeds each kind of object by one more", async () => {
  await addEvents(20);
  // The first list also asks what the workspace is allowed, which is then known for a while.
  await list({});
  statements.splice(0);
  await list({});
  expect(statements).toHaveLength(2);
  const include = ["visitor", "device", "link", "workspace", "leadScore", "journey", "traces"];
  const { json } = await list({ include });
  expect(json?.events).toHaveLength(20);
  expect(statements).toHaveLength(2 + 5);
});

test("traces of an event are read by one statement", async () => {
  await addEvents(1);
  const [event] = (await list({})).json?.events ?? [];
  statements.length = 0;
  const request = create(EventsService.method.listEventTraces.input, { eventId: event?.id ?? "" });
  await service.listEventTraces(request, context);
  expect(statements).toHaveLength(1);
});

test("bounds in time leave out the months that cannot match", async () => {
  const at = timestampFromDate(now());
  await list({ startDate: at, endDate: at });
  for (const statement of [...statements]) {
    const plan = await pool.query<{ "QUERY PLAN": string }>(`explain ${statement.sql}`, [
      ...statement.parameters,
    ]);
    const partitions = plan.rows.flatMap((row) => / on (events_\w+)/.exec(row["QUERY PLAN"])?.[1] ?? []);
    expect(new Set(partitions).size).toBe(1);
    expect(partitions).not.toContain("events_default");
  }
});
