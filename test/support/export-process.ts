import type pg from "pg";
import { pino } from "pino";
import { openDatabase } from "../../src/db/open.ts";
import { exportEventsJob } from "../../src/jobs/exports/export-events.ts";
import { startJobs } from "../../src/jobs/runner.ts";
import { openStorage } from "../../src/lib/storage/open-storage.ts";

/*
 * The worker that writes exports, as a separate process, which tests kill: `node export-process.ts '{"connection":{…}}'`.
 */

interface Given {
  readonly connection: pg.ConnectionConfig;
  /** Where finished and unfinished files go. */
  readonly directory: string;
  readonly folder: string;
}

const { connection, directory, folder }: Given = JSON.parse(process.argv[2] ?? "{}");
const { db } = openDatabase({ connection, poolSize: 2, statementTimeoutMs: 30_000, onError: () => {} });
const log = pino({ level: "silent" });
const storage = await openStorage({ directory });
const now = () => new Date();

startJobs({
  connection,
  tasks: {
    "export-events": exportEventsJob({
      db,
      storage,
      now,
      log,
      countExport: () => {},
      connection,
      folder,
      portionRows: 64,
    }),
  },
  concurrency: 1,
  stopTimeoutMs: 1_000,
  recoveryIntervalMs: 200,
  log,
});
