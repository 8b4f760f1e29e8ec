import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import type { ExportOrder, WrittenFile } from "./write-export.ts";

/** What the thread starts with. */
export interface ExportThreadData {
  readonly connection: pg.ClientConfig;
  readonly order: ExportOrder;
}

export type ExportAnswer =
  | { readonly rows: number }
  | { readonly written: WrittenFile }
  | { readonly tooLarge: true }
  | { readonly error: unknown };

export interface ExportRun extends ExportThreadData {
  /** Called with the number of events written so far. */
  readonly onProgress: (rows: number) => void;
  /** Ends the thread at once. */
  readonly signal: AbortSignal;
}

/** In the bundle, this file and the program beside it are both JavaScript. */
const program = new URL(`./export-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Writes one export on a thread that lives as long as it takes: ten million events are half a minute of work, which
 * nobody's request waits for. What the thread has taken goes back with its end.
 */
export async function runExport({
  connection,
  order,
  onProgress,
  signal,
}: ExportRun): Promise<WrittenFile | "too large"> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<WrittenFile | "too large">();
  const worker = new Worker(program, {
    workerData: { connection, order } satisfies ExportThreadData,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 256 },
  });
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  worker.on("error", reject);
  worker.on("exit", () => reject(new Error("the export thread ended")));
  worker.on("message", (answer: ExportAnswer) => {
    if ("rows" in answer) onProgress(answer.rows);
    else if ("written" in answer) resolve(answer.written);
    else if ("tooLarge" in answer) resolve("too large");
    else reject(answer.error);
  });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}
