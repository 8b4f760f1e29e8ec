import { failureMessage } from "../../db/describe-failure.ts";
import { type Db, isAboutData } from "../../db/open.ts";
import { defaultPlans, type PlanTable } from "../../model/plans/plan-table.ts";
import { attachPending } from "../../visitors/pending-identify.ts";
import { type RawRecord, type RecordText, unframe } from "../spool/framed-records.ts";
import { decodeVisit } from "../spool/read-record.ts";
import { decodeReport, isReport, type RecordedReport } from "../spool/report-record.ts";
import { decodeAnswer, isAnswer, type RecordedAnswer } from "../spool/step-record.ts";
import { findVisits, type Readable } from "./find-visits.ts";
import { type FactsDeps, factsOf, type VisitFacts } from "./visit-facts.ts";
import { writeAnswers } from "./write-answers.ts";
import { writeReports } from "./write-reports.ts";
import { type VisitStore, writeVisits } from "./write-visits.ts";

/** The result of storing a batch of records. `poison` holds the records that can never be stored. */
export interface Stored {
  readonly written: number;
  readonly dropped: number;
  readonly poison: readonly Poison[];
  /** Answers whose visit or earlier answer is not stored yet, perhaps by another process. They must be given again. */
  readonly early: readonly EarlyRecord[];
  /** When the oldest visit of the batch arrived, in milliseconds; infinite for none. */
  readonly oldestMs: number;
}

export interface Poison {
  readonly id: Uint8Array;
  /** All of its text, in UTF-8. */
  readonly bytes: Uint8Array;
  readonly reason: string;
}

/** A record as the spool takes it. */
export interface EarlyRecord {
  readonly id: Uint8Array;
  readonly text: RecordText;
}

const nothing = new Uint8Array();

/**
 * How long an answer waits for its visit, in milliseconds. The visit may lie in the spool of a process that is stopped.
 */
const lostAfterMs = 7 * 24 * 60 * 60_000;

/**
 * Stores a batch of records, each record once. Takes chunks as the spool gives them, and keeps their memory. Rejects
 * when the database is away or not as it should be; the records can be read again later.
 */
export type StoreRecords = (chunks: readonly Uint8Array<ArrayBuffer>[], now: Date) => Promise<Stored>;

/**
 * How long an answer waits for a visit of a sandbox, in milliseconds. After that the visit counts as one beyond the
 * sandbox's cap, which is not recorded.
 */
const unrecordedAfterMs = 10 * 60_000;

/**
 * How long it waits, in milliseconds, when the sandbox has reached its cap. Only a visit that is not counted can still
 * come then, from the spool of another process.
 */
const beyondCapAfterMs = 5_000;

type StoreOutcome = Pick<Stored, "written" | "dropped" | "poison" | "early">;

/**
 * How many bytes of records one transaction writes: about 2,000 plain redirects. Records with traces are several times
 * as long, and what a whole batch of them leaves in memory outlives the young generation (measured: a third of the
 * thread's time went to the collector).
 */
const partBytesMax = 1024 * 1024;

export interface StoreDeps extends FactsDeps {
  /** The plans that limit visits; the defaults when absent. */
  readonly plans?: PlanTable;
}

export function createRecordStore(db: Db, deps: StoreDeps): StoreRecords {
  return async (chunks, now) => {
    let outcome: StoreOutcome = noOutcome;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const records of partsOf(chunks)) {
      const part = await storePart(db, deps, records, now);
      outcome = together(outcome, part);
      oldestMs = Math.min(oldestMs, part.oldestMs);
    }
    return { ...outcome, oldestMs };
  };
}

const noOutcome: StoreOutcome = { written: 0, dropped: 0, poison: [], early: [] };

function together(one: StoreOutcome, other: StoreOutcome): StoreOutcome {
  return {
    written: one.written + other.written,
    dropped: one.dropped + other.dropped,
    poison: [...one.poison, ...other.poison],
    early: [...one.early, ...other.early],
  };
}

function* partsOf(chunks: Parameters<StoreRecords>[0]): Generator<RawRecord[]> {
  let part: RawRecord[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    for (const record of unframe(chunk)) {
      const length = record.own.length + (record.shared?.length ?? 0);
      if (bytes + length > partBytesMax && part.length > 0) {
        yield part;
        part = [];
        bytes = 0;
      }
      part.push(record);
      bytes += length;
    }
  }
  if (part.length > 0) yield part;
}

