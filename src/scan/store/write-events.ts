import { type RawBuilder, sql } from "kysely";
import { plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import type { ResolvedVisit } from "./resolved-visit.ts";
import type { VisitFacts } from "./visit-facts.ts";
import { savedOn, toldByEvent } from "./write-traces.ts";

/**
 * Writes events, with the scores of those that have one, and with what they tell in place of traces. What many events
 * have in common is sent once, and each event names it by its place: reading all of it for each event cost PostgreSQL as
 * much as storing the event.
 */
export async function insertEvents(tx: Db, visits: readonly ResolvedVisit[], now: Date): Promise<void> {
  const ofLinks = once(visits, ofLink);
  const ofKinds = once(visits, ofKind);
  const link = (read: (own: OfLink) => string | number) => plainArray(ofLinks.distinct.map(read));
  const kind = (read: (own: OfKind) => string | number | boolean) => plainArray(ofKinds.distinct.map(read));
  const plain = (read: (visit: ResolvedVisit) => string | number) => plainArray(visits.map(read));
  const hasLocks = visits.some(({ lock }) => lock !== undefined);
  const isLate = visits.some(({ facts }) => now.getTime() - facts.visit.atMs > lateAfterMs);
  // There is no "on conflict", which would cost every visit something. An event that exists already fails the batch,
  // and the next attempt looks for such events.
  await sql`
    insert into events (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason,
      entrypoint, destination, destination_action, steps_total, steps_reached, last_step_id, outcome, entry_step_id,
      exit_tracking, lead_score, engagement_level, technological_aptitude, recurring_interest, profile_fit,
      recurring_scans, scored_at, ended_at, created_at, updated_at${hasLocks ? sql`, locked_number, locked_cycle` : sql``}
      ${isLate ? sql`, late_seconds` : sql``})
    select (${link(({ workspaceId }) => workspaceId)}::uuid[])[link], id, (${link(({ linkId }) => linkId)}::uuid[])[link],
      device_id, visitor_id, (${kind(({ action }) => action)}::action[])[kind],
      (${kind(({ visitType }) => visitType)}::visit_type[])[kind], (${kind(({ counted }) => counted)}::boolean[])[kind],
      (${kind(({ uncountedReason }) => uncountedReason)}::uncounted_reason[])[kind],
      (${textArray(ofLinks.distinct.map(({ entrypoint }) => entrypoint))}::text[])[link], destination,
      (${kind(({ exitAction }) => exitAction)}::event_action[])[kind],
      (${kind(({ stepsTotal }) => stepsTotal)}::smallint[])[kind],
      (${kind(({ stepsReached }) => stepsReached)}::smallint[])[kind],
      (${link(({ lastStepId }) => lastStepId)}::uuid[])[link], outcome,
      (${link(({ entryStepId }) => entryStepId)}::uuid[])[link],
      (${kind(({ exitTracking }) => exitTracking)}::boolean[])[kind], lead_score,
      (${kind(({ engagementLevel }) => engagementLevel)}::smallint[])[kind],
      (${kind(({ technologicalAptitude }) => technologicalAptitude)}::smallint[])[kind],
      (${kind(({ recurringInterest }) => recurringInterest)}::smallint[])[kind],
      (${kind(({ profileFit }) => profileFit)}::smallint[])[kind],
      (${kind(({ recurringScans }) => recurringScans)}::integer[])[kind],
      case when lead_score is not null then at end, case when outcome <> 'IN_PROGRESS' then at end, at, at
      ${hasLocks ? sql`, locked_number, (${kind(({ lockedCycle }) => lockedCycle)}::text[])[kind]` : sql``}
      ${isLate ? sql`, ${lateSeconds(now)}` : sql``}
    from (select id, device_id, visitor_id, destination, link, kind, to_timestamp(at_ms / 1000) as at,
        ${hasLocks ? sql`locked_number,` : sql``}
        (${kind(({ outcome }) => outcome)}::journey_outcome[])[kind] as outcome,
        (${kind(({ leadScore }) => leadScore)}::smallint[])[kind] as lead_score
      from unnest(
        ${plain(({ facts }) => facts.visit.id)}::uuid[],
        ${plain(({ device }) => device.id)}::uuid[],
        ${plain(({ visitorId }) => visitorId)}::uuid[],
        ${textArray(visits.map(({ facts }) => facts.visit.destination))}::text[],
        ${plainArray(ofLinks.places)}::integer[],
        ${plainArray(ofKinds.places)}::integer[],
        ${plain(({ facts }) => facts.visit.atMs)}::float8[]
        ${hasLocks ? sql`, ${plain(({ lock }) => lock?.number ?? "")}::integer[]` : sql``})
        as given (id, device_id, visitor_id, destination, link, kind, at_ms
          ${hasLocks ? sql`, locked_number` : sql``})) as given`.execute(tx);
}

/** How long after its time a visit is stored at most, so that it is not late. */
const lateAfterMs = 60_000;

function lateSeconds(now: Date): RawBuilder<unknown> {
  return sql`case when ${now}::timestamptz - at > ${lateAfterMs} * interval '1 millisecond'
    then least(extract(epoch from ${now}::timestamptz - at), 2147483647)::integer end`;
}

/** Each value once, and for each visit the place of its value, from 1. */
function once<Value extends object>(
  visits: readonly ResolvedVisit[],
  read: (visit: ResolvedVisit) => Value,
): { readonly distinct: readonly Value[]; readonly places: readonly number[] } {
  const known = new Map<string, number>();
  const distinct: Value[] = [];
  const places = visits.map((visit) => {
    const value = read(visit);
    const key = Object.values(value).join("\n");
    const place = known.get(key) ?? distinct.push(value);
    known.set(key, place);
    return place;
  });
  return { distinct, places };
}

/** What events of a link have in common. */
interface OfLink {
  readonly workspaceId: string;
  readonly linkId: string;
  readonly entrypoint: string;
  readonly entryStepId: string;
  readonly lastStepId: string;
}

function ofLink(resolved: ResolvedVisit): OfLink {
  const { workspaceId, linkId, entrypoint, lastStepId } = resolved.facts.visit;
  const { entryStepId } = toldByEvent(resolved.facts.visit, savedOn(resolved));
  return { workspaceId, linkId, entrypoint, entryStepId, lastStepId };
}

/**
 * What events of many links have in common, above all what is often missing: PostgreSQL counts through an array with
 * missing values, so such arrays must be short.
 */
interface OfKind {
  readonly action: string;
  readonly visitType: string;
  readonly counted: boolean;
  readonly uncountedReason: string;
  readonly exitAction: string;
  readonly stepsTotal: number;
  readonly stepsReached: number;
  readonly outcome: string;
  readonly exitTracking: boolean | "";
  readonly leadScore: number | "";
  readonly engagementLevel: number | "";
  readonly technologicalAptitude: number | "";
  readonly recurringInterest: number | "";
  readonly profileFit: number | "";
  readonly recurringScans: number | "";
  readonly lockedCycle: string;
}

function ofKind(resolved: ResolvedVisit): OfKind {
  const { facts, visitType, score, lock } = resolved;
  const { visit, counted, uncountedReason } = facts;
  const { action, stepsTotal, stepsReached, outcome } = visit;
  const { engagementLevel, technologicalAptitude, recurringInterest, profileFit } = score?.factors ?? {};
  return {
    action,
    visitType,
    counted,
    uncountedReason,
    exitAction: destinationAction(facts),
    stepsTotal,
    stepsReached,
    outcome,
    exitTracking: toldByEvent(visit, savedOn(resolved)).exitTracking,
    leadScore: score?.leadScore ?? "",
    engagementLevel: engagementLevel ?? "",
    technologicalAptitude: technologicalAptitude ?? "",
    recurringInterest: recurringInterest ?? "",
    profileFit: profileFit ?? "",
    recurringScans: score?.recurringScans ?? "",
    lockedCycle: lock?.cycle ?? "",
  };
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
