import { setImmediate as othersTurn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { failureMessage } from "../../db/describe-failure.ts";
import { openDatabase } from "../../db/open.ts";
import { createColumnStore } from "./column-store.ts";
import { NotSealed } from "./read-state.ts";
import { readAnswer, TookTooLong } from "./reader.ts";
import type { ReaderAnswer, ReaderFailure, ReaderRequest, ReaderThreadData } from "./reader-thread.ts";
import { createSpanReader } from "./spans.ts";
import { createMemories } from "./workspace-memory.ts";

/*
 * The reading side of the analytics, on a thread of its own; see `startReaderThread`.
 */

/** Questions that read at the same time share so many connections. */
const poolSize = 4;

const { connection, cacheBytes, timeoutMs, openMax }: ReaderThreadData = workerData;
const port = parentPort;
if (port === null) throw new Error("reader-worker runs as a worker thread");

const send = (answer: ReaderAnswer) => port.postMessage(answer);
const { pool } = openDatabase({ connection, poolSize, statementTimeoutMs: timeoutMs, onError: () => {} });
const columns = createColumnStore(pool, cacheBytes);
const deps = {
  pool,
  columns,
  memoryOf: createMemories(pool, cacheBytes, openMax),
  spans: createSpanReader(pool, columns, () => othersTurn()),
  onFault: (fault: string) => send({ fault }),
};

port.on("message", ({ number, kind, question, nowMs, maxAgeMs }: ReaderRequest) => {
  const askedAt = performance.now();
  const terms = { now: () => nowMs + performance.now() - askedAt, maxAgeMs, timeoutMs };
  // The question is one of its kind.
  readAnswer(deps, kind, question as never, terms).then(
    (read) => send({ number, read }),
    (error: unknown) => send({ number, failure: describe(error) }),
  );
});

function describe(error: unknown): ReaderFailure {
  if (error instanceof NotSealed) return { cause: "not-sealed" };
  if (error instanceof TookTooLong) return { cause: "timeout" };
  if (error instanceof pg.DatabaseError)
    return { cause: "database", message: failureMessage(error), code: error.code };
  const own = error instanceof Error ? error : new Error(String(error));
  const text = (field: string) => {
    const value: unknown = Reflect.get(own, field);
    return typeof value === "string" ? value : undefined;
  };
  return { cause: "other", error: own, code: text("code"), syscall: text("syscall") };
}
