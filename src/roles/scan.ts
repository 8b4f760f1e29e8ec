import { mkdir } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { lazyReader } from "../scan/request-reader.ts";
import { openSpool } from "../scan/spool.ts";
import { startScan } from "../scan/start.ts";
import { startStoreThread } from "../scan/store-thread.ts";
import { connectionOf } from "../server/connection.ts";
import type { Parts } from "./parts.ts";

/** What visitors meet, and the end of it. */
export interface ScanRole {
  readonly handler: (req: IncomingMessage, res: ServerResponse) => void;
  close(): Promise<void>;
}

/** Opens the spool of this process and serves short links; what dead processes left in `DATA_DIR` is drained too. */
export async function startScanRole(parts: Parts): Promise<ScanRole> {
  const { config, addresses, db, connection, keyFor, log, metrics, now, readOrigin } = parts;
  const directory = join(config.dataDir, "spool");
  // Records hold addresses and cookies until they are stored.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const spool = await openSpool(directory);
  const deviceKey = Buffer.from(keyFor("devices")).toString("hex");
  const thread = startStoreThread({
    connection,
    statementTimeoutMs: config.requestTimeoutMs,
    deviceKey,
    cityDatabase: config.cityDatabase,
  });
  const scan = await startScan({
    db,
    connection,
    spool,
    store: thread.store,
    reader: lazyReader(config.cityDatabase),
    deviceKey,
    passwordKey: keyFor("step-passwords"),
    quarantineDirectory: directory,
    shortUrl: addresses.shortUrl,
    siteUrl: addresses.baseUrl === addresses.shortUrl ? undefined : addresses.baseUrl,
    originOf: (req) => readOrigin(connectionOf(req)),
    now,
    log,
    metrics,
  });
  return {
    handler: scan.handler,
    close: async () => {
      await scan.close();
      await thread.close();
      await spool.close();
    },
  };
}
