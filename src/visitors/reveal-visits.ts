import { sql } from "kysely";
import { plainArray } from "../db/array-literal.ts";
import { findWorkspaceFacts } from "../db/entitlements.ts";
import { isLostRace, untilUndisturbed } from "../db/lost-races.ts";
import type { Db } from "../db/open.ts";
import { entitlementOf } from "../model/plans/entitlement.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";
import { addEvents, shareRollUps } from "./roll-ups.ts";

export interface RevealDeps {
  readonly db: Db;
  readonly plans: PlanTable;
  readonly now: () => Date;
  /** The most visits that one transaction reveals. */
  readonly batchSize?: number;
}

/**
 * Reveals for good the locked visits whose number in their cycle fits the limit by now, and counts them. They get no
 * lead score. Any number of processes may run it at once.
 */
export async function revealVisits(
  { db, plans, now, batchSize = 1_000 }: RevealDeps,
  signal?: AbortSignal,
): Promise<void> {
  const { rows } = await sql<{ workspace_id: string }>`
    select distinct workspace_id from allowance_cycles where locked > 0 order by workspace_id`.execute(db);
  const facts = await findWorkspaceFacts(
    db,
    rows.map(({ workspace_id }) => workspace_id),
  );
  for (const [workspaceId, own] of facts) {
    const allowed = entitlementOf(plans, own, now()).limits.TRACKED_VISITS;
    const numberMax = typeof allowed === "number" ? allowed : unlimitedNumber;
    const reveal = () =>
      untilUndisturbed(
        () => db.transaction().execute((tx) => revealSome(tx, { workspaceId, numberMax, batchSize })),
        isLostRace,
      );
    while (signal?.aborted !== true && (await reveal()) === batchSize);
  }
}

/** The greatest number of a visit that the database can keep. */
const unlimitedNumber = 2_147_483_647;

interface Reveal {
  readonly workspaceId: string;
  /** The last number that fits the limit. */
  readonly numberMax: number;
  readonly batchSize: number;
}

/**
 * Reveals some visits, and returns how many. Takes its locks in the order of the drain: the roll-ups, the cycles, the
 * events.
 */
async function revealSome(tx: Db, { workspaceId, numberMax, batchSize }: Reveal): Promise<number> {
  await shareRollUps([workspaceId]).execute(tx);
  await sql`select from allowance_cycles where workspace_id = ${workspaceId} and locked > 0
    order by limit_key, cycle for no key update`.execute(tx);
  const { rows } = await sql<{ id: string; locked_cycle: string }>`
    with fitting as materialized (
      select id, locked_cycle from events
      where workspace_id = ${workspaceId} and locked_number is not null and locked_number <= ${numberMax}
      order by id limit ${batchSize} for no key update)
    update events e set locked_number = null
    from fitting where e.workspace_id = ${workspaceId} and e.id = fitting.id
    returning e.id, fitting.locked_cycle`.execute(tx);
  if (rows.length === 0) return 0;
  await addEvents(
    tx,
    workspaceId,
    rows.map(({ id }) => id),
  );
  await sql`
    update allowance_cycles c set locked = c.locked - given.visits
    from (select cycle, count(*) as visits
      from unnest(${plainArray(rows.map(({ locked_cycle }) => locked_cycle))}::text[]) as revealed (cycle)
      group by cycle) as given
    where c.workspace_id = ${workspaceId} and c.limit_key = 'TRACKED_VISITS' and c.cycle = given.cycle`.execute(
    tx,
  );
  return rows.length;
}
