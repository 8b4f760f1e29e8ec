import { Worker } from "node:worker_threads";
import { frame, framedLength, idLength, type RecordText } from "./framed-records.ts";
import { groupCommit } from "./group-commit.ts";

/** Records that were committed together, framed as by `frame`. */
export type Chunk = { slot: number; number: number; records: number; bytes: Uint8Array<ArrayBuffer> };

/** Whole chunks, the oldest first. */
export type Batch = {
  chunks: readonly Chunk[];
  /** In all of its chunks. */
  records: number;
  /** Whether there were more when it was read. */
  hasMore: boolean;
};

/** Requests to the disk side; each gets exactly one answer, in order. */
export type DiskRequest =
  | { kind: "append"; records: number; length: number }
  | { kind: "read"; limit: number }
  | { kind: "forget"; slot: number; numbers: number[] }
  | { kind: "adopt" }
  | { kind: "close" };

/** What the disk side starts with: `group` is the one buffer through which the bytes of an append are passed. */
export type DiskData = { directory: string; group: SharedArrayBuffer };

/** Answers of the disk side. `records` counts the records that were found or deleted. */
export type DiskAnswer =
  | { kind: "opened"; records: number }
  | { kind: "done" }
  | { kind: "chunks"; chunks: Chunk[]; hasMore: boolean }
  | { kind: "forgotten"; records: number }
  | { kind: "adopted"; records: number; unreadable: string[] }
  | { kind: "failed"; message: string };

/** The durable local buffer between visitors and the database; see `openSpool`. */
export type Spool = {
  /**
   * Resolves once the record is on disk in UTF-8 (write-ahead log synced); rejects when it could not be written, or at
   * once when 64 MiB already wait for the disk.
   */
  append(id: Uint8Array, text: RecordText): Promise<void>;
  /**
   * The oldest chunks: as many as it takes to have `limit` records, or 16 MB. Reading does not remove them: the next
   * read gives the same ones until they are forgotten.
   */
  read(limit: number): Promise<Batch>;
  /** Deletes a batch durably. The batch's bytes are not needed for it. A second call does nothing. */
  forget(batch: Pick<Batch, "chunks">): Promise<void>;
  /** Takes over what dead processes left in the same directory, and gives the number of their records. */
  adopt(): Promise<number>;
  /** Records appended or adopted and not yet forgotten. */
  depth(): number;
  /** Files of the directory that are damaged and were left alone, as of the last `adopt`. */
  unreadable(): readonly string[];
  /** Writes what is being appended, and closes the files. */
  close(): Promise<void>;
};

/**
 * Bounds the memory of appends that wait for a stalled disk. One commit takes less than that, so that several commits
 * follow a stall and not one huge one.
 */
const limits = { waitingBytesMax: 64 * 1024 * 1024, groupBytesMax: 1024 * 1024 };

/**
 * Opens the spool of this process in `directory`, which any number of processes on one machine may share (a local disk:
 * ownership is a file lock). Takes over the records of dead processes there. Appends made in the same turn of the event
 * loop, or while an earlier commit is on its way, share one commit.
 */
export async function openSpool(directory: string): Promise<Spool> {
  const disk = await startDisk(directory);
  let depth = disk.records;
  let unreadable: readonly string[] = [];
  const appends = groupCommit<Appended>(async (group) => {
    const length = frame(disk.group, group);
    await disk.ask({ kind: "append", records: group.length, length });
    depth += group.length;
  }, limits);

  async function adopt(): Promise<number> {
    const answer = await disk.ask({ kind: "adopt" });
    if (answer.kind !== "adopted") throw unexpected(answer);
    depth += answer.records;
    unreadable = answer.unreadable;
    return answer.records;
  }

  async function read(limit: number): Promise<Batch> {
    const answer = await disk.ask({ kind: "read", limit });
    if (answer.kind !== "chunks") throw unexpected(answer);
    const { chunks, hasMore } = answer;
    return { chunks, hasMore, records: chunks.reduce((sum, chunk) => sum + chunk.records, 0) };
  }

  async function forget({ chunks }: Pick<Batch, "chunks">): Promise<void> {
    for (const [slot, own] of Map.groupBy(chunks, (chunk) => chunk.slot)) {
      const answer = await disk.ask({ kind: "forget", slot, numbers: own.map(({ number }) => number) });
      if (answer.kind !== "forgotten") throw unexpected(answer);
      depth -= answer.records;
    }
  }

  await adopt();
  return {
    append(id, text) {
      const size = framedLength(text);
      if (id.length !== idLength || size > limits.groupBytesMax) {
        return Promise.reject(
          new Error(`spool: an id of ${id.length} and a record of ${size} bytes do not fit`),
        );
      }
      return appends.add({ id, text }, size);
    },
    read,
    forget,
    adopt,
    depth: () => depth,
    unreadable: () => unreadable,
    async close() {
      await appends.idle();
      await disk.close();
    },
  };
}

type Appended = { id: Uint8Array; text: RecordText };

type Disk = {
  records: number;
  group: Buffer;
  ask(request: DiskRequest): Promise<DiskAnswer>;
  close(): Promise<void>;
};

/** Starts the disk side. When its thread ends, for whatever cause, every pending and every later request rejects. */
async function startDisk(directory: string): Promise<Disk> {
  // One append is on its way at a time, so one shared buffer is enough, and no thread's collector has to clear it away.
  const group = new SharedArrayBuffer(limits.groupBytesMax);
  const worker = new Worker(new URL("./spool-worker.js", import.meta.url), {
    workerData: { directory, group } satisfies DiskData,
    // Flags of the process, such as --eval, are not meant for the thread.
    execArgv: [],
    // The thread holds a few chunks at a time. The defaults would let its heap grow to tens of megabytes before
    // collecting.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  const unanswered: { resolve: (answer: DiskAnswer) => void; reject: (error: Error) => void }[] = [];
  let ended: Error | undefined;

  function end(error: Error): void {
    ended ??= error;
    for (const { reject } of unanswered.splice(0)) reject(ended);
  }
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the spool is closed")));
  worker.on("message", (answer: DiskAnswer) => {
    const asked = unanswered.shift();
    if (answer.kind === "failed") asked?.reject(new Error(`spool: ${answer.message}`));
    else asked?.resolve(answer);
  });

  function nextAnswer(): Promise<DiskAnswer> {
    return new Promise((resolve, reject) => {
      unanswered.push({ resolve, reject });
    });
  }

  const opened = await nextAnswer();
  if (opened.kind !== "opened") throw unexpected(opened);
  return {
    records: opened.records,
    group: Buffer.from(group),
    ask(request) {
      if (ended) return Promise.reject(ended);
      worker.postMessage(request);
      return nextAnswer();
    },
    async close() {
      if (ended) return;
      worker.postMessage({ kind: "close" } satisfies DiskRequest);
      await nextAnswer();
      await worker.terminate();
    },
  };
}

function unexpected(answer: DiskAnswer): Error {
  return new Error(`spool: unexpected answer ${answer.kind}`);
}
