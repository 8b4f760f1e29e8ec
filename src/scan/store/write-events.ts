import { sql } from "kysely";
import { plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import type { LeadScore } from "../../model/visitors/lead-score.ts";
import type { SavedAtStep } from "../spool/read-record.ts";
import { fallbackStepId } from "../spool/step-record.ts";
import type { ResolvedVisit } from "./resolved-visit.ts";
import { savedTexts } from "./step-writes.ts";
import type { VisitFacts } from "./visit-facts.ts";

/** Writes events, with the scores of those that have one. */
export async function insertEvents(tx: Db, visits: readonly ResolvedVisit[]): Promise<void> {
  const scored = (read: (score: LeadScore) => number | undefined) =>
    plainArray(visits.map(({ score }) => (score && read(score)) ?? ""));
  const plain = (read: (visit: ResolvedVisit) => string | number | boolean) => plainArray(visits.map(read));
  const texts = (read: (visit: ResolvedVisit) => string) => textArray(visits.map(read));
  // There is no "on conflict", which would cost every visit something. An event that exists already fails the batch,
  // and the next attempt looks for such events.
  await sql`
    insert into events (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason, entrypoint,
      destination, destination_action, steps_total, steps_reached, last_step_id, outcome,
      lead_score, engagement_level, technological_aptitude, recurring_interest, profile_fit, recurring_scans,
      scored_at, ended_at, created_at, updated_at)
    select workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason, entrypoint,
      destination, destination_action, steps_total, steps_reached, last_step_id, outcome,
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
      ${scored(({ leadScore }) => leadScore)}::smallint[],
      ${scored(({ factors }) => factors.engagementLevel)}::smallint[],
      ${scored(({ factors }) => factors.technologicalAptitude)}::smallint[],
      ${scored(({ factors }) => factors.recurringInterest)}::smallint[],
      ${scored(({ factors }) => factors.profileFit)}::smallint[],
      ${scored(({ recurringScans }) => recurringScans)}::integer[],
      ${plain(({ facts }) => facts.visit.atMs)}::float8[])
      as given (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, uncounted_reason, entrypoint,
        destination, destination_action, steps_total, steps_reached, last_step_id, outcome,
        lead_score, engagement_level, technological_aptitude, recurring_interest, profile_fit, recurring_scans,
        at_ms)) as given`.execute(tx);
}

/** The exit of the visit. A fallback counts as a redirect, even where it leads nowhere. */
function destinationAction({ visit }: VisitFacts): string {
  if (visit.outcome === "IN_PROGRESS") return "";
  return visit.outcome === "COMPLETED" ? visit.lastStepAction : "CLIENT_REDIRECT";
}

interface Trace {
  /** The position of its visit in the batch. */
  readonly visit: number;
  readonly stepId: string;
  readonly id: string;
  readonly action: string;
  /** The position of its data among the distinct texts of the batch. */
  readonly data: number;
  /** The position of what it saved among the same texts; empty when it saved nothing. */
  readonly saved: number | "";
  readonly isCompleted: boolean;
}

/**
 * Writes the traces of a batch. Most traces have the same data as others, above all those of conditions, so each text
 * is sent and read once, as an element of one JSON array. What belongs to the visit is sent once for all of its traces.
 */
export async function insertTraces(
  tx: Db,
  visits: readonly ResolvedVisit[],
  looksFirst: boolean,
): Promise<void> {
  const traces: Trace[] = [];
  const texts = new Map<string, number>();
  for (const [index, resolved] of visits.entries()) addTraces(traces, texts, index, resolved);
  const ofVisits = (read: (visit: VisitFacts["visit"]) => string | number) =>
    plainArray(visits.map(({ facts }) => read(facts.visit)));
  const plain = (read: (trace: Trace) => string | number | boolean) => plainArray(traces.map(read));
  // Damaged data that reads as two elements would shift those behind it. Then no trace gets any data, and the database
  // refuses the batch.
  const all = `[${[...texts.keys()].join()}]`;
  await sql`
    insert into traces (workspace_id, event_id, step_id, id, step_action, data, saved_attributes, created_at, completed_at,
      updated_at)
    select workspace_id, event_id, step_id, id, step_action, texts -> data, texts -> saved, at, case when is_completed then at end, at
    from (select (${ofVisits(({ workspaceId }) => workspaceId)}::uuid[])[visit] as workspace_id,
        (${ofVisits(({ id }) => id)}::uuid[])[visit] as event_id, step_id, id, step_action,
        case jsonb_array_length(${all}::jsonb) when ${texts.size} then ${all}::jsonb end as texts, data, saved, is_completed,
        to_timestamp((${ofVisits(({ atMs }) => atMs)}::float8[])[visit] / 1000) as at
      from unnest(
        ${plain(({ visit }) => visit + 1)}::int[],
        ${plain(({ stepId }) => stepId)}::uuid[],
        ${plain(({ id }) => id)}::uuid[],
        ${plain(({ action }) => action)}::event_action[],
        ${plain(({ data }) => data)}::int[],
        ${plain(({ saved }) => saved)}::int[],
        ${plain(({ isCompleted }) => isCompleted)}::boolean[])
        as given (visit, step_id, id, step_action, data, saved, is_completed)) as given
    ${looksFirst ? sql`on conflict (workspace_id, event_id, step_id) do nothing` : sql``}`.execute(tx);
}

/** Adds the traces of a visit, in order: that it came, what it was shown or asked on its way, and where it was sent. */
function addTraces(
  traces: Trace[],
  texts: Map<string, number>,
  index: number,
  resolved: ResolvedVisit,
): void {
  const { visitType, facts } = resolved;
  const { visit } = facts;
  let place = 0;
  const numberOf = (text: string): number => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, texts.size);
    return texts.size - 1;
  };
  const savedAt = savedByStep(savedOn(resolved));
  const add = (stepId: string, action: string, text: string, isCompleted: boolean) => {
    const saved = savedAt?.get(stepId);
    traces.push({
      visit: index,
      stepId,
      id: idBeside(visit.id, place),
      action,
      data: numberOf(text),
      saved: saved === undefined ? "" : numberOf(JSON.stringify(saved)),
      isCompleted,
    });
    place += 1;
  };
  const { atMs, action, entrypoint, entryStepId, opened } = visit;
  if (entryStepId !== "") {
    const accessedAt = new Date(atMs).toISOString();
    const entryAccess = { accessedAt, action, entrypoint, httpMethod: "GET", visitType };
    add(entryStepId, "LINK_VISIT", JSON.stringify({ entryAccess }), true);
  }
  for (const step of opened) add(step.id, step.action, step.data, step.isCompleted);
  const { outcome, destination, conversionTracking, lastStepId, lastStepAction } = visit;
  const fallback = outcome === "FALLBACK";
  if (!fallback && (outcome === "IN_PROGRESS" || lastStepAction !== "CLIENT_REDIRECT")) return;
  const data = JSON.stringify({ redirect: { destination, conversionTracking, fallback } });
  add(fallback ? fallbackStepId : lastStepId, "CLIENT_REDIRECT", data, true);
}

/**
 * Returns the values that steps saved on the way. A visit without a visitor saves nothing. A prefetch saves nothing
 * either, because nobody has seen its answer.
 */
export function savedOn({ facts: { visit, isUnseen }, visitorId }: ResolvedVisit): readonly SavedAtStep[] {
  return visitorId === "" || isUnseen ? [] : visit.saved;
}

/** What each step saved, by step. Most visits save nothing. */
function savedByStep(
  saved: readonly SavedAtStep[],
): Map<string, Readonly<Record<string, string>>> | undefined {
  if (saved.length === 0) return undefined;
  const byStep = Map.groupBy(saved, ({ stepId }) => stepId);
  return new Map([...byStep].map(([stepId, attributes]) => [stepId, savedTexts(attributes)]));
}

/**
 * An id that differs from another one in its last byte, so that writing a visit twice makes the same rows in the same
 * order.
 */
function idBeside(id: string, place: number): string {
  return id.slice(0, -2) + ((place + 1) & 0xff).toString(16).padStart(2, "0");
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
