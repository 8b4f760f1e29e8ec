import { createRetryBuffer } from "./disk-refusals.ts";
import type { RecordText } from "./framed-records.ts";
import type { Spool } from "./spool.ts";

/** Makes visits durable. */
export interface Recorder {
  /**
   * Calls `answer` exactly once: when the record is on disk, or when writing it fails or takes too long, because no
   * visitor waits for a fault of ours. Failed records stay in memory and are tried again.
   */
  record(id: Uint8Array, text: RecordText, answer: () => void): void;
  readonly counts: RecorderCounts;
  /** Tries the records in memory once more. */
  close(): Promise<void>;
}

/** How recording goes; all but `buffered` only grow. */
export interface RecorderCounts {
  recorded: number;
  /** Appends that the spool refused. */
  failed: number;
  /** Visitors who were answered before their visit was on disk. */
  late: number;
  /** Records that are only in memory at this moment. */
  buffered: number;
  /** Records that were given up because the memory was full too. */
  lost: number;
}

export interface RecorderDeps {
  readonly spool: Pick<Spool, "add" | "append">;
  readonly onTrouble: (error: unknown) => void;
  /** How long a visitor waits for the disk, in milliseconds. */
  readonly patienceMs?: number;
  readonly retryMs?: number;
  /** How many bytes of records are kept in memory at most. */
  readonly bufferBytesMax?: number;
}

/** How many times within the patience waiting visitors are looked at. */
const sweeps = 4;

export function createRecorder(deps: RecorderDeps): Recorder {
  const { spool, onTrouble, patienceMs = 1_000, retryMs = 500 } = deps;
  const { bufferBytesMax = 32 * 1024 * 1024 } = deps;
  const counts: RecorderCounts = { recorded: 0, failed: 0, late: 0, buffered: 0, lost: 0 };
  const buffer = createRetryBuffer((id, text) => spool.append(id, text), bufferBytesMax);
  // The visitors who wait, each in a place of its own that is used again, and the sweep before each came. Nothing here
  // grows or is thrown away. What lists and sets leave behind keeps requests alive long after their answer, which cost
  // more in garbage collection than the answer itself (measured on Node 24).
  const waiting: ((() => void) | undefined)[] = [];
  const since: number[] = [];
  const freePlaces: number[] = [];
  let sweepsDone = 0;

  function answerAt(place: number): void {
    const answer = waiting[place];
    waiting[place] = undefined;
    answer?.();
  }

  function keep(id: Uint8Array, text: RecordText, error: unknown): void {
    // Trouble is reported once, when its first record comes into the buffer.
    if (buffer.size() === 0) onTrouble(error);
    counts.failed += 1;
    if (!buffer.keep(id, text)) counts.lost += 1;
    counts.buffered = buffer.size();
  }

  async function retry(): Promise<void> {
    counts.recorded += await buffer.retry();
    counts.buffered = buffer.size();
  }

  function sweep(): void {
    sweepsDone += 1;
    for (let place = 0; place < waiting.length; place++) {
      if (waiting[place] === undefined || sweepsDone - (since[place] ?? 0) <= sweeps) continue;
      counts.late += 1;
      answerAt(place);
    }
  }

  let isRetrying = false;
  const timers = [
    setInterval(sweep, patienceMs / sweeps),
    setInterval(() => {
      if (isRetrying || buffer.size() === 0) return;
      isRetrying = true;
      void retry().finally(() => {
        isRetrying = false;
      });
    }, retryMs),
  ];
  for (const timer of timers) timer.unref();

  return {
    counts,
    record(id, text, answer) {
      const place = freePlaces.pop() ?? waiting.length;
      waiting[place] = answer;
      since[place] = sweepsDone;
      spool.add(id, text, (error) => {
        if (error === undefined) counts.recorded += 1;
        else keep(id, text, error);
        freePlaces.push(place);
        answerAt(place);
      });
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      await (isRetrying ? buffer.retry() : retry());
    },
  };
}