/** Stores the visits of a part first, because the part's answers may belong to them. */
async function storePart(db: Db, deps: StoreDeps, records: readonly RawRecord[], now: Date): Promise<Stored> {
  const poison: Poison[] = [];
  const visits: Readable<VisitFacts>[] = [];
  const answers: Readable<RecordedAnswer>[] = [];
  const reports: Readable<RecordedReport>[] = [];
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const record of records) {
    try {
      if (isAnswer(record)) answers.push({ record, content: decodeAnswer(record) });
      else if (isReport(record)) reports.push({ record, content: decodeReport(record) });
      else visits.push({ record, content: factsOf(decodeVisit(record), deps) });
    } catch (error) {
      poison.push(poisonOf(record, error));
    }
  }
  for (const { content } of visits) oldestMs = Math.min(oldestMs, content.visit.atMs);
  for (const { content } of answers) oldestMs = Math.min(oldestMs, content.atMs);
  const { plans = defaultPlans } = deps;
  let outcome = await storeSome(visits, async (batch) => ({
    ...(await writeVisits({ db, plans, now }, batch)),
    early: [],
  }));
  const keys = visits.map(({ content: { visit } }) => ({
    workspaceId: visit.workspaceId,
    eventId: visit.id,
  }));
  if (keys.length > 0) await attachPending(db, keys);
  if (answers.length > 0) outcome = together(outcome, await storeAnswers({ db, plans, now }, answers));
  outcome = together(outcome, await storeSome(reports, (batch) => writeReports(db, batch, now)));
  return { ...together({ ...noOutcome, poison }, outcome), oldestMs };
}

/** Stores answers, after one statement has found out which of their visits are stored. */
async function storeAnswers(
  to: VisitStore,
  answers: readonly Readable<RecordedAnswer>[],
): Promise<StoreOutcome> {
  const { db, now } = to;
  const { stored, absent, sandboxed, beyondCap, dropped } = await findVisits(db, answers);
  let outcome: StoreOutcome = { ...noOutcome, dropped: dropped.length };
  for (const { record, content } of absent) {
    const isLost = now.getTime() - content.atMs > lostAfterMs;
    outcome = together(outcome, {
      ...noOutcome,
      ...(isLost
        ? { poison: [poisonOf(record, new Error("the visit of an answer has never come"))] }
        : { early: [earlyOf(record)] }),
    });
  }
  outcome = together(outcome, waitOrDrop(sandboxed, new Date(now.getTime() - unrecordedAfterMs)));
  outcome = together(outcome, waitOrDrop(beyondCap, new Date(now.getTime() - beyondCapAfterMs)));
  for (let start = 0; start < stored.length; start += answeredMax)
    outcome = together(outcome, await storeAnswered(to, stored.slice(start, start + answeredMax)));
  return outcome;
}

/** Drops the answers that came before a moment. The others wait. */
function waitOrDrop(answers: readonly Readable<RecordedAnswer>[], moment: Date): StoreOutcome {
  const waiting = answers.filter(({ content }) => content.atMs >= moment.getTime());
  return {
    ...noOutcome,
    dropped: answers.length - waiting.length,
    early: waiting.map(({ record }) => earlyOf(record)),
  };
}

/** How many visits one transaction writes answers of, at most. Requests of these visits wait for it. */
const answeredMax = 200;

/** Stores answers of several visits together, and then those of each visit that must be written alone. */
async function storeAnswered(
  { db, plans, now }: VisitStore,
  byVisit: readonly Readable<RecordedAnswer>[][],
): Promise<StoreOutcome> {
  const left = new Set<RecordedAnswer>();
  const write = async (some: readonly RecordedAnswer[]) => {
    const { alone, ...written } = await writeAnswers(db, plans, some, now);
    for (const answer of alone) left.add(answer);
    return written;
  };
  let outcome = await storeSome(byVisit.flat(), write);
  for (const ofVisit of byVisit) {
    const alone = ofVisit.filter(({ content }) => left.has(content));
    outcome = together(outcome, await storeSome(alone, write));
  }
  return outcome;
}

/** Writes some records. Returns what became of them, with the answers that came too early. */
type Write<Content> = (
  batch: readonly Content[],
) => Promise<Pick<StoreOutcome, "written" | "dropped"> & { readonly early: readonly Content[] }>;

/** Halves a batch that the database refuses, until each refused record stands alone. */
async function storeSome<Content>(
  batch: readonly Readable<Content>[],
  write: Write<Content>,
): Promise<StoreOutcome> {
  if (batch.length === 0) return noOutcome;
  try {
    const { early, ...written } = await write(batch.map(({ content }) => content));
    const isEarly = new Set(early);
    const again = isEarly.size === 0 ? [] : batch.filter(({ content }) => isEarly.has(content));
    return { ...written, poison: [], early: again.map(({ record }) => earlyOf(record)) };
  } catch (error) {
    if (!isAboutData(error)) throw error;
    const [first] = batch;
    if (batch.length === 1 && first !== undefined)
      return { ...noOutcome, poison: [poisonOf(first.record, error)] };
  }
  const middle = batch.length >> 1;
  const left = await storeSome(batch.slice(0, middle), write);
  return together(left, await storeSome(batch.slice(middle), write));
}

function earlyOf({ id, own }: RawRecord): EarlyRecord {
  // Copies: views would send their whole chunk along to another thread.
  return { id: Uint8Array.from(id), text: { own: Buffer.from(own).toString(), shared: "" } };
}

function poisonOf({ id, own, shared = nothing }: RawRecord, error: unknown): Poison {
  // A copy: a view would send its whole chunk along to another thread.
  const bytes = Uint8Array.from([...own, ...shared]);
  return { id: Uint8Array.from(id), bytes, reason: failureMessage(error) };
}
