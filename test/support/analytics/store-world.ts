import { randomUUID } from "node:crypto";
import type { Db } from "../../../src/db/open.ts";
import { newId } from "../../../src/lib/ids.ts";
import type { World, WorldVisit, WorldVisitor } from "./world.ts";

/** Writes the devices, visitors and visits of a world as the drain of the scan runtime writes them. */
export async function storeWorld(db: Db, workspaceId: string, world: World): Promise<void> {
  const at = new Date(Date.UTC(2024, 0, 1));
  const times = { created_at: at, updated_at: at };
  await db
    .insertInto("devices")
    .values(
      world.devices.map(({ id, deviceType, country, city, browser, platform }) => {
        const facts = { country, city, browser_name: browser, platform_name: platform };
        const own = {
          workspace_id: workspaceId,
          id,
          device_type: deviceType,
          device_actor: "HUMAN",
          // Without an address, visits would be those of which nothing may be kept.
          ip_address: "192.0.2.0",
        } as const;
        return { ...own, ...facts, ...times, last_used_at: at };
      }),
    )
    .execute();
  await storeVisitors(db, workspaceId, world.visitors);
  await storeVisits(db, workspaceId, world.visits);
}

export async function storeVisitors(
  db: Db,
  workspaceId: string,
  visitors: readonly WorldVisitor[],
): Promise<void> {
  const timesOf = ({ at }: WorldVisitor) => ({ created_at: at, updated_at: at });
  await db
    .insertInto("visitors")
    .values(
      visitors.map((visitor) => {
        return {
          workspace_id: workspaceId,
          id: visitor.id,
          email: visitor.email ?? null,
          ...timesOf(visitor),
        };
      }),
    )
    .execute();
  const attributes = visitors.flatMap((visitor) => {
    const own = { workspace_id: workspaceId, visitor_id: visitor.id, key: "plan", type: "STRING" } as const;
    return visitor.plan === undefined ? [] : [{ ...own, value: visitor.plan, ...timesOf(visitor) }];
  });
  if (attributes.length > 0) await db.insertInto("visitor_attributes").values(attributes).execute();
}

/** The events and traces of visits. Where a visit has no page, its event tells the entry and the redirect. */
export async function storeVisits(db: Db, workspaceId: string, visits: readonly WorldVisit[]): Promise<void> {
  for (let from = 0; from < visits.length; from += 500) {
    const some = visits.slice(from, from + 500);
    const stored = some.map((visit) => ({ visit, ...told(visit) }));
    await db
      .insertInto("events")
      .values(
        stored.map(({ visit, entryStepId, exitTracking }) =>
          eventOf(workspaceId, visit, entryStepId, exitTracking),
        ),
      )
      .execute();
    const traces = stored.flatMap(({ visit, traced }) =>
      visit.steps.flatMap((step, index) => {
        if (!traced.has(index)) return [];
        const at = new Date(visit.at.getTime() + index);
        return [
          {
            workspace_id: workspaceId,
            event_id: visit.id,
            step_id: step.isFallback ? "00000000-0000-0000-0000-000000000000" : randomUUID(),
            id: newId(at),
            step_action: step.action,
            data: JSON.stringify(step.data),
            created_at: at,
            completed_at: step.isCompleted ? at : null,
            updated_at: at,
          },
        ];
      }),
    );
    if (traces.length > 0) await db.insertInto("traces").values(traces).execute();
  }
}

/** Which steps have rows, and what the event says in place of the others. */
function told({ steps, outcome }: WorldVisit) {
  const last = steps.length - 1;
  const isPlain = steps.length === 2 && steps[last]?.action === "CLIENT_REDIRECT" && outcome !== "ABANDONED";
  return {
    entryStepId: randomUUID(),
    exitTracking: isPlain ? false : null,
    traced: new Set([...steps.keys()].filter((index) => index > 0 && !isPlain)),
  };
}

function eventOf(workspaceId: string, visit: WorldVisit, entryStepId: string, exitTracking: boolean | null) {
  const { id, at, linkId, device, visitor, counted, visitType, score, outcome, steps } = visit;
  const isLocked = visit.lockedNumber !== undefined;
  return {
    workspace_id: workspaceId,
    id,
    link_id: linkId,
    device_id: device.id,
    visitor_id: visitor?.id ?? null,
    action: "SCAN",
    visit_type: visitType,
    counted: counted || isLocked,
    locked_number: visit.lockedNumber ?? null,
    locked_cycle: isLocked ? "2024-02" : null,
    uncounted_reason: visit.uncountedReason ?? null,
    late_seconds: visit.lateSeconds ?? null,
    entrypoint: "https://short.test/menu",
    destination: "https://example.com",
    steps_total: steps.length,
    steps_reached: steps.length,
    entry_step_id: entryStepId,
    exit_tracking: exitTracking,
    last_step_id: randomUUID(),
    outcome,
    lead_score: score ?? null,
    ended_at: at,
    created_at: at,
    updated_at: at,
  } as const;
}
