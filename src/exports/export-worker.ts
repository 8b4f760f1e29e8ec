import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { withoutValues } from "../db/describe-failure.ts";
import type { ExportAnswer, ExportThreadData } from "./export-thread.ts";
import { FileTooLargeError, writeExport } from "./write-export.ts";

/*
 * Writes one export, on a thread of its own; see `runExport`.
 */

const { connection, order }: ExportThreadData = workerData;
const port = parentPort;
if (port === null) throw new Error("export-worker runs as a worker thread");
const answer = (message: ExportAnswer) => port.postMessage(message);

// Visitors and calls come first. On Linux, 0 names this thread; elsewhere it names the whole process.
if (process.platform === "linux") setPriority(0, 10);

const client = new pg.Client({ ...connection, statement_timeout: 60_000 });
// A lost connection also fails the statement that was running.
client.on("error", () => {});
try {
  await client.connect();
  answer({ written: await writeExport(client, order, (rows) => answer({ rows })) });
} catch (error) {
  if (error instanceof FileTooLargeError) answer({ tooLarge: true });
  else answer({ error: withoutValues(error) });
} finally {
  await client.end().catch(() => {});
}
