import { type Selectable, sql } from "kysely";
import type { Events } from "../../../gen/database.ts";
import { isLostRace, untilUndisturbed } from "../../db/lost-races.ts";
import { type Db, violates } from "../../db/open.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { identifyVisitor } from "../../visitors/identify.ts";
import { scoreVisit } from "../../visitors/score-visit.ts";
import type { RecordedAnswer, StepTrace } from "../spool/step-record.ts";
import { fallbackStepId } from "../spool/step-record.ts";
import { type TimedTrace, writeJourney, writeStepTraces } from "./step-writes.ts";

/** The result of writing the answers of one visit. */
export interface WrittenAnswers {
  readonly written: number;
  readonly dropped: 0;
  /** Answers whose visit or earlier answer is not stored yet, perhaps by another process. They must be given again. */
  readonly early: readonly RecordedAnswer[];
}

/** How long an answer waits for an earlier one, in milliseconds. After that, it is stored without the earlier one. */
const patienceMs = 60 * 60_000;

/**
 * Writes answers of one visit, in their order, in one transaction: the visitor's values, the traces, the journey, and
 * the score of a visit that ends. The answer with the next number moves the visit. An answer whose number is taken
 * saves its values and leaves the visit where it is. Such an answer came from another tab or an older page by another
 * process, or is written for the second time. The transaction first locks the row of the visit, for which requests of
 * the visit and other drains wait. It then takes locks in the order of `src/visitors/visitor-moves.ts`.
 */
export async function writeAnswers(
  db: Db,
  answers: readonly RecordedAnswer[],
  now: Date,
): Promise<WrittenAnswers> {
  const inOrder = answers.toSorted((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1));
  return untilUndisturbed(() => db.transaction().execute((tx) => writeOnce(tx, inOrder, now)), isRace);
}

/** Whether the transaction lost a race, or another visitor took the same e-mail at this moment. */
function isRace(error: unknown): boolean {
  return isLostRace(error) || violates(error, "visitors_email_key");
}

async function writeOnce(tx: Db, answers: readonly RecordedAnswer[], now: Date): Promise<WrittenAnswers> {
  const [first] = answers;
  if (first === undefined) return { written: 0, dropped: 0, early: [] };
  const { workspaceId, eventId } = first;
  const visit = await lockVisit(tx, first);
  if (visit === undefined) return { written: 0, dropped: 0, early: answers };
  const early: RecordedAnswer[] = [];
  const fresh: TimedTrace[] = [];
  const repeated: TimedTrace[] = [];
  let last: RecordedAnswer | undefined;
  for (const answer of answers) {
    const turn = turnOf(visit, answer, now);
    if (turn === "early") {
      early.push(answer);
      continue;
    }
    const traces = await saveAnswer(tx, visit, answer);
    (turn === "again" ? repeated : fresh).push(...traces);
    if (turn !== "next") continue;
    for (const stepId of openedBy(answer.traces)) visit.opened.add(stepId);
    visit.answers = answer.number;
    visit.outcome = answer.outcome;
    last = answer;
  }
  // The event is locked before its traces, as in the deletion of a visitor.
  if (last !== undefined) await writeJourney(tx, last, visit.opened.size);
  const options = { savesNothing: visit.is_automatic };
  await writeStepTraces(tx, first, fresh, { ...options, keepsCompleted: false });
  await writeStepTraces(tx, first, repeated, { ...options, keepsCompleted: true });
  if (last !== undefined && last.outcome !== "IN_PROGRESS")
    await scoreVisit(tx, { workspaceId, eventId }, now);
  return { written: answers.length - early.length, dropped: 0, early };
}

/** A visit while its answers are written. Each answer changes it. */
interface StoredVisit extends Pick<Selectable<Events>, "outcome" | "ended_at"> {
  readonly device_id: string;
  readonly is_automatic: boolean;
  /** How many answers the visit has taken; null when the visit has ended. */
  answers: number | null;
  outcome: Selectable<Events>["outcome"];
  /** The steps that the visit has opened, without conditions. */
  readonly opened: Set<string>;
}

