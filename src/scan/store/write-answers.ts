import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import { isLostRace, untilUndisturbed } from "../../db/lost-races.ts";
import { type Db, violates } from "../../db/open.ts";
import type { PlanTable } from "../../model/plans/plan-table.ts";
import { type CompletedSteps, findListeners, queueSteps } from "../../outbox/queue-steps.ts";
import { identifyVisitor, identityNames, identityOf, lastingValues } from "../../visitors/identify.ts";
import { identifyInPlace } from "../../visitors/identify-in-place.ts";
import { shareRollUps } from "../../visitors/roll-ups.ts";
import { scoreVisits } from "../../visitors/score-visit.ts";
import { markVisits } from "../../visitors/segment-marks.ts";
import { saveVisitorAttributes } from "../../visitors/visitor-attributes.ts";
import type { RecordedAnswer, StepTrace } from "../spool/step-record.ts";
import { type AnsweredVisit, lockVisits, openedBy, type Turn, turnOf } from "./answered-visits.ts";
import { placeOf, type VisitTraces, writeJourneys, writeStepTraces } from "./step-writes.ts";

/** The result of writing answers. */
export interface WrittenAnswers {
  readonly written: number;
  readonly dropped: 0;
  /** Answers whose visit or earlier answer is not stored yet, perhaps by another process. They must be given again. */
  readonly early: readonly RecordedAnswer[];
  /** Answers of visits that must be written alone, because they may merge visitors. None when the visit was alone. */
  readonly alone: readonly RecordedAnswer[];
}

/**
 * Writes answers of any number of visits in one transaction, those of each visit in their order: the visitors' values,
 * the traces, the journeys, and the scores of visits that end. The answer with the next number moves its visit. An
 * answer whose number is taken saves its values and leaves the visit where it is. Such an answer came from another tab
 * or an older page by another process, or is written for the second time. The transaction shares the
 * roll-ups' lock, and then locks the rows of the visits, for which requests of the visits and other drains wait. It then
 * takes locks in the order of `src/visitors/visitor-moves.ts`. A transaction that merged visitors of several visits could not take its locks in
 * order, so such visits are left.
 */
export async function writeAnswers(
  db: Db,
  plans: PlanTable,
  answers: readonly RecordedAnswer[],
  now: Date,
): Promise<WrittenAnswers> {
  return untilUndisturbed(() => db.transaction().execute((tx) => writeOnce(tx, plans, answers, now)), isRace);
}

/** Whether the transaction lost a race, or another visitor took the same e-mail at this moment. */
function isRace(error: unknown): boolean {
  return isLostRace(error) || violates(error, "visitors_email_key");
}

/** An answer that is written now. */
interface Taken {
  readonly visit: AnsweredVisit;
  readonly answer: RecordedAnswer;
  readonly turn: Exclude<Turn, "early">;
}

async function writeOnce(
  tx: Db,
  plans: PlanTable,
  answers: readonly RecordedAnswer[],
  now: Date,
): Promise<WrittenAnswers> {
  const groups = byVisit(answers);
  const firstsOf = (some: typeof groups) => some.flatMap(([first]) => first ?? []);
  const identities = answers.flatMap(({ workspaceId, saved }) =>
    identityNames(workspaceId, identityOf(lastingValues(saved))),
  );
  const isAlone = groups.length === 1;
  const savers = groups.filter((group) => group.some(({ saved }) => saved.length > 0));
  await shareRollUps([...new Set(answers.map(({ workspaceId }) => workspaceId))]).execute(tx);
  const visits = await lockVisits(tx, {
    visits: firstsOf(groups),
    // `identifyVisitor` locks two visitors in the order of their ids, so it must find neither of them locked.
    savers: isAlone && identities.length > 0 ? [] : firstsOf(savers),
    identities,
  });
  const early: RecordedAnswer[] = [];
  const all: Taken[] = [];
  for (const answer of groups.flat()) {
    const visit = visits.get(placeOf(answer));
    const turn = visit === undefined ? "early" : turnOf(visit, answer, now);
    if (visit === undefined || turn === "early") {
      early.push(answer);
      continue;
    }
    all.push({ visit, answer, turn });
    if (turn === "next") move(visit, answer);
  }
  const left = await saveValues(tx, all, isAlone);
  const taken = all.filter(({ visit }) => !left.has(visit));
  // The events are locked before their traces, as in the deletion of a visitor.
  const moved = lastMoves(taken);
  await writeJourneys(
    tx,
    moved.map(({ visit, answer }) => ({ answer, stepsReached: visit.opened.size })),
  );
  await writeTraces(tx, taken);
  const sealed = new Set(taken.flatMap(({ visit }) => (visit.is_sealed ? [visit] : [])));
  await markVisits(
    tx,
    [...sealed].map(({ workspaceId, created_at: at }) => ({ workspaceId, at })),
  );
  const ended = moved.filter(({ answer }) => answer.outcome !== "IN_PROGRESS");
  await scoreVisits(
    tx,
    plans,
    ended.map(({ answer }) => answer),
    now,
  );
  await queueCompleted(tx, taken, now);
  const alone = all.filter(({ visit }) => left.has(visit)).map(({ answer }) => answer);
  return { written: taken.length, dropped: 0, early, alone };
}

