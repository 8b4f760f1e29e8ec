import { Worker } from "node:worker_threads";
import { groupCommit } from "./group-commit.ts";

/** One record as it was appended; `id` has 16 bytes and `bytes` is whatever the writer gave. */
export type SpooledRecord = { id: Uint8Array; bytes: Uint8Array; place: Position };

/** Where a record lies; opaque to everyone but the spool. */
type Position = { chunk: OpenChunk; index: number };
type OpenChunk = { slot: number; number: number; records: number; gone: Set<number> };

/** What the disk side hands back: records that were committed together, framed as by `frame`. */
export type Chunk = { slot: number; number: number; records: number; bytes: Uint8Array<ArrayBuffer> };

/** Requests to the disk side; each gets exactly one answer, in order. */
export type Request =
  | { kind: "append"; records: number; length: number }
  | { kind: "read"; limit: number }
  | { kind: "forget"; slot: number; numbers: number[] }
  | { kind: "adopt" }
  | { kind: "close" };

/** What the disk side starts with: `group` is the one buffer through which the bytes of an append are passed. */
export type DiskData = { directory: string; group: SharedArrayBuffer };

/** Answers of the disk side. */
export type Answer =
  | { kind: "opened"; records: number }
  | { kind: "done" }
  | { kind: "chunks"; chunks: Chunk[] }
  | { kind: "adopted"; records: number; unreadable: string[] }
  | { kind: "failed"; message: string };

/** The durable local buffer between visitors and the database; see `openSpool`. */
export type Spool = {
  /**
   * Resolves once the record is on disk (write-ahead log synced); rejects when it could not be written, or at once
   * when 64 MiB already wait for the disk. `bytes` must not change before that.
   */
  append(id: Uint8Array, bytes: Uint8Array): Promise<void>;
  /**
   * The oldest records, sorted by id: at least `limit` of them when so many are there, at most one group commit more.
   * Reading does not take them away: until they are forgotten, the next read gives the same ones.
   */
  read(limit: number): Promise<SpooledRecord[]>;
  /** Drop records given by `read`, durably. Records of one group commit leave the disk when the last of them does. */
  forget(records: readonly SpooledRecord[]): Promise<void>;
  /** Take over what processes that died left in the same directory; the number of records found. */
  adopt(): Promise<number>;
  /** Records appended or adopted and not yet forgotten. */
  depth(): number;
  /** Files of the directory that are damaged and were left alone, as of the last `adopt`. */
  unreadable(): readonly string[];
  /** Flush what is being appended and let go of the files. */
  close(): Promise<void>;
};

/**
 * Bounds the memory held by appends that wait for a stalled disk. One commit takes less than that,
 * so that a stall is followed by several commits and not by one huge one.
 */
const limits = { waitingBytesMax: 64 * 1024 * 1024, groupBytesMax: 1024 * 1024 };
const idLength = 16;
const headerLength = idLength + 4;

/**
 * Open the spool of this process in `directory`, which any number of processes on one machine may share (a local disk:
 * ownership is a file lock). Records of dead processes found there are taken over. Appends made in the same turn of the
 * event loop, or while an earlier commit is on its way, share one commit.
 */
