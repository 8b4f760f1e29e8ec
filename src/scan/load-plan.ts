import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import type { PlanRow } from "../model/plan.ts";

/** Everything a plan is compiled from, in one statement; undefined when no living link has this address. */
export async function loadPlan(db: Db, host: string, shortlink: string): Promise<PlanRow | undefined> {
  const { rows } = await sql<PlanRow>`
    select l.workspace_id as "workspaceId", l.id as "linkId", s.host, s.shortlink, w.environment, w.timezone,
      coalesce(ls.data_collection, 'BASIC') as "dataCollection",
      l.fallback_destination as "fallbackDestination", coalesce(d.root_destination, '') as "rootDestination",
      w.expires_at as "expiresAt",
      (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'action', event_action, 'payload', payload)), '[]')
        from workflow_steps where workspace_id = l.workspace_id and link_id = l.id) as steps,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'stepId', step_id, 'branchId', branch_id, 'nextStepId', next_step_id)), '[]')
        from workflow_connections where workspace_id = l.workspace_id and link_id = l.id) as connections
    from shortlinks s
    join links l on l.workspace_id = s.workspace_id and l.id = s.link_id
    join workspaces w on w.id = s.workspace_id
    left join link_settings ls on ls.workspace_id = w.id and ls.id = w.link_setting_id
    left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id
    where s.host = ${host} and s.shortlink = ${shortlink} and s.released_at is null
      and l.deleted_at is null and w.deleted_at is null
      and (l.custom_domain_id is null or d.status in ('ACTIVE', 'RENEWAL_PENDING'))`.execute(db);
  return rows[0];
}

/** Where the bare address of a custom domain leads; undefined when the host is none, empty when nothing is set. */
export async function loadRoot(db: Db, host: string): Promise<string | undefined> {
  const { rows } = await sql<{ destination: string }>`
    select d.root_destination as destination
    from domain_names n
    join custom_domains d on d.workspace_id = n.workspace_id and d.id = n.custom_domain_id
    join workspaces w on w.id = n.workspace_id
    where n.name = ${host} and d.status in ('ACTIVE', 'RENEWAL_PENDING') and w.deleted_at is null`.execute(
    db,
  );
  return rows[0]?.destination;
}
