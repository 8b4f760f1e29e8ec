import { sql } from "kysely";
import type { PlanRow } from "../model/workflow/plan.ts";
import type { Db } from "./open.ts";
import { prepared } from "./prepared.ts";

/**
 * Loads everything that a plan is compiled from, in one statement; undefined when no link has this address. Expired
 * links keep their address. Links that were taken out of their workspace have no steps any more, but still a
 * destination.
 */
export async function loadPlan(db: Db, host: string, shortlink: string): Promise<PlanRow | undefined> {
  const statement = sql<PlanRow>`
    select ${planColumns}
    from shortlinks s join links l on l.workspace_id = s.workspace_id and l.id = s.link_id ${besideLinks}
    where s.host = ${host} and s.shortlink = ${shortlink} and s.released_at is null
      and (l.deleted_at is null or l.expires_at <= l.deleted_at) and w.deleted_at is null
      and (l.custom_domain_id is null or (d.status in ('ACTIVE', 'RENEWAL_PENDING')
        -- The name may be another workspace's by now.
        and exists (select from domain_names where name = d.name and custom_domain_id = d.id and released_at is null)))`;
  const { rows } = await db.executeQuery(prepared("load-plan", statement.compile(db)));
  return rows[0];
}

/** Loads the plan of a workspace's link by its id, whether or not visitors can reach its domain. */
export async function loadPlanOfLink(
  db: Db,
  workspaceId: string,
  linkId: string,
): Promise<PlanRow | undefined> {
  const statement = sql<PlanRow>`
    select ${planColumns}
    from living_links l ${besideLinks}
    where l.workspace_id = ${workspaceId} and l.id = ${linkId}
      and w.deleted_at is null`;
  const { rows } = await db.executeQuery(prepared("load-plan-of-link", statement.compile(db)));
  return rows[0];
}

// Planning takes longer than running, and grows with the number of joined tables: parts that can stand alone are not
// joined.
const planColumns = sql`
  l.workspace_id as "workspaceId", l.id as "linkId", coalesce(d.name, '') as host, l.shortlink, w.environment,
  w.timezone, coalesce((select data_collection from link_settings
    where workspace_id = w.id and id = w.link_setting_id), 'BASIC') as "dataCollection",
  l.fallback_destination as "fallbackDestination", coalesce(d.root_destination, '') as "rootDestination",
  w.expires_at as "workspaceExpiresAt",
  (select subscription_type from workspaces where id = coalesce(w.parent_workspace_id, w.id)) as "subscriptionType",
  (select trial_ends_at from workspaces where id = coalesce(w.parent_workspace_id, w.id)) as "trialEndsAt",
  -- A link that was taken out counts as expired, even if this process's clock is behind.
  case when l.deleted_at is null then l.expires_at else to_timestamp(0) end as "expiresAt",
  l.expired_destination as "expiredDestination",
  (select styling from page_themes where workspace_id = l.workspace_id and id = l.page_theme_id) as "pageTheme",
  (select jsonb_build_object(
      'badge', (select page_files from media where workspace_id = t.workspace_id and id = (t.styling ->> 'badgeId')::uuid),
      'cover', (select page_files from media
        where workspace_id = t.workspace_id and id = (t.styling ->> 'canvasCoverId')::uuid))
    from page_themes t where t.workspace_id = l.workspace_id and t.id = l.page_theme_id) as "pageFiles",
  jsonb_build_object('name', l.name, 'shortlink', l.shortlink, 'metadata', l.metadata, 'purpose', l.purpose,
    'tags', (select coalesce(jsonb_agg(t.name order by lt.position), '[]')
      from link_tags lt join tags t on t.workspace_id = lt.workspace_id and t.id = lt.tag_id
      where lt.workspace_id = l.workspace_id and lt.link_id = l.id)) as link,
  (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'action', event_action, 'payload', payload,
      'attributeCapture', attribute_capture)), '[]')
    from workflow_steps where workspace_id = l.workspace_id and link_id = l.id) as steps,
  (select coalesce(jsonb_agg(jsonb_build_object(
      'stepId', step_id, 'branchId', branch_id, 'nextStepId', next_step_id)), '[]')
    from workflow_connections where workspace_id = l.workspace_id and link_id = l.id) as connections`;

const besideLinks = sql`
  join workspaces w on w.id = l.workspace_id
  left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id`;