/** Groups answers by visit, in the order of the visits' keys, and those of a visit by number. */
function byVisit(answers: readonly RecordedAnswer[]): RecordedAnswer[][] {
  const groups = [...Map.groupBy(answers, placeOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  return groups.map(([, group]) => group.sort((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1)));
}

function move(visit: AnsweredVisit, answer: RecordedAnswer): void {
  for (const stepId of openedBy(answer.traces)) visit.opened.add(stepId);
  visit.answers = answer.number;
  visit.outcome = answer.outcome;
}

/** The last answer that moved each visit. */
function lastMoves(taken: readonly Taken[]): Taken[] {
  const moves = taken.filter(({ turn }) => turn === "next");
  return [...new Map(moves.map((one) => [one.visit, one])).values()];
}

/**
 * Saves what answers say to the visitors. Bots and agents save nothing. Returns the visits that must be written alone,
 * of which nothing is saved.
 */
async function saveValues(
  tx: Db,
  taken: readonly Taken[],
  isAlone: boolean,
): Promise<ReadonlySet<AnsweredVisit>> {
  const saving = taken
    .filter(({ visit, answer }) => answer.saved.length > 0 && !visit.is_automatic)
    .toSorted((a, b) => a.answer.atMs - b.answer.atMs || a.answer.number - b.answer.number);
  const byVisitOf = Map.groupBy(saving, ({ visit }) => visit);
  const moving = await identifyOwn(tx, byVisitOf);
  if (isAlone) {
    for (const { visit, answer } of saving.filter((one) => moving.has(one.visit))) {
      const { workspaceId, eventId, saved, atMs } = answer;
      const event = { id: eventId, deviceId: visit.device_id, mayAttach: true };
      await identifyVisitor(tx, { workspaceId, at: new Date(atMs), event, attributes: saved });
    }
  }
  await saveVisitorAttributes(
    tx,
    saving
      .filter(({ visit }) => !moving.has(visit))
      .flatMap(({ visit, answer: { workspaceId, atMs, saved } }) =>
        saved
          .filter(({ key }) => !key.startsWith("$"))
          .map((one) => ({ ...one, workspaceId, visitorId: visit.visitor_id ?? "", atMs })),
      ),
  );
  return isAlone ? new Set() : moving;
}

/**
 * Saves the identities and names of visits whose own visitors can take them. Returns the other visits: their values may
 * belong to another visitor, or make one.
 */
async function identifyOwn(
  tx: Db,
  byVisitOf: ReadonlyMap<AnsweredVisit, readonly Taken[]>,
): Promise<ReadonlySet<AnsweredVisit>> {
  const others = new Set<AnsweredVisit>();
  const calls = [...byVisitOf].flatMap(([visit, ofVisit]) => {
    const naming = ofVisit.filter(({ answer }) => answer.saved.some(({ key }) => key.startsWith("$")));
    const [first, ...more] = naming;
    if (visit.visitor_id === null || !visit.isVisitorLocked || more.length > 0) others.add(visit);
    if (others.has(visit) || visit.visitor_id === null || first === undefined) return [];
    const { workspaceId, saved, atMs } = first.answer;
    const call = { workspaceId, visitorId: visit.visitor_id, at: new Date(atMs), attributes: saved };
    return [{ visit, call }];
  });
  const done = await identifyInPlace(
    tx,
    calls.map(({ call }) => call),
  );
  for (const { visit, call } of calls) if (!done.has(call)) others.add(visit);
  return others;
}

/** Queues messages about the steps that answers completed. Nobody is told of bots, agents and locked visits. */
async function queueCompleted(tx: Db, taken: readonly Taken[], at: Date): Promise<void> {
  const done = taken.flatMap(({ visit, answer }): CompletedSteps | [] => {
    const steps = answer.traces.filter(({ isCompleted }) => isCompleted).map(({ stepId }) => stepId);
    if (visit.is_automatic || visit.is_locked || steps.length === 0) return [];
    const { workspaceId, eventId, linkId } = answer;
    return { workspaceId, eventId, linkId, steps, stepsMax: steps.length };
  });
  if (done.length === 0) return;
  const listeners = await findListeners(tx, [...new Set(done.map(({ workspaceId }) => workspaceId))]);
  await queueSteps(tx, done, { listenersOf: (workspaceId) => listeners.get(workspaceId) ?? [], at });
}

async function writeTraces(tx: Db, taken: readonly Taken[]): Promise<void> {
  const seen = await seenVisitors(
    tx,
    taken.map(({ answer }) => answer),
  );
  const tracesOf = (one: Taken): VisitTraces["traces"] => {
    const { workspaceId, seenVisitorId, traces, atMs } = one.answer;
    const isSeen = seenVisitorId === "" || seen.has(`${workspaceId}/${seenVisitorId}`);
    return (isSeen ? traces : traces.map(withoutSeen)).map((trace) => ({ ...trace, at: new Date(atMs) }));
  };
  const byVisitOf = (some: readonly Taken[]): VisitTraces[] =>
    [...Map.groupBy(some, ({ visit }) => visit)].map(([visit, ofVisit]) => ({
      workspaceId: visit.workspaceId,
      eventId: visit.eventId,
      savesNothing: visit.is_automatic,
      traces: ofVisit.flatMap(tracesOf),
    }));
  const isRepeated = ({ turn }: Taken) => turn === "again";
  await writeStepTraces(tx, byVisitOf(taken.filter((one) => !isRepeated(one))), { keepsCompleted: false });
  await writeStepTraces(tx, byVisitOf(taken.filter(isRepeated)), { keepsCompleted: true });
}

/**
 * The visitors whose values conditions saw and who still exist, with their workspaces. Locks these visitors until the
 * transaction ends. A deletion of such a visitor also clears these values from traces, so it has to wait until the
 * traces are written.
 */
async function seenVisitors(tx: Db, answers: readonly RecordedAnswer[]): Promise<ReadonlySet<string>> {
  const seen = answers.filter(({ seenVisitorId }) => seenVisitorId !== "");
  if (seen.length === 0) return new Set();
  const { rows } = await sql<{ visitor: string }>`
    select v.workspace_id || '/' || v.id as visitor from visitors v
    where (v.workspace_id, v.id) in (select * from unnest(
      ${plainArray(seen.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(seen.map(({ seenVisitorId }) => seenVisitorId))}::uuid[]))
    order by v.workspace_id, v.id for key share`.execute(tx);
  return new Set(rows.map(({ visitor }) => visitor));
}

function withoutSeen(trace: StepTrace): StepTrace {
  const { visitorDataCondition } = trace.data;
  if (visitorDataCondition === undefined || !("options" in visitorDataCondition)) return trace;
  const { options } = visitorDataCondition;
  if (!Array.isArray(options)) return trace;
  const unseen = options.map((option: object) => ({ ...option, observedValue: "" }));
  return { ...trace, data: { visitorDataCondition: { ...visitorDataCondition, options: unseen } } };
}
