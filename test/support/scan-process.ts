import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { Registry } from "prom-client";
import { openDatabase } from "../../src/db/open.ts";
import { createTurns } from "../../src/db/turns.ts";
import { createOriginReader } from "../../src/lib/client-address.ts";
import { defaultPlans } from "../../src/model/plans/plan-table.ts";
import { lazyReader } from "../../src/scan/device/request-reader.ts";
import { openSpool } from "../../src/scan/spool/spool.ts";
import { startScan } from "../../src/scan/start.ts";
import { startStoreThread } from "../../src/scan/store/store-thread.ts";

/*
 * The scan runtime as a separate process, which tests and benchmarks start, kill and start again: `node scan-process.ts
 * '{"connection":{…},"directory":"…"}'` prints its port as soon as it serves.
 */

interface Options {
  readonly connection: { readonly host: string; readonly port: number; readonly database: string };
  readonly directory: string;
}

const { connection, directory }: Options = JSON.parse(process.argv[2] ?? "{}");
const log = pino({ level: process.env.LOG_LEVEL ?? "silent" }, process.stderr);
const database = openDatabase({ connection, poolSize: 3, statementTimeoutMs: 30_000, onError: () => {} });
const spool = await openSpool(directory);
const deviceKey = "01".repeat(32);
const thread = startStoreThread({
  connection,
  statementTimeoutMs: 30_000,
  deviceKey,
  cityDatabase: undefined,
  plans: defaultPlans,
});
const originOf = createOriginReader(["127.0.0.1"]);
const metrics = new Registry();
const scan = await startScan({
  db: database.db,
  turns: createTurns(database.db, { connections: 2 }),
  connection,
  spool,
  store: thread.store,
  reader: lazyReader(undefined),
  deviceKey,
  passwordKey: Buffer.from(deviceKey, "hex"),
  sealKey: Buffer.from(deviceKey, "hex"),
  quarantineDirectory: directory,
  shortUrl: "http://localhost",
  baseUrl: "http://localhost",
  terms: defaultPlans,
  siteUrl: undefined,
  originOf: (req) =>
    originOf({
      peer: req.socket.remoteAddress,
      encrypted: false,
      host: "localhost",
      forwardedFor: String(req.headers["x-forwarded-for"] ?? "") || undefined,
    }),
  now: () => new Date(),
  log,
  metrics,
});

const server = createServer((req, res) => {
  if (req.url === "/metrics.txt") void metrics.metrics().then((text) => res.end(text));
  else if (req.url === "/memory.txt")
    res.end(JSON.stringify({ ...process.memoryUsage(), cpu: process.cpuUsage() }));
  else scan.handler(req, res);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo; // a TCP server's address is an AddressInfo
process.stdout.write(`${port}\n`);

process.on("SIGTERM", async () => {
  server.close();
  server.closeIdleConnections();
  await scan.close();
  await thread.close();
  await spool.close();
  await database.close();
  process.exit(0);
});
