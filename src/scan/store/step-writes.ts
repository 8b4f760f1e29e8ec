import { sql } from "kysely";
import { plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import type { SavedAttribute } from "../../workflow/walk-result.ts";
import type { RecordedAnswer, StepTrace } from "../spool/step-record.ts";

/** The event of a visit. */
export interface EventKey {
  readonly workspaceId: string;
  readonly eventId: string;
}

/** The key of a visit among those of all workspaces. */
export function placeOf({ workspaceId, eventId }: EventKey): string {
  return `${workspaceId}/${eventId}`;
}

/** Returns values by key, as traces keep them. Of two values of a key, the later one stays. */
export function savedTexts(saved: readonly SavedAttribute[]): Readonly<Record<string, string>> {
  return Object.fromEntries(saved.map(({ key, value }) => [key, value]));
}

/** A trace, and when its answer was taken. */
export interface TimedTrace extends StepTrace {
  readonly at: Date;
}

/** Traces of one visit, in their order. */
export interface VisitTraces extends EventKey {
  readonly traces: readonly TimedTrace[];
  /** Whether the traces must say that nothing was saved, as for bots and agents. */
  readonly savesNothing: boolean;
}

/**
 * Opens traces of visits, or updates those that are open. A step has one trace in a visit, however often it comes up.
 * With `keepsCompleted`, the traces of steps that are already completed stay as they are.
 */
export async function writeStepTraces(
  tx: Db,
  visits: readonly VisitTraces[],
  { keepsCompleted }: { readonly keepsCompleted: boolean },
): Promise<void> {
  const rows = visits.flatMap(rowsOf);
  if (rows.length === 0) return;
  const plain = (read: (row: TraceRow) => string) => plainArray(rows.map(read));
  await sql`
    insert into traces (workspace_id, event_id, step_id, id, step_action, data, saved_attributes, created_at, completed_at,
      updated_at)
    select workspace_id, event_id, step_id, id, step_action, data, nullif(saved, '{}'), opened_at, completed_at, at
    from unnest(
      ${plain(({ workspaceId }) => workspaceId)}::uuid[],
      ${plain(({ eventId }) => eventId)}::uuid[],
      ${plain(({ stepId }) => stepId)}::uuid[],
      ${plain(({ id }) => id)}::uuid[],
      ${plain(({ action }) => action)}::event_action[],
      ${textArray(rows.map(({ data }) => JSON.stringify(data)))}::jsonb[],
      ${textArray(rows.map(({ savedJson }) => savedJson))}::jsonb[],
      ${plain(({ openedAt }) => openedAt.toISOString())}::timestamptz[],
      ${plain(({ completedAt }) => completedAt?.toISOString() ?? "")}::timestamptz[],
      ${plain(({ at }) => at.toISOString())}::timestamptz[])
      as given (workspace_id, event_id, step_id, id, step_action, data, saved, opened_at, completed_at, at)
    on conflict (workspace_id, event_id, step_id) do update set data = excluded.data,
      saved_attributes = coalesce(traces.saved_attributes || excluded.saved_attributes,
        traces.saved_attributes, excluded.saved_attributes),
      completed_at = coalesce(excluded.completed_at, traces.completed_at), updated_at = excluded.updated_at
    ${keepsCompleted ? sql`where traces.completed_at is null` : sql``}`.execute(tx);
}

interface WholeTrace extends TimedTrace {
  readonly openedAt: Date;
  readonly completedAt: Date | undefined;
}

interface TraceRow extends WholeTrace, EventKey {
  readonly id: string;
  readonly savedJson: string;
}

function rowsOf({ workspaceId, eventId, traces, savesNothing }: VisitTraces): TraceRow[] {
  const distinct = lastWords(traces);
  // Ids are in the order of the traces, also within one millisecond.
  const ids = distinct.map(({ openedAt }) => newId(openedAt)).sort((a, b) => (a < b ? -1 : 1));
  return distinct.map((trace, index) => ({
    ...trace,
    workspaceId,
    eventId,
    id: ids[index] ?? "",
    savedJson: JSON.stringify(savesNothing ? {} : savedTexts(trace.saved)),
  }));
}

/**
 * Joins the traces of each step into one, with the last data and all saved values. One completed trace completes it.
 */
function lastWords(traces: readonly TimedTrace[]): WholeTrace[] {
  const found = new Map<string, WholeTrace>();
  for (const trace of traces) {
    const before = found.get(trace.stepId);
    found.set(trace.stepId, {
      ...trace,
      saved: [...(before?.saved ?? []), ...trace.saved],
      openedAt: before?.openedAt ?? trace.at,
      completedAt: trace.isCompleted ? trace.at : before?.completedAt,
    });
  }
  return [...found.values()];
}

/** How far a visit has come with an answer. */
export interface JourneyMove {
  readonly answer: RecordedAnswer;
  readonly stepsReached: number;
}

/** Writes how far visits have come. Visits that have ended are no longer under way. */
export async function writeJourneys(tx: Db, moves: readonly JourneyMove[]): Promise<void> {
  if (moves.length === 0) return;
  const plain = (read: (answer: RecordedAnswer) => string | number) =>
    plainArray(moves.map(({ answer }) => read(answer)));
  const texts = (read: (answer: RecordedAnswer) => string) =>
    textArray(moves.map(({ answer }) => read(answer)));
  // A visit may have ended as abandoned, because this answer had not come yet. It is then scored when it really ends.
  await sql`
    with given as materialized (
      select *, to_timestamp(at_ms / 1000) as at from unnest(
        ${plain(({ workspaceId }) => workspaceId)}::uuid[],
        ${plain(({ eventId }) => eventId)}::uuid[],
        ${plain(({ linkId }) => linkId)}::uuid[],
        ${plainArray(moves.map(({ stepsReached }) => stepsReached))}::smallint[],
        ${plainArray(moves.map(({ stepsReached, answer }) => stepsReached + answer.stepsAhead))}::smallint[],
        ${plain(({ lastStepId }) => lastStepId)}::uuid[],
        ${plain(({ outcome }) => outcome)}::journey_outcome[],
        ${texts(({ destination }) => destination)}::text[],
        ${plain(({ exitAction }) => exitAction)}::event_action[],
        ${plain(({ waitsAt }) => waitsAt)}::uuid[],
        ${texts(({ query }) => query)}::text[],
        ${plain(({ level }) => level)}::data_collection[],
        ${plain(({ number }) => number)}::integer[],
        ${plain(({ atMs }) => atMs)}::float8[])
        as given (workspace_id, event_id, link_id, steps_reached, steps_total, last_step_id, outcome, destination,
          exit_action, waits_at, query, data_collection, answers, at_ms)),
    ended as (
      delete from visits v using given g
      where v.workspace_id = g.workspace_id and v.event_id = g.event_id and g.outcome <> 'IN_PROGRESS'),
    waiting as (
      insert into visits (workspace_id, event_id, link_id, step_id, query, data_collection, active_at, answers)
      select workspace_id, event_id, link_id, waits_at, query, data_collection, at, answers
      from given where outcome = 'IN_PROGRESS'
      on conflict (workspace_id, event_id) do update set step_id = excluded.step_id, answers = excluded.answers,
        active_at = greatest(visits.active_at, excluded.active_at))
    update events e set steps_reached = g.steps_reached, steps_total = g.steps_total,
      last_step_id = coalesce(g.last_step_id, e.last_step_id),
      outcome = g.outcome, destination = g.destination, destination_action = g.exit_action,
      lead_score = case when e.outcome <> 'ABANDONED' then e.lead_score end,
      ended_at = case when g.outcome <> 'IN_PROGRESS' then g.at end, updated_at = greatest(e.updated_at, g.at)
    from given g where e.workspace_id = g.workspace_id and e.id = g.event_id`.execute(tx);
}
