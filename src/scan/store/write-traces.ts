import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { fallbackStepId } from "../../model/workflow/workflow.ts";
import type { CompletedSteps } from "../../outbox/queue-steps.ts";
import type { SavedAtStep } from "../spool/read-record.ts";
import type { ResolvedVisit } from "./resolved-visit.ts";
import { savedTexts } from "./step-writes.ts";
import type { VisitFacts } from "./visit-facts.ts";

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
  if (traces.length === 0) return;
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

/**
 * Adds the traces of a visit, in order: that it came, what it was shown or asked on its way, and where it was sent.
 * Leaves out those that the event tells.
 */
function addTraces(
  traces: Trace[],
  texts: Map<string, number>,
  index: number,
  resolved: ResolvedVisit,
): void {
  const { visitType, facts } = resolved;
  const { visit } = facts;
  const saved = savedOn(resolved);
  const told = toldByEvent(visit, saved);
  let place = 0;
  const numberOf = (text: string): number => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, texts.size);
    return texts.size - 1;
  };
  const savedAt = savedByStep(saved);
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
  if (told.entryStepId !== "") place += 1;
  else if (entryStepId !== "") {
    const accessedAt = new Date(atMs).toISOString();
    const entryAccess = { accessedAt, action, entrypoint, httpMethod: "GET", visitType };
    add(entryStepId, "LINK_VISIT", JSON.stringify({ entryAccess }), true);
  }
  for (const step of opened) add(step.id, step.action, step.data, step.isCompleted);
  if (told.exitTracking !== "" || !isSentOn(visit)) return;
  const { outcome, destination, conversionTracking, lastStepId } = visit;
  const fallback = outcome === "FALLBACK";
  const data = JSON.stringify({ redirect: { destination, conversionTracking, fallback } });
  add(fallback ? fallbackStepId : lastStepId, "CLIENT_REDIRECT", data, true);
}

/** Whether the first request of a visit was answered with a redirect. */
function isSentOn({ outcome, lastStepAction }: VisitFacts["visit"]): boolean {
  return outcome === "FALLBACK" || (outcome === "COMPLETED" && lastStepAction === "CLIENT_REDIRECT");
}

/** What an event says in place of traces; see the view `visit_traces`. Empty where a trace has a row, or is missing. */
export interface ToldByEvent {
  readonly entryStepId: string;
  readonly exitTracking: boolean | "";
}

/** An event tells the traces of the entry and of the redirect, unless those steps saved something. */
export function toldByEvent(visit: VisitFacts["visit"], saved: readonly SavedAtStep[]): ToldByEvent {
  const { entryStepId, lastStepId, outcome, conversionTracking } = visit;
  const savesAt = (id: string) => saved.some(({ stepId }) => stepId === id);
  const isExitTold = isSentOn(visit) && (outcome === "FALLBACK" || !savesAt(lastStepId));
  return {
    entryStepId: savesAt(entryStepId) ? "" : entryStepId,
    exitTracking: isExitTold ? conversionTracking : "",
  };
}

/** What the first request of a visit completed, for those who are told of steps. */
export function completedAtFirst({ facts: { visit } }: ResolvedVisit): CompletedSteps {
  const { workspaceId, linkId, id, opened } = visit;
  // Beside the steps on the way there are the entry and perhaps a redirect.
  return { workspaceId, linkId, eventId: id, steps: "first", stepsMax: opened.length + 2 };
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
