import { sql } from "kysely";
import { plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import type { LeadScore } from "../../model/visitors/lead-score.ts";
import type { ResolvedVisit } from "./resolved-visit.ts";
import type { VisitFacts } from "./visit-facts.ts";
import { savedOn, toldByEvent } from "./write-traces.ts";

/** Writes events, with the scores of those that have one, and with what they tell in place of traces. */
export async function insertEvents(tx: Db, visits: readonly ResolvedVisit[]): Promise<void> {
  const scored = (read: (score: LeadScore) => number | undefined) =>
    plainArray(visits.map(({ score }) => (score && read(score)) ?? ""));
  const plain = (read: (visit: ResolvedVisit) => string | number | boolean) => plainArray(visits.map(read));
  const texts = (read: (visit: ResolvedVisit) => string) => textArray(visits.map(read));
  const told = visits.map((visit) => toldByEvent(visit.facts.visit, savedOn(visit)));
  // There is no "on conflict", which would cost every visit something. An event that exists already fails the batch,
  // and the next attempt looks for such events.
  await sql`
    insert into events (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason, entrypoint,
      destination, destination_action, steps_total, steps_reached, last_step_id, outcome, entry_step_id, exit_tracking,
      lead_score, engagement_level, technological_aptitude, recurring_interest, profile_fit, recurring_scans,
      scored_at, ended_at, created_at, updated_at)
    select workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason, entrypoint,
      destination, destination_action, steps_total, steps_reached, last_step_id, outcome, entry_step_id, exit_tracking,
      lead_score, engagement_level, technological_aptitude, recurring_interest, profile_fit, recurring_scans,
      case when lead_score is not null then at end, case when outcome <> 'IN_PROGRESS' then at end, at, at
    from (select *, to_timestamp(at_ms / 1000) as at from unnest(
      ${plain(({ facts }) => facts.visit.workspaceId)}::uuid[],
      ${plain(({ facts }) => facts.visit.id)}::uuid[],
      ${plain(({ facts }) => facts.visit.linkId)}::uuid[],
      ${plain(({ device }) => device.id)}::uuid[],
      ${plain(({ visitorId }) => visitorId)}::uuid[],
      ${plain(({ facts }) => facts.visit.action)}::action[],
      ${plain(({ visitType }) => visitType)}::visit_type[],
      ${plain(({ facts }) => facts.counted)}::boolean[],
      ${plain(({ facts }) => facts.uncountedReason)}::uncounted_reason[],
      ${texts(({ facts }) => facts.visit.entrypoint)}::text[],
      ${texts(({ facts }) => facts.visit.destination)}::text[],
      ${plain(({ facts }) => destinationAction(facts))}::event_action[],
      ${plain(({ facts }) => facts.visit.stepsTotal)}::smallint[],
      ${plain(({ facts }) => facts.visit.stepsReached)}::smallint[],
      ${plain(({ facts }) => facts.visit.lastStepId)}::uuid[],
      ${plain(({ facts }) => facts.visit.outcome)}::journey_outcome[],
      ${plainArray(told.map(({ entryStepId }) => entryStepId))}::uuid[],
      ${plainArray(told.map(({ exitTracking }) => exitTracking))}::boolean[],
      ${scored(({ leadScore }) => leadScore)}::smallint[],
      ${scored(({ factors }) => factors.engagementLevel)}::smallint[],
      ${scored(({ factors }) => factors.technologicalAptitude)}::smallint[],
      ${scored(({ factors }) => factors.recurringInterest)}::smallint[],
      ${scored(({ factors }) => factors.profileFit)}::smallint[],
      ${scored(({ recurringScans }) => recurringScans)}::integer[],
      ${plain(({ facts }) => facts.visit.atMs)}::float8[])
      as given (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason, entrypoint,
        destination, destination_action, steps_total, steps_reached, last_step_id, outcome, entry_step_id, exit_tracking,
        lead_score, engagement_level, technological_aptitude, recurring_interest, profile_fit, recurring_scans,
        at_ms)) as given`.execute(tx);
}

/** The exit of the visit. A fallback counts as a redirect, even where it leads nowhere. */
function destinationAction({ visit }: VisitFacts): string {
  if (visit.outcome === "IN_PROGRESS") return "";
  return visit.outcome === "COMPLETED" ? visit.lastStepAction : "CLIENT_REDIRECT";
}

/** Visits that wait for their visitor at an interaction. */
export async function insertVisitsUnderWay(tx: Db, visits: readonly ResolvedVisit[]): Promise<void> {
  const waiting = visits.flatMap(({ facts: { visit } }) => (visit.waitsAt === "" ? [] : [visit]));
  if (waiting.length === 0) return;
  const plain = (read: (visit: VisitFacts["visit"]) => string | number) => plainArray(waiting.map(read));
  await sql`
    insert into visits (workspace_id, event_id, link_id, step_id, query, data_collection, active_at)
    select workspace_id, event_id, link_id, step_id, query, data_collection, to_timestamp(at_ms / 1000)
    from unnest(
      ${plain(({ workspaceId }) => workspaceId)}::uuid[],
      ${plain(({ id }) => id)}::uuid[],
      ${plain(({ linkId }) => linkId)}::uuid[],
      ${plain(({ waitsAt }) => waitsAt)}::uuid[],
      ${textArray(waiting.map(({ query }) => query))}::text[],
      ${plain(({ level }) => level)}::data_collection[],
      ${plain(({ atMs }) => atMs)}::float8[])
      as given (workspace_id, event_id, link_id, step_id, query, data_collection, at_ms)`.execute(tx);
}
