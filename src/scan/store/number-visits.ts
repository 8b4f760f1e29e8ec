import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { quotaMails } from "../../db/quota-mails.ts";
import { uuidFromTime } from "../../lib/ids.ts";
import { type Cycle, cycleOf, monthOf } from "../../model/plans/cycle.ts";
import type { Entitlement } from "../../model/plans/entitlement.ts";
import type { LimitKey } from "../../model/plans/plan-table.ts";
import type { VisitFacts } from "./visit-facts.ts";

/** The number of a locked visit among the counted visits of its cycle. */
export interface VisitLock {
  readonly number: number;
  readonly cycle: string;
}

/** What the limits of tracked visits do to a batch. */
export interface NumberedVisits {
  /** All visits but those of sandboxes beyond their cap, which are not recorded. */
  readonly kept: readonly VisitFacts[];
  readonly locks: ReadonlyMap<VisitFacts, VisitLock>;
}

/** The counted visits of a workspace in one cycle, in order of arrival. */
interface Group {
  readonly workspaceId: string;
  readonly cycle: Cycle;
  readonly allowed: number;
  readonly isSandbox: boolean;
  readonly visits: VisitFacts[];
}

const key = "TRACKED_VISITS" satisfies LimitKey;

/**
 * Numbers the counted visits of workspaces whose visits are limited. Takes the visits in order of arrival. Locks the
 * rows of their cycles until the transaction ends. Without such workspaces it does nothing.
 */
export async function numberVisits(
  tx: Db,
  visits: readonly VisitFacts[],
  entitlements: ReadonlyMap<string, Entitlement>,
): Promise<NumberedVisits> {
  const groups = groupsOf(visits, entitlements);
  const locks = new Map<VisitFacts, VisitLock>();
  if (groups.length === 0) return { kept: visits, locks };
  const used = await lockCycles(tx, groups);
  const dropped = new Set<VisitFacts>();
  const changes = groups.map((group) => {
    const before = used.get(placeOf(group)) ?? 0;
    let over = 0;
    for (const [index, visit] of group.visits.entries()) {
      const number = before + index + 1;
      if (number <= group.allowed) continue;
      over += 1;
      if (group.isSandbox) dropped.add(visit);
      else locks.set(visit, { number, cycle: group.cycle.month });
    }
    const kept = group.visits.length - (group.isSandbox ? over : 0);
    return { group, before, after: before + kept, locked: group.isSandbox ? 0 : over };
  });
  await writeCycles(tx, changes);
  return { kept: dropped.size === 0 ? visits : visits.filter((visit) => !dropped.has(visit)), locks };
}

function groupsOf(visits: readonly VisitFacts[], entitlements: ReadonlyMap<string, Entitlement>): Group[] {
  const groups = new Map<string, Group>();
  for (const facts of visits) {
    const { workspaceId, atMs } = facts.visit;
    const entitlement = entitlements.get(workspaceId);
    const allowed = entitlement?.limits[key];
    if (!facts.counted || entitlement === undefined || typeof allowed !== "number") continue;
    const { timezone, isSandbox } = entitlement;
    const at = new Date(atMs);
    const place = `${workspaceId}/${monthOf(at, timezone)}`;
    const group = groups.get(place);
    if (group !== undefined) group.visits.push(facts);
    else
      groups.set(place, { workspaceId, cycle: cycleOf(at, timezone), allowed, isSandbox, visits: [facts] });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function placeOf({ workspaceId, cycle }: Group): string {
  return `${workspaceId}/${cycle.month}`;
}

/** Locks the cycles in one order, and returns how many visits each has, by place. Makes those that are missing. */
async function lockCycles(tx: Db, groups: readonly Group[]): Promise<ReadonlyMap<string, number>> {
  const found = await readCycles(tx, groups);
  const missing = groups.filter((group) => !found.has(placeOf(group)));
  if (missing.length === 0) return found;
  await makeCycles(tx, missing);
  return readCycles(tx, groups);
}

async function readCycles(tx: Db, groups: readonly Group[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ place: string; used: number }>`
    select c.workspace_id || '/' || c.cycle as place, c.used::float8 as used
    from unnest(${plainArray(groups.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(groups.map(({ cycle }) => cycle.month))}::text[]) as given (workspace_id, cycle)
      join allowance_cycles c on c.workspace_id = given.workspace_id and c.limit_key = ${key}
        and c.cycle = given.cycle
    order by c.workspace_id, c.cycle for no key update of c`.execute(tx);
  return new Map(rows.map(({ place, used }) => [place, used]));
}

/** A cycle begins with the visits that were stored while nothing limited them. */
async function makeCycles(tx: Db, groups: readonly Group[]): Promise<void> {
  await sql`
    insert into allowance_cycles (workspace_id, limit_key, cycle, used)
    select workspace_id, ${key}, cycle, (select count(*) from events e
      where e.workspace_id = given.workspace_id and e.id >= first_id and e.id < end_id and e.counted)
    from unnest(${plainArray(groups.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(groups.map(({ cycle }) => cycle.month))}::text[],
        ${plainArray(groups.map(({ cycle }) => uuidFromTime(cycle.start)))}::uuid[],
        ${plainArray(groups.map(({ cycle }) => uuidFromTime(cycle.end)))}::uuid[])
        as given (workspace_id, cycle, first_id, end_id)
    order by workspace_id, cycle
    on conflict (workspace_id, limit_key, cycle) do nothing`.execute(tx);
}

interface Change {
  readonly group: Group;
  readonly before: number;
  readonly after: number;
  readonly locked: number;
}

async function writeCycles(tx: Db, changes: readonly Change[]): Promise<void> {
  const plain = (read: (change: Change) => string | number) => plainArray(changes.map(read));
  const given = sql`unnest(
      ${plain(({ group }) => group.workspaceId)}::uuid[],
      ${plain(({ group }) => group.cycle.month)}::text[],
      ${plain(({ before }) => before)}::bigint[],
      ${plain(({ after }) => after)}::bigint[],
      ${plain(({ locked }) => locked)}::bigint[],
      ${plain(({ group }) => (group.isSandbox ? "" : group.allowed))}::bigint[])
      as given (workspace_id, cycle, before, after, locked, allowed)`;
  await sql`
    update allowance_cycles c set used = given.after, locked = c.locked + given.locked from ${given}
    where c.workspace_id = given.workspace_id and c.limit_key = ${key} and c.cycle = given.cycle`.execute(tx);
  if (!changes.some(reachesMark)) return;
  const mails = quotaMails(given, {
    workspaceId: sql.ref("given.workspace_id"),
    limit: sql.lit(key),
    before: sql.ref("given.before"),
    after: sql.ref("given.after"),
    allowed: sql.ref("given.allowed"),
  });
  await sql`select count(*) from ${mails} as queued`.execute(tx);
}

/** Whether the change reaches 80 or 100 percent. */
function reachesMark({ group: { allowed }, before, after }: Change): boolean {
  return [0.8, 1].some((share) => before < allowed * share && after >= allowed * share);
}