export async function openSpool(directory: string): Promise<Spool> {
  const disk = await startDisk(directory);
  const open = new Map<string, OpenChunk>();
  let depth = disk.records;
  let unreadable: readonly string[] = [];
  const appends = groupCommit<Appended>(async (group, size) => {
    frame(group, disk.group);
    await disk.ask({ kind: "append", records: group.length, length: size });
    depth += group.length;
  }, limits);

  async function adopt(): Promise<number> {
    const answer = await disk.ask({ kind: "adopt" });
    if (answer.kind !== "adopted") throw unexpected(answer);
    depth += answer.records;
    unreadable = answer.unreadable;
    return answer.records;
  }

  async function read(limit: number): Promise<SpooledRecord[]> {
    const answer = await disk.ask({ kind: "read", limit });
    if (answer.kind !== "chunks") throw unexpected(answer);
    const records = answer.chunks.flatMap((chunk) => unframe(chunk, openChunk(open, chunk)));
    return records.sort((a, b) => Buffer.compare(a.id, b.id));
  }

  async function forget(records: readonly SpooledRecord[]): Promise<void> {
    const fresh = records.filter(({ place }) => !place.chunk.gone.has(place.index));
    for (const { place } of fresh) place.chunk.gone.add(place.index);
    const finished = new Set(
      fresh.map(({ place }) => place.chunk).filter((chunk) => chunk.gone.size === chunk.records),
    );
    try {
      await forgetChunks(disk, [...finished]);
    } catch (error) {
      // They are still on disk, so they must be read again.
      for (const { place } of fresh) place.chunk.gone.delete(place.index);
      throw error;
    }
    for (const chunk of finished) open.delete(keyOf(chunk));
    depth -= fresh.length;
  }

  await adopt();
  return {
    append(id, bytes) {
      const size = headerLength + bytes.length;
      if (id.length !== idLength || size > limits.groupBytesMax) {
        return Promise.reject(
          new Error(`spool: an id of ${id.length} and a record of ${bytes.length} bytes do not fit`),
        );
      }
      return appends.add({ id, bytes }, size);
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

type Appended = { id: Uint8Array; bytes: Uint8Array };

/** Each record: 16 bytes of id, the length of its bytes as 32 bits little-endian, its bytes. */
function frame(group: Appended[], into: Buffer): void {
  let offset = 0;
  for (const { id, bytes } of group) {
    into.set(id, offset);
    into.writeUInt32LE(bytes.length, offset + idLength);
    into.set(bytes, offset + headerLength);
    offset += headerLength + bytes.length;
  }
}

/** The records of a chunk that are not forgotten; they share the chunk's memory. */
function unframe(chunk: Chunk, open: OpenChunk): SpooledRecord[] {
  const framed = Buffer.from(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.length);
  const records: SpooledRecord[] = [];
  let offset = 0;
  for (let index = 0; index < chunk.records; index++) {
    const start = offset + headerLength;
    const end = start + framed.readUInt32LE(offset + idLength);
    if (!open.gone.has(index)) {
      const id = framed.subarray(offset, offset + idLength);
      records.push({ id, bytes: framed.subarray(start, end), place: { chunk: open, index } });
    }
    offset = end;
  }
  return records;
}

/** The state of a chunk, the same for every read of it. */
function openChunk(open: Map<string, OpenChunk>, { slot, number, records }: Chunk): OpenChunk {
  const key = keyOf({ slot, number });
  const known = open.get(key);
  if (known) return known;
  const chunk: OpenChunk = { slot, number, records, gone: new Set() };
  open.set(key, chunk);
  return chunk;
}

function keyOf({ slot, number }: { slot: number; number: number }): string {
  return `${slot}/${number}`;
}

async function forgetChunks(disk: Disk, chunks: OpenChunk[]): Promise<void> {
  const bySlot = Map.groupBy(chunks, (chunk) => chunk.slot);
  for (const [slot, finished] of bySlot) {
    await disk.ask({ kind: "forget", slot, numbers: finished.map((chunk) => chunk.number) });
  }
}

type Disk = {
  records: number;
  group: Buffer;
  ask(request: Request): Promise<Answer>;
  close(): Promise<void>;
};

/** Start the disk side. When its thread ends, whatever the cause, everything unanswered and everything later rejects. */
async function startDisk(directory: string): Promise<Disk> {
  // One append is on its way at a time, so one shared buffer is enough, and nothing is left for either collector.
  const group = new SharedArrayBuffer(limits.groupBytesMax);
  const worker = new Worker(new URL("./spool-worker.js", import.meta.url), {
    workerData: { directory, group } satisfies DiskData,
    // Flags of the process such as --eval are not meant for it.
    execArgv: [],
    // It holds a few chunks at a time; the defaults would let its heap grow to tens of megabytes before collecting.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
  const unanswered: { resolve: (answer: Answer) => void; reject: (error: Error) => void }[] = [];
  let ended: Error | undefined;

  function end(error: Error): void {
    ended ??= error;
    for (const { reject } of unanswered.splice(0)) reject(ended);
  }
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the spool is closed")));
  worker.on("message", (answer: Answer) => {
    const asked = unanswered.shift();
    if (answer.kind === "failed") asked?.reject(new Error(`spool: ${answer.message}`));
    else asked?.resolve(answer);
  });

  function nextAnswer(): Promise<Answer> {
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
      worker.postMessage({ kind: "close" } satisfies Request);
      await nextAnswer();
      await worker.terminate();
    },
  };
}

function unexpected(answer: Answer): Error {
  return new Error(`spool: unexpected answer ${answer.kind}`);
}
