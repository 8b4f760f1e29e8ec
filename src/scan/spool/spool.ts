import { Worker } from "node:worker_threads";
import { framedLength, idLength, type RecordText } from "./framed-records.ts";
import { type Committed, type GroupCommit, groupCommit } from "./group-commit.ts";
import { createHandover, type Handover } from "./handover.js";

/** Records that were committed together, framed as by `frameInto`. */
export type Chunk = { slot: number; number: number; records: number; bytes: Uint8Array<ArrayBuffer> };

/** Whole chunks, the oldest first. */
export type Batch = {
  chunks: readonly Chunk[];
  /** In all of its chunks. */
  records: number;
  /** Whether there were more when it was read. */
  hasMore: boolean;
};

/**
 * Requests to the disk side; each gets exactly one answer, in order. Only "commit", which wakes it, gets none: each group
 * that it takes is answered by "committed" or "refused".
 */
export type DiskRequest =
  | { kind: "commit" }
  | { kind: "read"; limit: number }
  | { kind: "forget"; slot: number; numbers: number[] }
  | { kind: "adopt" }
  | { kind: "close" };

/** What the disk side starts with. */
export type DiskData = { directory: string; handover: Handover };

/** Answers of the disk side. `records` counts the records that were found or deleted. */
export type DiskAnswer =
  | { kind: "opened"; records: number }
  | { kind: "committed" }
  | { kind: "refused"; message: string }
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
  /** The same as `append`, without a promise: visitors wait for it. */
  add(id: Uint8Array, text: RecordText, done: Committed): void;
  /**
   * The oldest chunks: as many as it takes to have `limit` records, or 16 MB. Reading does not remove them: the next
   * read gives the same ones until they are forgotten.
   */
  read(limit: number): Promise<Batch>;
  /** Deletes a batch durably. The batch's bytes are not needed for it. A second call does nothing. */
  forget(batch: Pick<Batch, "chunks">): Promise<void>;
  /** Takes over what dead processes left in the same directory, and gives the number of their records. */
  adopt(): Promise<number>;
  /** Records on disk, appended or adopted, that are not yet forgotten. */
  depth(): number;
  /** Records that are not yet on disk. While the disk stalls, their visitors may have been answered. */
  pending(): number;
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
  const disk = await startDisk(directory, (records) => {
    depth += records;
  });
  let depth = disk.records;
  let unreadable: readonly string[] = [];
  const add: Spool["add"] = (id, text, done) => {
    const size = framedLength(text);
    if (id.length === idLength && size <= limits.groupBytesMax) disk.add(id, text, size, done);
    else done(new Error(`spool: an id of ${id.length} and a record of ${size} bytes do not fit`));
  };

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
    add,
    append(id, text) {
      return new Promise((resolve, reject) => {
        add(id, text, (error) => (error === undefined ? resolve() : reject(error)));
      });
    },
    read,
    forget,
    adopt,
    depth: () => depth,
    pending: disk.pending,
    unreadable: () => unreadable,
    async close() {
      await disk.close();
    },
  };
}

type Disk = Pick<GroupCommit, "add" | "pending"> & {
  records: number;
  ask(request: DiskRequest): Promise<DiskAnswer>;
  close(): Promise<void>;
};

/**
 * Starts the disk side, and tells of each commit how many records it holds. When its thread ends, for whatever cause,
 * every pending and every later request rejects.
 */
async function startDisk(directory: string, onCommit: (records: number) => void): Promise<Disk> {
  const handover = createHandover(limits.groupBytesMax);
  const worker = new Worker(new URL("./spool-worker.js", import.meta.url), {
    workerData: { directory, handover } satisfies DiskData,
    // Flags of the process, such as --eval, are not meant for the thread.
    execArgv: [],
    // The thread holds a few chunks at a time. The defaults would let its heap grow to tens of megabytes before
    // collecting.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  const post = (request: DiskRequest) => worker.postMessage(request);
  const commits = groupCommit(handover, () => post({ kind: "commit" }), limits);
  const unanswered: { resolve: (answer: DiskAnswer) => void; reject: (error: Error) => void }[] = [];
  let ended: Error | undefined;

  function end(error: Error): void {
    if (ended !== undefined) return;
    ended = error;
    for (const { reject } of unanswered.splice(0)) reject(error);
    commits.endAll(error);
  }
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the spool is closed")));
  worker.on("message", (answer: DiskAnswer) => {
    if (answer.kind === "committed") commits.end(undefined, onCommit);
    else if (answer.kind === "refused") commits.end(new Error(`spool: ${answer.message}`));
    else {
      const asked = unanswered.shift();
      if (answer.kind === "failed") asked?.reject(new Error(`spool: ${answer.message}`));
      else asked?.resolve(answer);
    }
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
    pending: commits.pending,
    add(id, text, size, done) {
      if (ended) done(ended);
      else commits.add(id, text, size, done);
    },
    ask(request) {
      if (ended) return Promise.reject(ended);
      post(request);
      return nextAnswer();
    },
    async close() {
      await commits.idle();
      if (ended) return;
      post({ kind: "close" });
      await nextAnswer();
      await worker.terminate();
    },
  };
}

function unexpected(answer: DiskAnswer): Error {
  return new Error(`spool: unexpected answer ${answer.kind}`);
}
