import { type Selectable, sql } from "kysely";
import type { Devices, Events, Links, Workspaces } from "../../gen/database.ts";
import { plainArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import { entitlementOf } from "../model/plans/entitlement.ts";
import type { PlanTable } from "../model/plans/plan-table.ts";
import { type StepAction, stepActions } from "../model/steps/kinds.ts";
import { type LeadScore, leadScoreOf } from "../model/visitors/lead-score.ts";
import { type Scorable, takeLeadScores } from "./lead-score-quota.ts";

interface ScoredRow
  extends EventKey,
    Pick<Selectable<Events>, "steps_total">,
    Pick<
      Selectable<Devices>,
      "platform_name" | "platform_version" | "browser_name" | "browser_version" | "country"
    >,
    Pick<Selectable<Links>, "purpose">,
    Pick<Selectable<Workspaces>, "subscription_type" | "trial_ends_at" | "timezone"> {
  readonly ended_at: Date;
  readonly previous_visits: number | null;
  readonly steps: readonly {
    readonly action: StepAction;
    readonly seconds: number;
    readonly done: boolean;
  }[];
  readonly ratings: readonly number[];
}

/** The event of a visit. */
interface EventKey {
  readonly workspaceId: string;
  readonly eventId: string;
}

/**
 * Scores visits that have ended with a request after their first, from what is stored of them. A visit is scored once.
 * Visits that are not counted or have ever been locked get no score, nor do those of sandboxes or beyond what the plans
 * allow. A revealed visit keeps the cycle that it was locked in. The caller has written the end of each visit in the same
 * transaction, and has marked its segment.
 */
export async function scoreVisits(
  tx: Db,
  plans: PlanTable,
  visits: readonly EventKey[],
  now: Date,
): Promise<void> {
  if (visits.length === 0) return;
  const ended = await takeLeadScores(tx, await findEnded(tx, visits), (row) => scorableOf(row, plans));
  if (ended.length === 0) return;
  const scores = ended.map(scoreOf);
  const plain = (read: (row: ScoredRow) => string) => plainArray(ended.map(read));
  const scored = (read: (score: LeadScore) => number | undefined) =>
    plainArray(scores.map((score) => read(score) ?? ""));
  await sql`
    update events e set lead_score = given.lead_score, engagement_level = given.engagement_level,
      technological_aptitude = given.technological_aptitude, recurring_interest = given.recurring_interest,
      brand_supportiveness = given.brand_supportiveness, profile_fit = given.profile_fit,
      recurring_scans = given.recurring_scans, scored_at = ${now}, updated_at = ${now}
    from unnest(
      ${plain(({ workspaceId }) => workspaceId)}::uuid[],
      ${plain(({ eventId }) => eventId)}::uuid[],
      ${scored(({ leadScore }) => leadScore)}::smallint[],
      ${scored(({ factors }) => factors.engagementLevel)}::smallint[],
      ${scored(({ factors }) => factors.technologicalAptitude)}::smallint[],
      ${scored(({ factors }) => factors.recurringInterest)}::smallint[],
      ${scored(({ factors }) => factors.brandSupportiveness)}::smallint[],
      ${scored(({ factors }) => factors.profileFit)}::smallint[],
      ${scored(({ recurringScans }) => recurringScans)}::integer[])
      as given (workspace_id, event_id, lead_score, engagement_level, technological_aptitude, recurring_interest,
        brand_supportiveness, profile_fit, recurring_scans)
    where e.workspace_id = given.workspace_id and e.id = given.event_id`.execute(tx);
}

function scorableOf(row: ScoredRow, plans: PlanTable): Scorable {
  const { workspaceId, ended_at: endedAt, subscription_type, trial_ends_at, timezone } = row;
  const facts = { subscriptionType: subscription_type, trialEndsAt: trial_ends_at, timezone };
  return {
    workspaceId,
    endedAt,
    entitlement: entitlementOf(plans, { environment: "live", ...facts }, endedAt),
  };
}

function scoreOf(row: ScoredRow): LeadScore {
  const steps = row.steps.map((step) => ({ ...step, kind: stepActions[step.action].kind }));
  return leadScoreOf({
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
}

/**
 * Reads everything by keys. The events come first, lest the planner begins with all links of a workspace. Subtracts a
 * visit itself, and those after it, from the visitor's visits of the link.
 */
async function findEnded(tx: Db, visits: readonly EventKey[]): Promise<ScoredRow[]> {
  const { rows } = await sql<ScoredRow>`
    with ended as materialized (
      select e.workspace_id, e.id, e.link_id, e.device_id, e.visitor_id, e.ended_at, e.steps_total
      from unnest(${plainArray(visits.map(({ workspaceId }) => workspaceId))}::uuid[],
          ${plainArray(visits.map(({ eventId }) => eventId))}::uuid[]) as given (workspace_id, event_id)
      join events e on e.workspace_id = given.workspace_id and e.id = given.event_id
      where e.counted and e.locked_cycle is null and e.ended_at is not null and e.lead_score is null)
    select e.workspace_id as "workspaceId", e.id as "eventId", e.ended_at, e.steps_total, d.platform_name,
      d.platform_version, d.browser_name, d.browser_version, d.country, l.purpose,
      w.subscription_type, w.trial_ends_at, w.timezone,
      -- Links are compared as texts, so that the planner takes the visitor's index: a link has more events.
      (vl.event_count - (select count(*) from events own
        where own.workspace_id = e.workspace_id and own.visitor_id = e.visitor_id and own.id >= e.id
          and own.link_id::text = e.link_id::text and own.counted and own.locked_number is null))::int as previous_visits,
      (select coalesce(jsonb_agg(jsonb_build_object('action', t.step_action, 'done', t.completed_at is not null,
          'seconds', extract(epoch from coalesce(t.completed_at, e.ended_at) - t.created_at))), '[]')
        from visit_traces t
        where t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_action is not null) as steps,
      (select coalesce(jsonb_agg((field->>'value')::int), '[]')
        from traces t, jsonb_array_elements(t.data #> '{form,fields}') as field
        where t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_action = 'FORM_SUBMIT'
          and field->>'type' = 'RATING' and field->>'value' ~ '^[1-5]$') as ratings
    from ended e
    join workspaces w on w.id = e.workspace_id
    join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    join links l on l.workspace_id = e.workspace_id and l.id = e.link_id
    left join visitor_links vl on vl.workspace_id = e.workspace_id and vl.visitor_id = e.visitor_id
      and vl.link_id = e.link_id
    where w.environment = 'live'`.execute(tx);
  return rows;
}
