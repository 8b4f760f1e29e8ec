import { type RawBuilder, sql } from "kysely";
import { findWorkspaceFacts } from "../db/entitlements.ts";
import { isLostRace, untilUndisturbed } from "../db/lost-races.ts";
import type { Db } from "../db/open.ts";
import { entitlementOf } from "../model/plans/entitlement.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";
import { addEvents, shareRollUps } from "./roll-ups.ts";
import { isSealed, markVisits } from "./segment-marks.ts";

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
  const { rows } = await sql<{ workspace_id: string; cycle: string }>`
    select workspace_id, cycle from allowance_cycles where limit_key = 'TRACKED_VISITS' and locked > 0
    order by workspace_id, cycle`.execute(db);
  const facts = await findWorkspaceFacts(db, [...new Set(rows.map(({ workspace_id }) => workspace_id))]);
  for (const { workspace_id: workspaceId, cycle } of rows) {
    const own = facts.get(workspaceId);
    if (own === undefined) continue;
    const allowed = entitlementOf(plans, own, now()).limits.TRACKED_VISITS;
    const numberMax = typeof allowed === "number" ? allowed : undefined;
    const question = { workspaceId, cycle, numberMax, batchSize };
    const reveal = () =>
      untilUndisturbed(() => db.transaction().execute((tx) => revealSome(tx, question)), isLostRace);
    // Most cycles have nothing to reveal, and then their rows need no lock.
    if (!(await hasFitting(db, question))) continue;
    while (signal?.aborted !== true && (await reveal()) === batchSize);
  }
}

/** The greatest number of a visit that the database can keep. */
const unlimitedNumber = 2_147_483_647;

interface Reveal {
  readonly workspaceId: string;
  readonly cycle: string;
  /** The last number that fits the limit; undefined where nothing limits visits. */
  readonly numberMax: number | undefined;
  readonly batchSize: number;
}

/** The locked visits of a cycle that fit the limit. The index of locked visits finds them without reading others. */
function fitting({ workspaceId, cycle, numberMax = unlimitedNumber }: Reveal): RawBuilder<unknown> {
  return sql`workspace_id = ${workspaceId} and locked_cycle = ${cycle} and locked_number <= ${numberMax}`;
}

async function hasFitting(db: Db, question: Reveal): Promise<boolean> {
  const { rows } = await sql`select from events where ${fitting(question)} limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Reveals some visits, and returns how many. Takes its locks in the order of the drain. Where visits are limited, that
 * is the cycle, the events, the rows of the roll-ups. Elsewhere the cycle comes last.
 */
async function revealSome(tx: Db, question: Reveal): Promise<number> {
  const { workspaceId, cycle, numberMax, batchSize } = question;
  const cycleRow = sql`workspace_id = ${workspaceId} and limit_key = 'TRACKED_VISITS' and cycle = ${cycle}`;
  await shareRollUps([workspaceId]).execute(tx);
  if (numberMax !== undefined)
    await sql`select from allowance_cycles where ${cycleRow} for no key update`.execute(tx);
  const { rows } = await sql<{ id: string; created_at: Date; is_sealed: boolean }>`
    with fitting as materialized (
      select id from events where ${fitting(question)}
      order by locked_number limit ${batchSize} for no key update)
    update events e set locked_number = null
    from fitting where e.workspace_id = ${workspaceId} and e.id = fitting.id
    returning e.id, e.created_at, ${isSealed} as is_sealed`.execute(tx);
  if (rows.length === 0) return 0;
  const sealed = rows.filter(({ is_sealed }) => is_sealed);
  await markVisits(
    tx,
    sealed.map(({ created_at: at }) => ({ workspaceId, at })),
  );
  await addEvents(
    tx,
    workspaceId,
    rows.map(({ id }) => id),
  );
  await sql`update allowance_cycles set locked = locked - ${rows.length} where ${cycleRow}`.execute(tx);
  return rows.length;
}
