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

/** Returns values by key, as traces keep them. Of two values of a key, the later one stays. */
export function savedTexts(saved: readonly SavedAttribute[]): Readonly<Record<string, string>> {
  return Object.fromEntries(saved.map(({ key, value }) => [key, value]));
}

/** A trace, and when its answer was taken. */
export interface TimedTrace extends StepTrace {
  readonly at: Date;
}

export interface TraceOptions {
  /** Whether the traces must say that nothing was saved, as for bots and agents. */
  readonly savesNothing: boolean;
  /** Whether the traces of steps that are already completed stay as they are. */
  readonly keepsCompleted: boolean;
}

/** Opens traces, or updates those that are open. A step has one trace in a visit, however often it comes up. */
export async function writeStepTraces(
  tx: Db,
  { workspaceId, eventId }: EventKey,
  traces: readonly TimedTrace[],
  { savesNothing, keepsCompleted }: TraceOptions,
): Promise<void> {
  const distinct = lastWords(traces);
  if (distinct.length === 0) return;
  const plain = (read: (trace: WholeTrace) => string | boolean) => plainArray(distinct.map(read));
  // Ids are in the order of the traces, also within one millisecond.
  const ids = distinct.map(({ openedAt }) => newId(openedAt)).sort((a, b) => (a < b ? -1 : 1));
  await sql`
    insert into traces (workspace_id, event_id, step_id, id, step_action, data, saved_attributes, created_at, completed_at,
      updated_at)
    select ${workspaceId}, ${eventId}, step_id, id, step_action, data, nullif(saved, '{}'), opened_at, completed_at, at
    from unnest(
      ${plain(({ stepId }) => stepId)}::uuid[],
      ${plainArray(ids)}::uuid[],
      ${plain(({ action }) => action)}::event_action[],
      ${textArray(distinct.map(({ data }) => JSON.stringify(data)))}::jsonb[],
      ${textArray(distinct.map(({ saved }) => JSON.stringify(savesNothing ? {} : savedTexts(saved))))}::jsonb[],
      ${plain(({ openedAt }) => openedAt.toISOString())}::timestamptz[],
      ${plain(({ completedAt }) => completedAt?.toISOString() ?? "")}::timestamptz[],
      ${plain(({ at }) => at.toISOString())}::timestamptz[])
      as given (step_id, id, step_action, data, saved, opened_at, completed_at, at)
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

/** Writes how far a visit has come with an answer. A visit that has ended is no longer under way. */
export async function writeJourney(tx: Db, answer: RecordedAnswer, stepsReached: number): Promise<void> {
  const { workspaceId, eventId, outcome, destination, exitAction, lastStepId, stepsAhead } = answer;
  const at = new Date(answer.atMs);
  const hasEnded = outcome !== "IN_PROGRESS";
  // The visit may have ended as abandoned, because this answer had not come yet. It is then scored when it really ends.
  await sql`
    update events set steps_reached = ${stepsReached}, steps_total = ${stepsReached + stepsAhead},
      last_step_id = coalesce(${lastStepId || null}, last_step_id),
      outcome = ${outcome}, destination = ${destination}, destination_action = ${exitAction || null}::event_action,
      lead_score = case when outcome <> 'ABANDONED' then lead_score end,
      ended_at = ${hasEnded ? at : null}, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and id = ${eventId}`.execute(tx);
  if (hasEnded)
    await sql`delete from visits where workspace_id = ${workspaceId} and event_id = ${eventId}`.execute(tx);
  else await writeVisitUnderWay(tx, answer, at);
}

async function writeVisitUnderWay(tx: Db, answer: RecordedAnswer, at: Date): Promise<void> {
  const { workspaceId, eventId, linkId, waitsAt, query, level, number } = answer;
  await sql`
    insert into visits (workspace_id, event_id, link_id, step_id, query, data_collection, active_at, answers)
    values (${workspaceId}, ${eventId}, ${linkId}, ${waitsAt}, ${query}, ${level}, ${at}, ${number})
    on conflict (workspace_id, event_id) do update set step_id = excluded.step_id, answers = excluded.answers,
      active_at = greatest(visits.active_at, excluded.active_at)`.execute(tx);
}
