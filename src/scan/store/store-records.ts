import pg from "pg";
import { failureMessage } from "../../db/describe-failure.ts";
import type { Db } from "../../db/open.ts";
import { type RawRecord, type RecordText, unframe } from "../spool/framed-records.ts";
import { decodeVisit } from "../spool/read-record.ts";
import { decodeAnswer, isAnswer, type RecordedAnswer } from "../spool/step-record.ts";
import { type FactsDeps, factsOf, type VisitFacts } from "./visit-facts.ts";
import { writeAnswers } from "./write-answers.ts";
import { writeVisits } from "./write-visits.ts";

/** What became of a batch of records; `poison` are those that can never be stored. */
export interface Stored {
  readonly written: number;
  readonly dropped: number;
  readonly poison: readonly Poison[];
  /** Answers that follow what has not been stored yet, by another process perhaps: they have to come again. */
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

/** The visit of an answer may be in the spool of a process that does not run: it is waited for so long, in milliseconds. */
const lostAfterMs = 7 * 24 * 60 * 60_000;

/**
 * Stores a batch of records, each record once. Takes chunks as the spool gives them, and keeps their memory. Rejects
 * when the database is away or not as it should be; the records can be read again later.
 */
export type StoreRecords = (chunks: readonly Uint8Array<ArrayBuffer>[], now: Date) => Promise<Stored>;

/** A record, and what was read of it. */
type Readable<Content> = { record: RawRecord; content: Content };
type StoreOutcome = Pick<Stored, "written" | "dropped" | "poison" | "early">;

/**
 * How many bytes of records one transaction writes: about 2,000 plain redirects. Records with traces are several times
 * as long, and what a whole batch of them leaves in memory outlives the young generation (measured: a third of the
 * thread's time went to the collector).
 */
const partBytesMax = 1024 * 1024;

export function createRecordStore(db: Db, deps: FactsDeps): StoreRecords {
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

/** Visits first: the answers of the same part follow them. */
async function storePart(db: Db, deps: FactsDeps, records: readonly RawRecord[], now: Date): Promise<Stored> {
  const poison: Poison[] = [];
  const visits: Readable<VisitFacts>[] = [];
  const answers: Readable<RecordedAnswer>[] = [];
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const record of records) {
    try {
      if (isAnswer(record)) answers.push({ record, content: decodeAnswer(record) });
      else visits.push({ record, content: factsOf(decodeVisit(record), deps) });
    } catch (error) {
      poison.push(poisonOf(record, error));
    }
  }
  for (const { content } of visits) oldestMs = Math.min(oldestMs, content.visit.atMs);
  for (const { content } of answers) oldestMs = Math.min(oldestMs, content.atMs);
  let outcome = await storeSome(visits, async (batch) => ({ ...(await writeVisits(db, batch)), early: [] }));
  for (const ofVisit of Map.groupBy(answers, visitOf).values())
    outcome = together(outcome, await storeAnswers(db, ofVisit, now));
  return { ...together({ ...noOutcome, poison }, outcome), oldestMs };
}

function visitOf({ content: { workspaceId, eventId } }: Readable<RecordedAnswer>): string {
  return `${workspaceId}/${eventId}`;
}

async function storeAnswers(
  db: Db,
  answers: readonly Readable<RecordedAnswer>[],
  now: Date,
): Promise<StoreOutcome> {
  return storeSome(answers, async (batch) => {
    const outcome = await writeAnswers(db, batch, now);
    const isLost = outcome.early.some(({ atMs }) => now.getTime() - atMs > lostAfterMs);
    if (isLost) throw new LostVisit("the visit of an answer has never come");
    return outcome;
  });
}

/** Some of the answers can never be stored: writing the others twice does nothing. */
class LostVisit extends Error {
  override readonly name = "LostVisit";
}

/** What became of some records, with those that came too early among them. */
type Write<Content> = (
  batch: readonly Content[],
) => Promise<Pick<StoreOutcome, "written" | "dropped"> & { readonly early: readonly Content[] }>;

/** Halves a batch that the database refuses until the records stand alone that it refuses. */
async function storeSome<Content>(
  batch: readonly Readable<Content>[],
  write: Write<Content>,
): Promise<StoreOutcome> {
  if (batch.length === 0) return noOutcome;
  try {
    const { early, ...written } = await write(batch.map(({ content }) => content));
    const isEarly = new Set(early);
    const again = batch.filter(({ content }) => isEarly.has(content)).map(({ record }) => earlyOf(record));
    return { ...written, poison: [], early: again };
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
  // Not a part of the whole chunk, which would be sent along to another thread.
  return { id: Uint8Array.from(id), text: { own: Buffer.from(own).toString(), shared: "" } };
}

/**
 * Data exceptions, broken constraints and values too long for an index are the record's fault. Other errors, such as a
 * missing column, are not; they would put every visit into quarantine.
 */
function isAboutData(error: unknown): boolean {
  if (error instanceof LostVisit) return true;
  return error instanceof pg.DatabaseError && /^(?:22|23|54)/.test(error.code ?? "");
}

function poisonOf({ id, own, shared = nothing }: RawRecord, error: unknown): Poison {
  // A copy: a view would send its whole chunk along to another thread.
  const bytes = Uint8Array.from([...own, ...shared]);
  return { id: Uint8Array.from(id), bytes, reason: failureMessage(error) };
}
