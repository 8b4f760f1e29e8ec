import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";

export interface Possessions {
  readonly links: number;
  readonly members: number;
  readonly directories: number;
  readonly qrcode_templates: number;
}

/** How much a workspace has. Members without access are not among its members. */
export async function countPossessions(db: Db, workspaceId: string): Promise<Possessions> {
  const { rows } = await sql<Possessions>`
    select (select count(*) from living_links where workspace_id = ${workspaceId})::int as links,
      (select count(*) from members where workspace_id = ${workspaceId} and access_revoked_at is null)::int as members,
      (select count(*) from directories where workspace_id = ${workspaceId})::int as directories,
      (select count(*) from qrcode_templates where workspace_id = ${workspaceId})::int as qrcode_templates`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a statement without a table to read from gave no row");
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
