import { mkdir } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { createTurns } from "../../db/turns.ts";
import { openSpool, type Spool } from "../../scan/spool/spool.ts";
import { startScan } from "../../scan/start.ts";
import { connectionOf } from "../../server/connection.ts";
import type { Config } from "../config.ts";
import type { Parts } from "./parts.ts";

/** The part of the service that visitors reach, and how to stop it. */
export interface ScanRole {
  readonly handler: (req: IncomingMessage, res: ServerResponse) => void;
  close(): Promise<void>;
}

/** Connections kept for looking up links that are not in memory; visitors at steps cannot use them up. */
const connectionsForPlans = 2;

/** Opens the spool of this process in `DATA_DIR`; it needs no database. */
export async function openScanSpool({ dataDir }: Config): Promise<Spool> {
  const directory = spoolDirectory(dataDir);
  // The folder is private, because records hold addresses and cookies until they are stored.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return openSpool(directory);
}

/**
 * Serves short links. It also drains the spools that dead processes left in `DATA_DIR`. Closing it closes the spool.
 */
export async function startScanRole(parts: Parts, spool: Spool): Promise<ScanRole> {
  const { config, addresses, scanDb: db, connection, keyFor, log, metrics, now, readOrigin } = parts;
  const deviceKey = Buffer.from(keyFor("devices")).toString("hex");
  const scan = await startScan({
    db,
    turns: createTurns(db, { connections: config.databaseScanPoolSize - connectionsForPlans }),
    connection,
    spool,
    store: parts.storing().store,
    reader: parts.reader,
    deviceKey,
    passwordKey: keyFor("step-passwords"),
    sealKey: keyFor("visit-seals"),
    quarantineDirectory: spoolDirectory(config.dataDir),
    shortUrl: addresses.shortUrl,
    baseUrl: addresses.baseUrl,
    terms: config.plans,
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
      await spool.close();
    },
  };
}

function spoolDirectory(dataDir: string): string {
  return join(dataDir, "spool");
}
