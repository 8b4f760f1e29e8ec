import pg from "pg";
import { failureMessage } from "../../db/describe-failure.ts";
import type { Db } from "../../db/open.ts";
import { type RawRecord, unframe } from "../spool/framed-records.ts";
import { decodeVisit } from "../spool/read-record.ts";
import { type FactsDeps, factsOf, type VisitFacts } from "./visit-facts.ts";
import { writeVisits } from "./write-visits.ts";

/** What became of a batch of records; `poison` are those that can never be stored. */
export interface Stored {
  readonly written: number;
  readonly dropped: number;
  readonly poison: readonly Poison[];
  /** When the oldest visit of the batch arrived, in milliseconds; infinite for none. */
  readonly oldestMs: number;
}

export interface Poison {
  readonly id: Uint8Array;
  /** All of its text, in UTF-8. */
  readonly bytes: Uint8Array;
  readonly reason: string;
}

const nothing = new Uint8Array();

/**
 * Stores a batch of records, each record once. Takes chunks as the spool gives them, and keeps their memory. Rejects
 * when the database is away or not as it should be; the records can be read again later.
 */
export type StoreRecords = (chunks: readonly Uint8Array<ArrayBuffer>[]) => Promise<Stored>;

type Readable = { record: RawRecord; facts: VisitFacts };
type StoreOutcome = Pick<Stored, "written" | "dropped" | "poison">;

/**
 * How many bytes of records one transaction writes: about 2,000 plain redirects. Records with traces are several times
 * as long, and what a whole batch of them leaves in memory outlives the young generation (measured: a third of the
 * thread's time went to the collector).
 */
const partBytesMax = 1024 * 1024;

export function createRecordStore(db: Db, deps: FactsDeps): StoreRecords {
  return async (chunks) => {
    const poison: Poison[] = [];
    const stored = { written: 0, dropped: 0, poison, oldestMs: Number.POSITIVE_INFINITY };
    for (const records of partsOf(chunks)) {
      const part = await storePart(db, deps, records);
      stored.written += part.written;
      stored.dropped += part.dropped;
      poison.push(...part.poison);
      stored.oldestMs = Math.min(stored.oldestMs, part.oldestMs);
    }
    return stored;
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

async function storePart(db: Db, deps: FactsDeps, records: readonly RawRecord[]): Promise<Stored> {
  const poison: Poison[] = [];
  const readable: Readable[] = [];
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const record of records) {
    try {
      const facts = factsOf(decodeVisit(record), deps);
      readable.push({ record, facts });
      oldestMs = Math.min(oldestMs, facts.visit.atMs);
    } catch (error) {
      poison.push(poisonOf(record, error));
    }
  }
  const outcome = await storeSome(db, readable);
  return { ...outcome, poison: [...poison, ...outcome.poison], oldestMs };
}

/** Halves a batch that the database refuses until each refused record stands alone. */
async function storeSome(db: Db, batch: readonly Readable[]): Promise<StoreOutcome> {
  if (batch.length === 0) return { written: 0, dropped: 0, poison: [] };
  try {
    const written = await writeVisits(
      db,
      batch.map(({ facts }) => facts),
    );
    return { ...written, poison: [] };
  } catch (error) {
    if (!isAboutData(error)) throw error;
    const [first] = batch;
    if (batch.length === 1 && first !== undefined)
      return { written: 0, dropped: 0, poison: [poisonOf(first.record, error)] };
  }
  const middle = batch.length >> 1;
  const left = await storeSome(db, batch.slice(0, middle));
  const right = await storeSome(db, batch.slice(middle));
  return {
    written: left.written + right.written,
    dropped: left.dropped + right.dropped,
    poison: [...left.poison, ...right.poison],
  };
}

/**
 * Data exceptions, broken constraints and values too long for an index are the record's fault. Other errors, such as a
 * missing column, are not; they would put every visit into quarantine.
 */
function isAboutData(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:22|23|54)/.test(error.code ?? "");
}

function poisonOf({ id, own, shared = nothing }: RawRecord, error: unknown): Poison {
  // A copy: a view would send its whole chunk along to another thread.
  const bytes = Uint8Array.from([...own, ...shared]);
  return { id: Uint8Array.from(id), bytes, reason: failureMessage(error) };
}
