import { mkdir } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { createTurns } from "../../db/turns.ts";
import { lazyReader } from "../../scan/device/request-reader.ts";
import { openSpool, type Spool } from "../../scan/spool/spool.ts";
import { startScan } from "../../scan/start.ts";
import { startStoreThread } from "../../scan/store/store-thread.ts";
import { connectionOf } from "../../server/connection.ts";
import type { Config } from "../config.ts";
import type { Parts } from "./parts.ts";

/** What visitors meet, and the end of it. */
export interface ScanRole {
  readonly handler: (req: IncomingMessage, res: ServerResponse) => void;
  close(): Promise<void>;
}

/** However many visitors are at steps, a link that is not in memory is found. */
const connectionsForPlans = 2;

/** Opens the spool of this process in `DATA_DIR`, for which no database is needed. */
export async function openScanSpool({ dataDir }: Config): Promise<Spool> {
  const directory = spoolDirectory(dataDir);
  // Records hold addresses and cookies until they are stored.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return openSpool(directory);
}

/** Serves short links; what dead processes left in `DATA_DIR` is drained too. Closes the spool in the end. */
export async function startScanRole(parts: Parts, spool: Spool): Promise<ScanRole> {
  const { config, addresses, scanDb: db, connection, keyFor, log, metrics, now, readOrigin } = parts;
  const deviceKey = Buffer.from(keyFor("devices")).toString("hex");
  const thread = startStoreThread({
    connection,
    statementTimeoutMs: config.requestTimeoutMs,
    deviceKey,
    cityDatabase: config.cityDatabase,
  });
  const scan = await startScan({
    db,
    turns: createTurns(db, { connections: config.databaseScanPoolSize - connectionsForPlans }),
    connection,
    spool,
    store: thread.store,
    reader: lazyReader(config.cityDatabase),
    deviceKey,
    passwordKey: keyFor("step-passwords"),
    sealKey: keyFor("visit-seals"),
    quarantineDirectory: spoolDirectory(config.dataDir),
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

function spoolDirectory(dataDir: string): string {
  return join(dataDir, "spool");
}
