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

/** What became of the answers of a visit. */
export interface WrittenAnswers {
  readonly written: number;
  readonly dropped: 0;
  /** What they follow has not been stored yet, by another process perhaps: they have to come again. */
  readonly early: readonly RecordedAnswer[];
}

/** An answer waits so long for one before it, in milliseconds. Afterwards it is stored without. */
const patienceMs = 60 * 60_000;

/**
 * Writes answers of one visit, in their order, in one transaction: what they save to the visitor, traces, journey, and the
 * score of a visit that ends. The next answer moves the visit. One whose place was taken, from another tab or an older page
 * by way of another process, and one that is written for the second time, saves what it says, and leaves the visit where it
 * is. Requests of one visit and other drains wait for the row of the visit; locks are taken in the order of
 * `src/visitors/visitor-moves.ts`, after that.
 */
export async function writeAnswers(
  db: Db,
  answers: readonly RecordedAnswer[],
  now: Date,
): Promise<WrittenAnswers> {
  const inOrder = answers.toSorted((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1));
  return untilUndisturbed(() => db.transaction().execute((tx) => writeOnce(tx, inOrder, now)), isRace);
}

/** A lost race, or somebody else who became known by the same e-mail in this moment. */
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
  // The event first, then its traces, like whoever deletes a visitor.
  if (last !== undefined) await writeJourney(tx, last, visit.opened.size);
  const options = { savesNothing: visit.is_automatic };
  await writeStepTraces(tx, first, fresh, { ...options, keepsCompleted: false });
  await writeStepTraces(tx, first, repeated, { ...options, keepsCompleted: true });
  if (last !== undefined && last.outcome !== "IN_PROGRESS")
    await scoreVisit(tx, { workspaceId, eventId }, now);
  return { written: answers.length - early.length, dropped: 0, early };
}

/** A visit as it is written; it goes on with each answer. */
interface StoredVisit extends Pick<Selectable<Events>, "outcome" | "ended_at"> {
  readonly device_id: string;
  readonly is_automatic: boolean;
  /** How many it has taken; unknown of visits that have ended. */
  answers: number | null;
  outcome: Selectable<Events>["outcome"];
  /** The steps that it has opened, conditions not counted. */
  readonly opened: Set<string>;
}

async function lockVisit(
  tx: Db,
  { workspaceId, eventId, linkId }: RecordedAnswer,
): Promise<StoredVisit | undefined> {
  // Who waits for a lock must see what its holder has written: the lock comes first, in a statement of its own.
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
        from traces t where t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_action is not null) as steps
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

/** What an answer is to the visit: the next one, one whose place was taken, a press on its last page, or too early. */
type Turn = "next" | "again" | "press" | "early";

function turnOf(visit: StoredVisit, { number, isPress, atMs }: RecordedAnswer, now: Date): Turn {
  const { outcome, answers, ended_at: endedAt } = visit;
  const hasEnded = outcome === "COMPLETED" || outcome === "FALLBACK";
  const isPatient = now.getTime() - atMs < patienceMs;
  if (isPress) return hasEnded || !isPatient ? "press" : "early";
  if (hasEnded) return "again";
  // Given up for abandoned after this answer was stored, or because it had not come yet.
  if (outcome === "ABANDONED") return endedAt !== null && atMs <= endedAt.getTime() ? "again" : "next";
  if (answers === null || number <= answers) return "again";
  return number > answers + 1 && isPatient ? "early" : "next";
}

/** Saves what an answer says to the visitor. Gives its traces, as they may be kept. */
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
 * Whether the visitor is still there whose values conditions have seen. What traces tell of somebody goes with them, so nobody
 * may delete them from here on until it is written.
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
