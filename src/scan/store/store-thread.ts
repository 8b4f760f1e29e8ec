import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import type { PlanTable } from "../../model/plans/plan-table.ts";
import type { Stored, StoreRecords } from "./store-records.ts";

/** What the storing thread starts with. */
export interface StoreThreadData {
  readonly connection: pg.PoolConfig;
  readonly statementTimeoutMs: number;
  /** 32 bytes in hexadecimal. */
  readonly deviceKey: string;
  /** A city database in MaxMind's format. */
  readonly cityDatabase: string | undefined;
  readonly plans: PlanTable;
}

/** A batch as the spool gives it. */
export interface StoreRequest {
  readonly number: number;
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
  readonly now: Date;
}

export type StoreAnswer =
  | { readonly number: number; readonly stored: Stored }
  | { readonly number: number; readonly error: Error };

export interface StoreThread {
  readonly store: StoreRecords;
  close(): Promise<void>;
}

/** In the bundle, this file and the program beside it are both JavaScript. */
const program = new URL(`./store-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Stores records in a thread of its own: reading records and finding classes of devices and places takes 30 µs a visit,
 * as much as a redirect, which visitors would wait for. A thread that ends is replaced with the next batch.
 */
export function startStoreThread(data: StoreThreadData): StoreThread {
  const unanswered = new Map<number, { resolve: (stored: Stored) => void; reject: (error: Error) => void }>();
  let worker: Worker | undefined;
  let next = 0;

  function start(): Worker {
    const started = new Worker(program, {
      workerData: data,
      // Flags of the process, such as --eval, are not meant for the thread.
      execArgv: [],
      // A batch lives as long as its transaction, and must fit into the young generation for that long.
      // The old generation holds 16 MB, and the limit only says how much garbage may gather beside them.
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1_024 },
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
    store(chunks, now) {
      worker ??= start();
      const request: StoreRequest = { number: next++, chunks, now };
      // The buffers move to the thread without a copy. The caller loses them.
      const buffers = chunks.map(({ buffer }) => buffer);
      worker.postMessage(request, buffers);
      return new Promise((resolve, reject) => unanswered.set(request.number, { resolve, reject }));
    },
    async close() {
      await worker?.terminate();
    },
  };
}
