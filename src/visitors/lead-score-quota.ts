import { sql } from "kysely";
import { plainArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import { monthOf } from "../model/plans/cycle.ts";
import type { Entitlement } from "../model/plans/entitlement.ts";

/** A visit that has ended, and what its workspace is allowed. */
export interface Scorable {
  readonly workspaceId: string;
  readonly endedAt: Date;
  readonly entitlement: Pick<Entitlement, "leadScores" | "timezone">;
}

/** The visits of a workspace that ended in one month and want a score. */
interface Group<Visit> {
  readonly workspaceId: string;
  /** As `monthOf` names it. */
  readonly cycle: string;
  readonly allowed: number;
  readonly visits: Visit[];
}

/** Lead scores have no limit key of the contract. They are counted beside the limits that have one. */
const key = "LEAD_SCORES";

/**
 * Takes a lead score for each visit out of its month. Returns the visits that get one, in their order: the first ones
 * where not all can have one. Runs no statement where scores are unlimited or not part of the plan. A month whose scores
 * are used up is read without a lock.
 */
export async function takeLeadScores<Visit>(
  tx: Db,
  visits: readonly Visit[],
  scorableOf: (visit: Visit) => Scorable,
): Promise<readonly Visit[]> {
  const { groups, refused } = limited(visits, scorableOf);
  if (groups.length > 0) {
    const left = await lockLeft(tx, groups);
    const taken = groups.map((group) => Math.min(left.get(placeOf(group)) ?? 0, group.visits.length));
    await writeTaken(tx, groups, taken);
    for (const [index, group] of groups.entries())
      for (const visit of group.visits.slice(taken[index])) refused.add(visit);
  }
  return refused.size === 0 ? visits : visits.filter((visit) => !refused.has(visit));
}

function limited<Visit>(visits: readonly Visit[], scorableOf: (visit: Visit) => Scorable) {
  const refused = new Set<Visit>();
  const groups = new Map<string, Group<Visit>>();
  for (const visit of visits) {
    const { workspaceId, endedAt, entitlement } = scorableOf(visit);
    const { leadScores: allowed, timezone } = entitlement;
    if (allowed === "unlimited") continue;
    if (allowed === 0) {
      refused.add(visit);
      continue;
    }
    const group: Group<Visit> = { workspaceId, cycle: monthOf(endedAt, timezone), allowed, visits: [] };
    const known = groups.get(placeOf(group)) ?? group;
    groups.set(placeOf(group), known);
    known.visits.push(visit);
  }
  return { groups: [...groups.values()], refused };
}

function placeOf({ workspaceId, cycle }: Pick<Group<unknown>, "workspaceId" | "cycle">): string {
  return `${workspaceId}/${cycle}`;
}

/** How many scores are left in each month that has any, by place. Locks these months, in one order. */
async function lockLeft(tx: Db, groups: readonly Group<unknown>[]): Promise<ReadonlyMap<string, number>> {
  const given = sql`unnest(
      ${plainArray(groups.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(groups.map(({ cycle }) => cycle))}::text[],
      ${plainArray(groups.map(({ allowed }) => allowed))}::bigint[]) as given (workspace_id, cycle, allowed)`;
  await sql`
    insert into allowance_cycles (workspace_id, limit_key, cycle, used)
    select workspace_id, ${key}, cycle, 0 from ${given} order by workspace_id, cycle
    on conflict (workspace_id, limit_key, cycle) do nothing`.execute(tx);
  const { rows } = await sql<{ place: string; left: number }>`
    select c.workspace_id || '/' || c.cycle as place, (given.allowed - c.used)::float8 as left
    from ${given} join allowance_cycles c on c.workspace_id = given.workspace_id and c.limit_key = ${key}
      and c.cycle = given.cycle
    where c.used < given.allowed
    order by c.workspace_id, c.cycle for no key update of c`.execute(tx);
  return new Map(rows.map(({ place, left }) => [place, left]));
}

async function writeTaken(
  tx: Db,
  groups: readonly Group<unknown>[],
  taken: readonly number[],
): Promise<void> {
  if (taken.every((scores) => scores === 0)) return;
  await sql`
    update allowance_cycles c set used = c.used + given.taken
    from unnest(
      ${plainArray(groups.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(groups.map(({ cycle }) => cycle))}::text[],
      ${plainArray(taken)}::bigint[]) as given (workspace_id, cycle, taken)
    where c.workspace_id = given.workspace_id and c.limit_key = ${key} and c.cycle = given.cycle
      and given.taken > 0`.execute(tx);
}
