import type { Spool } from "../spool/spool.ts";
import type { Quarantine } from "./quarantine.ts";
import type { StoreRecords } from "./store-records.ts";

/** Moves visits from the spool to the database for as long as the process lives. */
export interface Drain {
  readonly counts: DrainCounts;
  /** Resolves with true when the spool has been seen empty, or with false when that took longer than `timeoutMs`. */
  flush(timeoutMs: number): Promise<boolean>;
  /**
   * Resolves with true when everything that the spool holds now has been stored, at once when it holds nothing.
   * Resolves with false when that takes longer than `timeoutMs`, and at once when the last batch failed. Does not wait
   * for visits that come meanwhile.
   */
  catchUp(timeoutMs: number): Promise<boolean>;
  /** Ends after the batch that is on its way. */
  close(): Promise<void>;
}

/** How draining goes; all but `lagMs` only grow. */
export interface DrainCounts {
  drained: number;
  dropped: number;
  quarantined: number;
  /** Batches that failed and will be tried again. */
  failures: number;
  /** How long the oldest visit of the last batch had waited, in milliseconds. */
  lagMs: number;
}

export interface DrainDeps {
  readonly spool: Pick<Spool, "append" | "read" | "forget" | "depth" | "pending" | "adopt">;
  readonly store: StoreRecords;
  readonly quarantine: Quarantine;
  readonly now: () => Date;
  /** Whether visitors have kept the process busy since this was asked last. */
  readonly isBusy: () => boolean;
  readonly onTrouble: (error: unknown) => void;
  readonly onPoison: (reason: string) => void;
  /** About how many records are read at a time, 2,000 by default. */
  readonly batchSize?: number;
  /**
   * How long visits gather before a batch is begun, and how often the spools of dead processes are looked for, in ms.
   */
  readonly gatherMs?: number;
  readonly adoptMs?: number;
}

/** Ends the wait of a caller. `isDone` says whether the records that the caller waited for are stored. */
type Waiter = (isDone: boolean) => void;

const backOffMs = { first: 100, last: 5_000 };

/** The pause after a batch in which every answer has to wait for another process, in milliseconds. */
const earlyMs = 500;

interface Moved {
  /** Whether more than one batch was waiting. */
  readonly hasMore: boolean;
  /** Whether every record of the batch has to come again. */
  readonly isEarly: boolean;
}

const nothingMoved: Moved = { hasMore: false, isEarly: false };

async function moveBatch(deps: DrainDeps, batchSize: number, counts: DrainCounts): Promise<Moved> {
  const { spool, store, quarantine, now, onPoison } = deps;
  if (spool.depth() === 0) return nothingMoved;
  const batch = await spool.read(batchSize);
  if (batch.records === 0) return nothingMoved;
  const chunks = batch.chunks.map(({ bytes }) => bytes);
  const { written, dropped, poison, early, oldestMs } = await store(chunks, now());
  for (const one of poison) {
    await quarantine(one, now());
    onPoison(one.reason);
  }
  // Early answers go to the end of the spool before the batch is forgotten. After a crash in between, they come twice.
  await Promise.all(early.map(({ id, text }) => spool.append(id, text)));
  await spool.forget(batch);
  counts.drained += written;
  counts.dropped += dropped;
  counts.quarantined += poison.length;
  counts.lagMs = Number.isFinite(oldestMs) ? Math.max(0, now().getTime() - oldestMs) : 0;
  return { hasMore: batch.hasMore, isEarly: early.length > 0 && early.length === batch.records };
}

/** Starts draining. */
export function startDrain(deps: DrainDeps): Drain {
  const { spool, now, isBusy, onTrouble } = deps;
  const { batchSize = 2_000, gatherMs = 100, adoptMs = 10_000 } = deps;
  const counts: DrainCounts = { drained: 0, dropped: 0, quarantined: 0, failures: 0, lagMs: 0 };
  const flushed = new Set<Waiter>();
  const caughtUp = new Set<Waiter>();
  let isClosed = false;
  let wake = () => {};
  let adoptedAtMs = now().getTime();

  function pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function adoptSometimes(): Promise<void> {
    const nowMs = now().getTime();
    if (Math.abs(nowMs - adoptedAtMs) < adoptMs) return;
    adoptedAtMs = nowMs;
    await spool.adopt();
  }

  // How long to wait after the last failure, in milliseconds; 0 while all goes well.
  let wait = 0;

  async function run(): Promise<void> {
    while (!isClosed) {
      try {
        await adoptSometimes();
        const startedMs = now().getTime();
        const asked = [...caughtUp];
        const { hasMore, isEarly } = await moveBatch(deps, batchSize, counts);
        // Without more, the batch held everything that was in the spool when it was read.
        if (!hasMore) for (const end of asked) end(true);
        const tookMs = Math.max(0, now().getTime() - startedMs);
        wait = 0;
        if (spool.depth() === 0) {
          counts.lagMs = 0;
          if (spool.pending() === 0) for (const end of flushed) end(true);
        }
        const hurries = isClosed || ((flushed.size > 0 || caughtUp.size > 0) && spool.depth() > 0);
        // Visitors come before the spool. While they need the processors, the drain works a third of the time.
        if (isEarly) await pause(earlyMs);
        else if (!hurries && (!hasMore || isBusy())) await pause(hasMore ? 2 * tookMs : gatherMs);
      } catch (error) {
        counts.failures += 1;
        if (wait === 0) onTrouble(error);
        // The database is away, so all waits end.
        for (const end of [...caughtUp]) end(false);
        wait = Math.min(wait === 0 ? backOffMs.first : wait * 2, backOffMs.last);
        if (!isClosed) await pause(wait);
      }
    }
  }

  function waitFor(waiting: Set<Waiter>, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end: Waiter = (isDone) => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve(isDone);
      };
      const timer = setTimeout(end, timeoutMs, false);
      waiting.add(end);
      wake();
    });
  }

  const running = run();
  return {
    counts,
    flush: (timeoutMs) => waitFor(flushed, timeoutMs),
    async catchUp(timeoutMs) {
      if (spool.depth() === 0) return true;
      return wait === 0 && waitFor(caughtUp, timeoutMs);
    },
    async close() {
      isClosed = true;
      wake();
      await running;
    },
  };
}
