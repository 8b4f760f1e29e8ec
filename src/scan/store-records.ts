import pg from "pg";
import type { Db } from "../db/open.ts";
import { decodeVisit } from "./read-record.ts";
import { type FactsDeps, factsOf, type VisitFacts } from "./visit-facts.ts";
import { writeVisits } from "./write-visits.ts";

/** A record as the spool gives it. */
export interface RawRecord {
  readonly id: Uint8Array;
  readonly bytes: Uint8Array;
}

/** What became of a batch of records; `poison` are those that can never be stored, by their place in the batch. */
export interface Stored {
  readonly written: number;
  readonly dropped: number;
  readonly poison: readonly { readonly index: number; readonly reason: string }[];
  /** When the oldest visit of the batch arrived, in milliseconds; infinite for none. */
  readonly oldestMs: number;
}

/** Stores a batch of records, each once. Rejects when the database is away or not as it should be: try again later. */
export type StoreRecords = (records: readonly RawRecord[]) => Promise<Stored>;

type Readable = { index: number; facts: VisitFacts };
type Outcome = Pick<Stored, "written" | "dropped" | "poison">;

/**
 * So much is read and written at a time, by one transaction: 2,000 plain redirects. Records with traces are several times as
 * long, and what a whole batch of them leaves in memory outlives the young generation (measured: a third of the thread's
 * time went to the collector).
 */
const partBytesMax = 1024 * 1024;

export function createRecordStore(db: Db, deps: FactsDeps): StoreRecords {
  return async (records) => {
    const poison: { index: number; reason: string }[] = [];
    const stored = { written: 0, dropped: 0, poison, oldestMs: Number.POSITIVE_INFINITY };
    for (let start = 0; start < records.length; ) {
      const end = endOfPart(records, start);
      const part = await storePart(db, deps, records.slice(start, end));
      stored.written += part.written;
      stored.dropped += part.dropped;
      for (const { index, reason } of part.poison) poison.push({ index: start + index, reason });
      stored.oldestMs = Math.min(stored.oldestMs, part.oldestMs);
      start = end;
    }
    return stored;
  };
}

function endOfPart(records: readonly RawRecord[], start: number): number {
  let bytes = 0;
  let end = start;
  for (; end < records.length; end++) {
    bytes += records[end]?.bytes.length ?? 0;
    if (bytes > partBytesMax && end > start) break;
  }
  return end;
}

async function storePart(db: Db, deps: FactsDeps, records: readonly RawRecord[]): Promise<Stored> {
  const poison: { index: number; reason: string }[] = [];
  const readable: Readable[] = [];
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const [index, { id, bytes }] of records.entries()) {
    try {
      const facts = factsOf(decodeVisit(id, bytes), deps);
      readable.push({ index, facts });
      oldestMs = Math.min(oldestMs, facts.visit.atMs);
    } catch (error) {
      poison.push({ index, reason: messageOf(error) });
    }
  }
  const outcome = await storeSome(db, readable);
  return { ...outcome, poison: [...poison, ...outcome.poison], oldestMs };
}

/** Halves a batch that the database refuses until the records stand alone that it refuses. */
async function storeSome(db: Db, batch: readonly Readable[]): Promise<Outcome> {
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
      return { written: 0, dropped: 0, poison: [{ index: first.index, reason: messageOf(error) }] };
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
 * Data exceptions, broken constraints and values too long for an index are the record's fault. Anything else, a missing
 * column among it, is not, and would put every visit into quarantine.
 */
function isAboutData(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:22|23|54)/.test(error.code ?? "");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