async function lockVisit(
  tx: Db,
  { workspaceId, eventId, linkId }: RecordedAnswer,
): Promise<StoredVisit | undefined> {
  // The lock is a statement of its own, so that the next statement sees what the previous holder of the lock has
  // written.
  await sql`select from visits where workspace_id = ${workspaceId} and event_id = ${eventId} for no key update`.execute(
    tx,
  );
  const { rows } = await sql<
    Omit<StoredVisit, "opened"> & {
      readonly steps: readonly Pick<StepTrace, "stepId" | "action">[];
    }
  >`
    select e.device_id, e.outcome, e.ended_at, v.answers,
      coalesce(d.device_actor in ('BOT', 'AGENT'), false) as is_automatic,
      (select coalesce(jsonb_agg(jsonb_build_object('stepId', t.step_id, 'action', t.step_action)), '[]')
        from visit_traces t
        where t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_action is not null) as steps
    from events e
    left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    left join visits v on v.workspace_id = e.workspace_id and v.event_id = e.id
    where e.workspace_id = ${workspaceId} and e.id = ${eventId} and e.link_id = ${linkId}`.execute(tx);
  const [row] = rows;
  return row && { ...row, opened: new Set(openedBy(row.steps)) };
}

function openedBy(steps: readonly Pick<StepTrace, "stepId" | "action">[]): string[] {
  return steps.flatMap(({ stepId, action }) =>
    stepActions[action].kind === "CONDITION" || stepId === fallbackStepId ? [] : [stepId],
  );
}

/**
 * The place of an answer in its visit: the next one, one whose number is taken, a press on its last page, or too early.
 */
type Turn = "next" | "again" | "press" | "early";

function turnOf(visit: StoredVisit, { number, isPress, atMs }: RecordedAnswer, now: Date): Turn {
  const { outcome, answers, ended_at: endedAt } = visit;
  const hasEnded = outcome === "COMPLETED" || outcome === "FALLBACK";
  const isPatient = now.getTime() - atMs < patienceMs;
  if (isPress) return hasEnded || !isPatient ? "press" : "early";
  if (hasEnded) return "again";
  // The visit ended as abandoned after this answer was stored ("again"), or because it had not come yet ("next").
  if (outcome === "ABANDONED") return endedAt !== null && atMs <= endedAt.getTime() ? "again" : "next";
  if (answers === null || number <= answers) return "again";
  return number > answers + 1 && isPatient ? "early" : "next";
}

/** Saves the answer's values to the visitor. Returns the traces of the answer in the form that may be kept. */
async function saveAnswer(tx: Db, visit: StoredVisit, answer: RecordedAnswer): Promise<TimedTrace[]> {
  const { workspaceId, eventId, saved, atMs, traces } = answer;
  const at = new Date(atMs);
  if (saved.length > 0 && !visit.is_automatic) {
    const event = { id: eventId, deviceId: visit.device_id, mayAttach: true };
    await identifyVisitor(tx, { workspaceId, at, event, attributes: saved });
  }
  const kept = (await isSeenThere(tx, answer)) ? traces : traces.map(withoutSeen);
  return kept.map((trace) => ({ ...trace, at }));
}

/**
 * Whether the visitor whose values the conditions saw still exists. Locks this visitor until the transaction ends. A
 * deletion of the visitor also clears these values from traces, so it has to wait until the traces are written.
 */
async function isSeenThere(tx: Db, { workspaceId, seenVisitorId }: RecordedAnswer): Promise<boolean> {
  if (seenVisitorId === "") return true;
  const { rows } = await sql`select from visitors
    where workspace_id = ${workspaceId} and id = ${seenVisitorId} for key share`.execute(tx);
  return rows.length > 0;
}

function withoutSeen(trace: StepTrace): StepTrace {
  const { visitorDataCondition } = trace.data;
  if (visitorDataCondition === undefined || !("options" in visitorDataCondition)) return trace;
  const { options } = visitorDataCondition;
  if (!Array.isArray(options)) return trace;
  const unseen = options.map((option: object) => ({ ...option, observedValue: "" }));
  return { ...trace, data: { visitorDataCondition: { ...visitorDataCondition, options: unseen } } };
}
