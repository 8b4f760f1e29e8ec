import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import type { RawRecord, Stored, StoreRecords } from "./store-records.ts";

/** What the storing thread starts with. */
export interface StoreThreadData {
  readonly connection: pg.PoolConfig;
  readonly statementTimeoutMs: number;
  /** 32 bytes in hexadecimal. */
  readonly deviceKey: string;
  /** A city database in MaxMind's format. */
  readonly cityDatabase: string | undefined;
}

/** A batch, its records one after the other as `packRecords` puts them. */
export interface StoreRequest {
  readonly number: number;
  readonly packed: Uint8Array;
}

export type StoreAnswer =
  | { readonly number: number; readonly stored: Stored }
  | { readonly number: number; readonly error: Error };

export interface StoreThread {
  readonly store: StoreRecords;
  close(): Promise<void>;
}

/** Bundled beside this file, it is JavaScript as this file then is. */
const program = new URL(`./store-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Stores records in a thread of its own: reading records, classes of devices and places cost 30 µs a visit, as much as
 * a redirect, and would be taken from the visitors. A thread that ends is replaced with the next batch.
 */
export function startStoreThread(data: StoreThreadData): StoreThread {
  const unanswered = new Map<number, { resolve: (stored: Stored) => void; reject: (error: Error) => void }>();
  let worker: Worker | undefined;
  let next = 0;

  function start(): Worker {
    const started = new Worker(program, {
      workerData: data,
      // Flags of the process such as --eval are not meant for it.
      execArgv: [],
      // A batch lives as long as its transaction: it should die young all the same.
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
    const end = (error: Error) => {
      if (worker === started) worker = undefined;
      for (const { reject } of unanswered.values()) reject(error);
      unanswered.clear();
    };
    started.on("error", end);
    started.on("exit", () => end(new Error("the storing thread ended")));
    started.on("message", (answer: StoreAnswer) => {
      const asked = unanswered.get(answer.number);
      unanswered.delete(answer.number);
      if ("stored" in answer) asked?.resolve(answer.stored);
      else asked?.reject(answer.error);
    });
    return started;
  }

  return {
    store(records) {
      worker ??= start();
      const packed = packRecords(records);
      const request: StoreRequest = { number: next++, packed };
      worker.postMessage(request, [packed.buffer]);
      return new Promise((resolve, reject) => unanswered.set(request.number, { resolve, reject }));
    },
    async close() {
      await worker?.terminate();
    },
  };
}

const headerLength = 16 + 4;

/** Each record: 16 bytes of id, the length of its bytes as 32 bits little-endian, its bytes. */
export function packRecords(records: readonly RawRecord[]): Buffer<ArrayBuffer> {
  const size = records.reduce((sum, { bytes }) => sum + headerLength + bytes.length, 0);
  // Of its own memory, so that it can be handed over without a copy.
  const packed = Buffer.from(new ArrayBuffer(size));
  let offset = 0;
  for (const { id, bytes } of records) {
    packed.set(id, offset);
    packed.writeUInt32LE(bytes.length, offset + 16);
    packed.set(bytes, offset + headerLength);
    offset += headerLength + bytes.length;
  }
  return packed;
}

/** The records of a batch; they share its memory. */
export function unpackRecords(packed: Uint8Array): RawRecord[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  const records: RawRecord[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const end = offset + headerLength + bytes.readUInt32LE(offset + 16);
    records.push({
      id: bytes.subarray(offset, offset + 16),
      bytes: bytes.subarray(offset + headerLength, end),
    });
    offset = end;
  }
  return records;
}
