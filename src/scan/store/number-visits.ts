import { sql } from "kysely";
import { quotaMails } from "../../db/admin-mails.ts";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { monthOf } from "../../model/plans/cycle.ts";
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
  /** Adds the visits that nothing limits to their cycles. This comes last, because others wait for these rows. */
  readonly addOthers: () => Promise<void>;
}

/** The counted visits of a workspace in one cycle, in order of arrival. */
interface Group {
  readonly workspaceId: string;
  /** As `monthOf` names it. */
  readonly cycle: string;
  /** Undefined where nothing limits visits. */
  readonly allowed: number | undefined;
  readonly isSandbox: boolean;
  readonly visits: VisitFacts[];
}

type LimitedGroup = Group & { readonly allowed: number };

const key = "TRACKED_VISITS" satisfies LimitKey;

/**
 * Numbers the counted visits of workspaces whose visits are limited, and locks the rows of their cycles until the
 * transaction ends. Takes the visits in order of arrival.
 */
export async function numberVisits(
  tx: Db,
  visits: readonly VisitFacts[],
  entitlements: ReadonlyMap<string, Entitlement>,
): Promise<NumberedVisits> {
  const all = groupsOf(visits, entitlements);
  const groups = all.filter((group): group is LimitedGroup => group.allowed !== undefined);
  const others = all.filter(({ allowed }) => allowed === undefined);
  const locks = new Map<VisitFacts, VisitLock>();
  const addOthers = () => addVisits(tx, others);
  if (groups.length === 0) return { kept: visits, locks, addOthers };
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
      else locks.set(visit, { number, cycle: group.cycle });
    }
    const kept = group.visits.length - (group.isSandbox ? over : 0);
    return { group, before, after: before + kept, locked: group.isSandbox ? 0 : over };
  });
  await writeCycles(tx, changes);
  const kept = dropped.size === 0 ? visits : visits.filter((visit) => !dropped.has(visit));
  return { kept, locks, addOthers };
}

function groupsOf(visits: readonly VisitFacts[], entitlements: ReadonlyMap<string, Entitlement>): Group[] {
  const groups = new Map<string, Group>();
  for (const facts of visits) {
    const { workspaceId, atMs } = facts.visit;
    const entitlement = entitlements.get(workspaceId);
    const allowed = entitlement?.limits[key];
    if (!facts.counted || entitlement === undefined) continue;
    const { timezone, isSandbox } = entitlement;
    const at = new Date(atMs);
    const cycle = monthOf(at, timezone);
    const place = `${workspaceId}/${cycle}`;
    const group = groups.get(place);
    const limit = typeof allowed === "number" ? allowed : undefined;
    if (group !== undefined) group.visits.push(facts);
    else groups.set(place, { workspaceId, cycle, allowed: limit, isSandbox, visits: [facts] });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function placeOf({ workspaceId, cycle }: Group): string {
  return `${workspaceId}/${cycle}`;
}

/** Locks the cycles in one order, and returns how many visits each has, by place. Makes those that are missing. */
async function lockCycles(tx: Db, groups: readonly Group[]): Promise<ReadonlyMap<string, number>> {
  const found = await readCycles(tx, groups);
  const missing = groups.filter((group) => !found.has(placeOf(group)));
  if (missing.length === 0) return found;
  await addVisits(
    tx,
    missing.map((group) => ({ ...group, visits: [] })),
  );
  return readCycles(tx, groups);
}

async function readCycles(tx: Db, groups: readonly Group[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ place: string; used: number }>`
    select c.workspace_id || '/' || c.cycle as place, c.used::float8 as used
    from unnest(${plainArray(groups.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(groups.map(({ cycle }) => cycle))}::text[]) as given (workspace_id, cycle)
      join allowance_cycles c on c.workspace_id = given.workspace_id and c.limit_key = ${key}
        and c.cycle = given.cycle
    order by c.workspace_id, c.cycle for no key update of c`.execute(tx);
  return new Map(rows.map(({ place, used }) => [place, used]));
}

async function addVisits(tx: Db, groups: readonly Group[]): Promise<void> {
  if (groups.length === 0) return;
  await sql`
    insert into allowance_cycles as c (workspace_id, limit_key, cycle, used)
    select workspace_id, ${key}, cycle, visits
    from unnest(${plainArray(groups.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(groups.map(({ cycle }) => cycle))}::text[],
        ${plainArray(groups.map(({ visits }) => visits.length))}::bigint[]) as given (workspace_id, cycle, visits)
    on conflict (workspace_id, limit_key, cycle) do update set used = c.used + excluded.used`.execute(tx);
}

interface Change {
  readonly group: LimitedGroup;
  readonly before: number;
  readonly after: number;
  readonly locked: number;
}

async function writeCycles(tx: Db, changes: readonly Change[]): Promise<void> {
  const plain = (read: (change: Change) => string | number) => plainArray(changes.map(read));
  const given = sql`unnest(
      ${plain(({ group }) => group.workspaceId)}::uuid[],
      ${plain(({ group }) => group.cycle)}::text[],
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
