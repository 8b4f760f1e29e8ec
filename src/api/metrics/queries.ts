import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";

export interface Possessions {
  readonly links: number;
  readonly members: number;
  readonly directories: number;
  readonly qrcode_templates: number;
  readonly page_theme_templates: number;
  /** Credits of the plan that were used in the month. */
  readonly credits_used: number;
  readonly topup_bought: number;
  readonly topup_used: number;
}

/**
 * How much a workspace has, and the credits it used in a month. Members without access are not among its members. An
 * account of a later month is that of a workspace whose zone has changed.
 */
export async function countPossessions(db: Db, workspaceId: string, month: string): Promise<Possessions> {
  const { rows } = await sql<Possessions>`
    select (select count(*) from living_links where workspace_id = ${workspaceId})::int as links,
      (select count(*) from members where workspace_id = ${workspaceId} and access_revoked_at is null)::int as members,
      (select count(*) from directories where workspace_id = ${workspaceId})::int as directories,
      (select count(*) from qrcode_templates where workspace_id = ${workspaceId})::int as qrcode_templates,
      (select count(*) from page_theme_templates where workspace_id = ${workspaceId})::int as page_theme_templates,
      coalesce(case when a.cycle >= ${month} then a.used end, 0)::int as credits_used,
      coalesce(a.topup_bought, 0)::int as topup_bought, coalesce(a.topup_used, 0)::int as topup_used
    from (select) as one left join credit_accounts a on a.workspace_id = ${workspaceId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("a join with one row gave none");
  return row;
}

export interface ExitCount {
  /** Null for links without an exit, and for links whose exits differ. */
  readonly action: StepAction | null;
  readonly links: number;
}

/** How many of the workspace's links have exits of one action only, by action. */
export async function countExits(db: Db, workspaceId: string): Promise<readonly ExitCount[]> {
  const { rows } = await sql<ExitCount>`
    with exits as (
      select link_id, case when min(event_action) = max(event_action) then min(event_action) end as action
      from workflow_steps where workspace_id = ${workspaceId} and event_action = any(${exits}::event_action[])
      group by link_id)
    select e.action, count(*)::int as links from living_links l left join exits e on e.link_id = l.id
    where l.workspace_id = ${workspaceId} group by e.action`.execute(db);
  return rows;
}

const exits = Object.entries(stepActions).flatMap(([action, { kind }]) => (kind === "EXIT" ? [action] : []));
