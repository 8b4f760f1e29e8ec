import { readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { withoutValues } from "../../db/describe-failure.ts";
import { createClassifier } from "../device/classify.ts";
import { openGeography } from "../device/geography.ts";
import { openStore, withFreshPlans } from "./open-store.ts";
import { createRecordStore } from "./store-records.ts";
import type { StoreAnswer, StoreRequest, StoreThreadData } from "./store-thread.ts";

/*
 * The storing side of the drain, on a thread of its own; see `startStoreThread`.
 */

const { connection, statementTimeoutMs, deviceKey, cityDatabase, plans }: StoreThreadData = workerData;
const port = parentPort;
if (port === null) throw new Error("store-worker runs as a worker thread");

// Visitors come first, so this thread and its server process get a lower priority. On Linux, 0 names this thread. On
// other systems it names the whole process, which must keep its priority.
const niceness = 5;
if (process.platform === "linux") setPriority(0, niceness);

const { db, pool } = openStore({ connection, statementTimeoutMs });
pool.on("connect", (client) => yieldProcessors(client));
const store = withFreshPlans(
  db,
  createRecordStore(db, {
    classify: createClassifier(),
    geography: await openGeography(cityDatabase),
    key: deviceKey,
    plans,
  }),
);

port.on("message", ({ number, chunks, now }: StoreRequest) => {
  const send = (answer: StoreAnswer) => port.postMessage(answer);
  store(chunks, now).then(
    (stored) => send({ number, stored }),
    // Values are removed here, because an error loses its class on the way to the other thread.
    (thrown: unknown) => {
      const error = withoutValues(thrown);
      send({ number, error: error instanceof Error ? error : new Error(String(error)) });
    },
  );
});

/**
 * Lowers the priority of the server process behind a connection. The server is the embedded one, or another one on this
 * machine that this process may control. Only on a Unix socket is the process number a number of this machine.
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
