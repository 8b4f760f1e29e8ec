import { sql } from "kysely";
import { plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import type { StepAction } from "../../model/steps/kinds.ts";
import type { Journey } from "../../workflow/journey.ts";
import type { End, SavedAttribute, TraceData } from "../../workflow/walk-result.ts";

/** The event of a visit. */
export interface EventKey {
  readonly workspaceId: string;
  readonly eventId: string;
}

/** A step that was opened, or completed, by a request. */
export interface StepTrace {
  readonly stepId: string;
  readonly action: StepAction;
  readonly data: TraceData;
  readonly isCompleted: boolean;
  /** What the step's attribute capture saves. */
  readonly saved: readonly SavedAttribute[];
}

/** Values by key, as traces keep them: of two values of a key, the later one. */
export function savedTexts(saved: readonly SavedAttribute[]): Readonly<Record<string, string>> {
  return Object.fromEntries(saved.map(({ key, value }) => [key, value]));
}

/** Opens traces, or updates those that are open. A step has one trace in a visit, however often it comes up. */
export async function writeStepTraces(
  tx: Db,
  { workspaceId, eventId, isAutomatic }: EventKey & { readonly isAutomatic: boolean },
  traces: readonly StepTrace[],
  now: Date,
): Promise<void> {
  const distinct = lastWords(traces);
  if (distinct.length === 0) return;
  const plain = (read: (trace: StepTrace) => string | boolean) => plainArray(distinct.map(read));
  await sql`
    insert into traces (workspace_id, event_id, step_id, id, step_action, data, saved_attributes, created_at, completed_at,
      updated_at)
    select ${workspaceId}, ${eventId}, step_id, id, step_action, data, nullif(saved, '{}'), ${now},
      case when is_completed then ${now}::timestamptz end, ${now}
    from unnest(
      ${plain(({ stepId }) => stepId)}::uuid[],
      ${plainArray(distinct.map(() => newId(now)).sort((a, b) => (a < b ? -1 : 1)))}::uuid[],
      ${plain(({ action }) => action)}::event_action[],
      ${textArray(distinct.map(({ data }) => JSON.stringify(data)))}::jsonb[],
      ${textArray(distinct.map(({ saved }) => JSON.stringify(isAutomatic ? {} : savedTexts(saved))))}::jsonb[],
      ${plain(({ isCompleted }) => isCompleted)}::boolean[])
      as given (step_id, id, step_action, data, saved, is_completed)
    on conflict (workspace_id, event_id, step_id) do update set data = excluded.data,
      saved_attributes = coalesce(traces.saved_attributes || excluded.saved_attributes,
        traces.saved_attributes, excluded.saved_attributes),
      completed_at = coalesce(excluded.completed_at, traces.completed_at), updated_at = excluded.updated_at`.execute(
    tx,
  );
}

/** One trace for each step: with its last data, all that it saved, and completed if it was completed once. */
function lastWords(traces: readonly StepTrace[]): StepTrace[] {
  const found = new Map<string, StepTrace>();
  for (const trace of traces) {
    const before = found.get(trace.stepId);
    const isCompleted = trace.isCompleted || before?.isCompleted === true;
    const saved = [...(before?.saved ?? []), ...trace.saved];
    found.set(trace.stepId, { ...trace, isCompleted, saved });
  }
  return [...found.values()];
}

/** Where a visit stands after a request. */
export interface Progress {
  readonly journey: Journey;
  readonly end: End;
}

/** Writes how far a visit has come. A visit that has ended is no longer under way. */
export async function writeJourney(
  tx: Db,
  { workspaceId, eventId }: EventKey,
  { journey, end }: Progress,
  now: Date,
): Promise<void> {
  const { stepsReached, stepsTotal, lastStep, outcome } = journey;
  const hasEnded = end.kind !== "interaction";
  const destination = end.kind === "redirect" || end.kind === "fallback" ? end.to : "";
  // A fallback counts as a redirect, even where it leads nowhere.
  const exitAction = end.kind === "exit-page" ? end.step.action : "CLIENT_REDIRECT";
  await sql`
    update events set steps_reached = ${stepsReached}, steps_total = ${stepsTotal},
      last_step_id = coalesce(${lastStep?.id ?? null}, last_step_id),
      outcome = ${outcome}, destination = ${destination},
      destination_action = ${hasEnded ? exitAction : null}::event_action,
      ended_at = ${hasEnded ? now : null}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${eventId}`.execute(tx);
  if (end.kind === "interaction") {
    await sql`update visits set step_id = ${end.step.id}, active_at = ${now}
      where workspace_id = ${workspaceId} and event_id = ${eventId}`.execute(tx);
  } else {
    await sql`delete from visits where workspace_id = ${workspaceId} and event_id = ${eventId}`.execute(tx);
  }
}
