import { type Selectable, sql } from "kysely";
import type { Devices, Events, Links } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";
import { type StepAction, stepActions } from "../model/steps/kinds.ts";
import { leadScoreOf } from "../model/visitors/lead-score.ts";

interface ScoredRow
  extends Pick<Selectable<Events>, "steps_total">,
    Pick<
      Selectable<Devices>,
      "platform_name" | "platform_version" | "browser_name" | "browser_version" | "country"
    >,
    Pick<Selectable<Links>, "purpose"> {
  readonly ended_at: Date;
  readonly previous_visits: number | null;
  readonly steps: readonly {
    readonly action: StepAction;
    readonly seconds: number;
    readonly done: boolean;
  }[];
  readonly ratings: readonly number[];
}

/**
 * Scores a visit that has ended with a request after its first, from what is stored of it. A visit is scored once.
 * Visits that are not counted get no score, nor do those of sandboxes.
 */
export async function scoreVisit(
  tx: Db,
  { workspaceId, eventId }: { readonly workspaceId: string; readonly eventId: string },
  now: Date,
): Promise<void> {
  const row = await findEnded(tx, workspaceId, eventId);
  if (row === undefined) return;
  const steps = row.steps.map((step) => ({ ...step, kind: stepActions[step.action].kind }));
  const { leadScore, factors, recurringScans } = leadScoreOf({
    at: row.ended_at,
    stepsCompleted: steps.filter(({ kind, done }) => done && kind !== "CONDITION").length,
    stepsTotal: row.steps_total,
    secondsOnPages: steps.reduce((sum, { kind, seconds }) => sum + (kind === "INTERACTION" ? seconds : 0), 0),
    platformName: row.platform_name,
    platformVersion: row.platform_version,
    browserName: row.browser_name,
    browserVersion: row.browser_version,
    country: row.country,
    previousVisits: row.previous_visits ?? undefined,
    ratings: row.ratings,
    purpose: row.purpose,
  });
  await sql`
    update events set lead_score = ${leadScore}, engagement_level = ${factors.engagementLevel ?? null},
      technological_aptitude = ${factors.technologicalAptitude ?? null},
      recurring_interest = ${factors.recurringInterest ?? null},
      brand_supportiveness = ${factors.brandSupportiveness ?? null}, profile_fit = ${factors.profileFit ?? null},
      recurring_scans = ${recurringScans ?? null}, scored_at = ${now}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${eventId}`.execute(tx);
}

/** Reads everything by keys. Subtracts the visit itself, and those after it, from the visitor's visits of the link. */
async function findEnded(tx: Db, workspaceId: string, eventId: string): Promise<ScoredRow | undefined> {
  const { rows } = await sql<ScoredRow>`
    select e.ended_at, e.steps_total, d.platform_name, d.platform_version, d.browser_name, d.browser_version, d.country,
      l.purpose, (vl.event_count - (select count(*) from events own
        where own.workspace_id = e.workspace_id and own.visitor_id = e.visitor_id and own.id >= e.id
          and own.link_id = e.link_id and own.counted))::int as previous_visits,
      (select coalesce(jsonb_agg(jsonb_build_object('action', t.step_action, 'done', t.completed_at is not null,
          'seconds', extract(epoch from coalesce(t.completed_at, e.ended_at) - t.created_at))), '[]')
        from visit_traces t
        where t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_action is not null) as steps,
      (select coalesce(jsonb_agg((field->>'value')::int), '[]')
        from traces t, jsonb_array_elements(t.data #> '{form,fields}') as field
        where t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_action = 'FORM_SUBMIT'
          and field->>'type' = 'RATING' and field->>'value' ~ '^[1-5]$') as ratings
    from events e
    join workspaces w on w.id = e.workspace_id
    join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    join links l on l.workspace_id = e.workspace_id and l.id = e.link_id
    left join visitor_links vl on vl.workspace_id = e.workspace_id and vl.visitor_id = e.visitor_id
      and vl.link_id = e.link_id
    where e.workspace_id = ${workspaceId} and e.id = ${eventId} and e.counted and e.ended_at is not null
      and e.lead_score is null and w.environment = 'live'`.execute(tx);
  return rows[0];
}
