import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { withoutValues } from "../../db/describe-failure.ts";
import { openDatabase } from "../../db/open.ts";
import { createClassifier } from "../device/classify.ts";
import { openGeography } from "../device/geography.ts";
import { createRecordStore } from "./store-records.ts";
import type { StoreAnswer, StoreRequest, StoreThreadData } from "./store-thread.ts";

/*
 * The storing side of the drain, on a thread of its own; see `startStoreThread`.
 */

const { connection, statementTimeoutMs, deviceKey, cityDatabase }: StoreThreadData = workerData;
const port = parentPort;
if (port === null) throw new Error("store-worker runs as a worker thread");

// Visitors come first, in this thread and at the other end of the connection. Linux has priorities of threads.
// Elsewhere 0 means the process, which must keep its own.
const niceness = 5;
if (process.platform === "linux") setPriority(0, niceness);

const { db, pool } = openDatabase({ connection, poolSize: 1, statementTimeoutMs, onError: () => {} });
pool.on("connect", (client) => yieldProcessors(client));
const store = createRecordStore(db, {
  classify: createClassifier(),
  geography: await openGeography(cityDatabase),
  key: deviceKey,
});

port.on("message", ({ number, chunks }: StoreRequest) => {
  const send = (answer: StoreAnswer) => port.postMessage(answer);
  store(chunks).then(
    (stored) => send({ number, stored }),
    // Values are removed here, because an error loses its class on the way to the other thread.
    (thrown: unknown) => {
      const error = withoutValues(thrown);
      send({ number, error: error instanceof Error ? error : new Error(String(error)) });
    },
  );
});

/**
 * Lowers the priority of the server's process behind a connection: of the embedded server, or of another one on this
 * machine that this process may rule. Only on a socket is its number one of this machine.
 */
function yieldProcessors(client: object): void {
  const host = typeof connection.host === "string" ? connection.host : "";
  const pid = "processID" in client ? client.processID : undefined;
  if (process.platform !== "linux" || !host.startsWith("/") || typeof pid !== "number") return;
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("postgres: ")) setPriority(pid, niceness);
  } catch {
    // The server belongs to somebody else, or runs in another container.
  }
}
