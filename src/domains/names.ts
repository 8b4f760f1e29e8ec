import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { noWorkspace } from "../model/no-workspace.ts";

/** For how long a released name is kept for its former holder, in milliseconds: 90 days. */
export const reservedMs = 90 * 24 * 60 * 60 * 1000;

/** There is one check of a name in this time, in milliseconds. */
export const checkPauseMs = 10_000;

/** Who may have a name: nobody else while it is held, and for a while after it was released. */
export type NameState = "free" | "reserved" | "held";

interface Wanted {
  readonly name: string;
  readonly workspaceId: string;
  readonly at: Date;
}

/** Whether a workspace can have a name. It may be gone a moment later: `claimName` decides. */
export async function stateOfName(db: Db, { name, workspaceId, at }: Wanted): Promise<NameState> {
  const { rows } = await sql<{ state: NameState }>`
    select case when released_at is null then 'held'
      when workspace_id = ${workspaceId} or released_at <= ${reservedBefore(at)} then 'free'
      else 'reserved' end as state
    from domain_names where name = ${name}`.execute(db);
  return rows[0]?.state ?? "free";
}

/**
 * Gives a name to a new domain. Of all workspaces that want it at once, one gets it. `isProved` says
 * that the workspace owns the name, whoever had it before. False when another domain has it, or when it is reserved.
 */
export async function claimName(
  tx: Db,
  { name, workspaceId, at, id, isProved }: Wanted & { readonly id: string; readonly isProved: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    insert into domain_names as held (name, workspace_id, custom_domain_id, check_due_at)
    values (${name}, ${workspaceId}, ${id}, ${at})
    on conflict on constraint domain_names_pkey do update
      set workspace_id = excluded.workspace_id, custom_domain_id = excluded.custom_domain_id, released_at = null,
        check_due_at = excluded.check_due_at, check_began_at = null
      where held.released_at is not null
        and (held.workspace_id = ${workspaceId} or held.released_at <= ${reservedBefore(at)} or ${isProved})
    returning name`.execute(tx);
  return rows.length > 0;
}

function reservedBefore(at: Date): Date {
  return new Date(at.getTime() - reservedMs);
}

/**
 * Takes the name from a deleted domain. One that was proved is kept for the workspace: links that somebody printed still lead
 * to it. Any other is free at once.
 */
export async function releaseName(
  tx: Db,
  {
    name,
    id,
    at,
    wasProved,
  }: { readonly name: string; readonly id: string; readonly at: Date; readonly wasProved: boolean },
): Promise<void> {
  const own = sql`name = ${name} and custom_domain_id = ${id} and released_at is null`;
  const statement = wasProved
    ? sql`update domain_names set released_at = ${at}, check_due_at = null where ${own}`
    : sql`delete from domain_names where ${own}`;
  await statement.execute(tx);
}

/**
 * Begins a check of a domain, if the last one is long enough ago. Otherwise says how long the next one has to wait, in
 * milliseconds. Undefined when the domain has lost its name.
 */
export async function beginCheck(
  db: Db,
  { name, id, at }: { readonly name: string; readonly id: string; readonly at: Date },
): Promise<number | undefined> {
  const begun = await sql`update domain_names set check_began_at = ${at}
    where name = ${name} and custom_domain_id = ${id} and released_at is null
      and (check_began_at is null or check_began_at <= ${new Date(at.getTime() - checkPauseMs)})
    returning name`.execute(db);
  if (begun.rows.length > 0) return 0;
  const { rows } = await sql<{ began: Date }>`select check_began_at as began from domain_names
    where name = ${name} and custom_domain_id = ${id} and released_at is null`.execute(db);
  const [held] = rows;
  if (held === undefined) return undefined;
  return Math.min(checkPauseMs, Math.max(1, held.began.getTime() + checkPauseMs - at.getTime()));
}

/** A domain whose name is looked up again. */
export interface DueName {
  readonly name: string;
  readonly workspaceId: string;
  readonly id: string;
}

/** How long a worker has for a check that is due before another one takes it, in milliseconds. */
const leaseMs = 10 * 60 * 1000;

/**
 * Begins the checks that are due longest: the first one of each workspace, then the second ones, so that nobody waits
 * because another workspace has many. No other worker gets the same ones.
 */
export async function beginDueChecks(db: Db, at: Date, most: number): Promise<readonly DueName[]> {
  const isDue = sql`released_at is null and check_due_at <= ${at}
    and (check_began_at is null or check_began_at <= ${new Date(at.getTime() - checkPauseMs)})`;
  const { rows } = await sql<DueName>`
    update domain_names n set check_began_at = ${at}, check_due_at = ${new Date(at.getTime() + leaseMs)}
    from (select name from domain_names
      where name in (
          select name from (
            select name, check_due_at, row_number() over (partition by workspace_id order by check_due_at) as place
            from domain_names where ${isDue}) as in_line
          order by place, check_due_at limit ${most})
        and ${isDue} for update skip locked) as due
    where n.name = due.name
    returning n.name, n.workspace_id as "workspaceId", n.custom_domain_id as id`.execute(db);
  return rows;
}

/** How many reservations one statement deletes. */
const reservationsMax = 10_000;

/** Deletes some reservations that are over, and returns how many. */
export async function deleteOldNames(db: Db, at: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from domain_names where name in (
      select name from domain_names where released_at <= ${reservedBefore(at)}
      limit ${reservationsMax} for update skip locked)`.execute(db);
  return Number(numAffectedRows);
}

/** The start of the statement that takes the names of a purged workspace from it, without a condition. */
export function keepNamesForNobody(at: Date) {
  return sql`update domain_names set workspace_id = ${noWorkspace}, custom_domain_id = ${noWorkspace},
    released_at = coalesce(released_at, ${at}), check_due_at = null`;
}
