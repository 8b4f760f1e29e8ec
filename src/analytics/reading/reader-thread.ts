import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import pg from "pg";
import { fail } from "../../lib/errors.ts";
import type { Kind, QuestionOf } from "../question.ts";
import { NotSealed } from "./read-state.ts";
import type { Read } from "./reader.ts";

/** What the reading thread starts with. */
export interface ReaderThreadData {
  readonly connection: pg.ConnectionConfig;
  /** How much it keeps in memory, in bytes: columns of segments, and once more what it knows of workspaces. */
  readonly cacheBytes: number;
  /** A question or a statement that takes longer is given up, in milliseconds. */
  readonly timeoutMs: number;
  /** How many visits of a workspace it reads from events at most. */
  readonly openMax: number;
}

export interface ReaderRequest {
  readonly number: number;
  readonly kind: Kind;
  readonly question: QuestionOf<Kind>;
  readonly nowMs: number;
  readonly maxAgeMs: number;
}

/** Why a question has no answer. Errors lose their class and their fields on the way to another thread. */
export type ReaderFailure =
  | { readonly cause: "not-sealed" | "timeout" }
  | { readonly cause: "database"; readonly message: string; readonly code: string | undefined }
  | {
      readonly cause: "other";
      readonly error: Error;
      readonly code: string | undefined;
      readonly syscall: string | undefined;
    };

export type ReaderAnswer =
  | { readonly number: number; readonly read: Read<Kind> }
  | { readonly number: number; readonly failure: ReaderFailure }
  /** Something that was mended, and that an operator should know. */
  | { readonly fault: string };

export interface ReaderThread {
  /** Throws `NotSealed` where too much is in no segment yet. */
  ask<K extends Kind>(
    kind: K,
    question: QuestionOf<K>,
    terms: Pick<ReaderRequest, "nowMs" | "maxAgeMs">,
  ): Promise<Read<K>>;
  close(): Promise<void>;
}

/** In the bundle, this file and the program beside it are both JavaScript. */
const program = new URL(`./reader-worker${extname(import.meta.url)}`, import.meta.url);

interface Pending {
  readonly resolve: (read: Read<Kind>) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
}

/**
 * Reads in a thread of its own, which begins with the first question: going through millions of visits would hold up every
 * other call. A thread that ends is replaced with the next question.
 */
export function startReaderThread(data: ReaderThreadData, onFault: (fault: string) => void): ReaderThread {
  let running: Running | undefined;
  let next = 0;

  function start(): Running {
    // Questions of the thread itself: one that has failed ends later, while the next one already answers.
    const pending = new Map<number, Pending>();
    const started = new Worker(program, {
      workerData: data,
      // Flags of the process, such as --eval, are not meant for the thread.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 768 },
    });
    const end = (error?: Error) => {
      if (running?.worker === started) running = undefined;
      for (const { reject } of pending.values()) reject(ended(error));
      pending.clear();
    };
    started.on("error", (error: Error) => {
      onFault(`the reading thread failed: ${error.message}`);
      end(error);
    });
    started.on("exit", () => end());
    started.on("message", (answer: ReaderAnswer) => {
      if ("fault" in answer) return onFault(answer.fault);
      const asked = pending.get(answer.number);
      pending.delete(answer.number);
      if (pending.size === 0) started.unref();
      if ("read" in answer) asked?.resolve(answer.read);
      else asked?.reject(toError(answer.failure));
    });
    return { worker: started, pending };
  }

  return {
    ask<K extends Kind>(kind: K, question: QuestionOf<K>, terms: Pick<ReaderRequest, "nowMs" | "maxAgeMs">) {
      running ??= start();
      const { worker, pending } = running;
      const request: ReaderRequest = { number: next++, kind, question, ...terms };
      worker.ref();
      worker.postMessage(request);
      return new Promise<Read<K>>((resolve, reject) => {
        // The thread answers the kind that it was asked.
        pending.set(request.number, { resolve: resolve as Pending["resolve"], reject });
      });
    },
    async close() {
      await running?.worker.terminate();
    },
  };
}

function ended(cause: Error | undefined): Error {
  const message = "the analytics have begun again; try again in a second";
  return fail("UNAVAILABLE", "UNAVAILABLE", message, { retryAfterSeconds: 1, cause });
}

function toError(failure: ReaderFailure): Error {
  switch (failure.cause) {
    case "not-sealed":
      return new NotSealed("too many visits are in no segment");
    case "timeout":
      return fail("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", "the call took too long");
    case "database": {
      const { message, code } = failure;
      return Object.assign(
        new pg.DatabaseError(message, message.length, "error"),
        code !== undefined && { code },
      );
    }
    case "other": {
      const { error, code, syscall } = failure;
      return Object.assign(error, code !== undefined && { code }, syscall !== undefined && { syscall });
    }
  }
}
