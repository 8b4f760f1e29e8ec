import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { startEmbedded } from "../db/embedded/embedded.ts";
import { migrate } from "../db/migrate.ts";
import { connectionConfig, type DatabaseOptions, type Db, openDatabase } from "../db/open.ts";
import { storeBuiltInTemplates } from "../jobs/built-in-templates.ts";
import type { Config } from "./config.ts";

/** The migrated database, embedded or not, by several pools: whoever fills one leaves the others as they are. */
export interface RunningDatabase {
  /** For the API. */
  readonly db: Db;
  readonly pool: pg.Pool;
  /** For visitors. */
  readonly scanDb: Db;
  /** For jobs. */
  readonly jobsDb: Db;
  /**
   * For single statements that are committed whatever becomes of the caller's transaction. Its connections are its own:
   * calls that hold all of the pool's would wait for one more forever.
   */
  readonly autonomousDb: Db;
  readonly connection: pg.ClientConfig;
  /** Closes all connections, then stops the embedded server. */
  stop(): Promise<void>;
}

const retryMs = 1_000;

/** Connections are opened with their first use, and closed when they are idle for ten seconds. */
const autonomousConnections = 2;

/** As many as there are jobs at the same time; see `startWorker`. */
const jobConnections = 2;

/**
 * Starts or connects to PostgreSQL and brings its schema up to date. Waits for a server that is away. `onLaunched` is
 * called once an embedded server's process has begun.
 */
export async function startDatabase(
  config: Config,
  log: Logger,
  now: () => Date,
  onLaunched?: () => void,
): Promise<RunningDatabase> {
  const { dataDir } = config;
  const embedded =
    config.databaseUrl === undefined ? await startEmbedded({ dataDir, log, onLaunched }) : undefined;
  const connection = embedded
    ? { host: embedded.host, port: embedded.port, user: embedded.user, database: embedded.database }
    : connectionConfig(config.databaseUrl ?? "");
  const open = (poolSize: number, more: Pick<DatabaseOptions, "idleInTransactionMs"> = {}) =>
    openDatabase({
      connection,
      poolSize,
      ...more,
      statementTimeoutMs: config.requestTimeoutMs,
      onError: (error) => log.warn({ err: error }, "a database connection broke"),
    });
  const { db, pool, close } = open(config.databasePoolSize);
  const autonomous = open(autonomousConnections);
  const scan = open(config.databaseScanPoolSize);
  // The clean-up holds its rows while it deletes their files.
  const jobs = open(jobConnections, { idleInTransactionMs: 0 });
  await whenReachable(pool, log);
  await migrate(db, pool, now());
  await storeBuiltInTemplates(db, now());
  return {
    db,
    pool,
    scanDb: scan.db,
    jobsDb: jobs.db,
    autonomousDb: autonomous.db,
    connection,
    stop: async () => {
      await Promise.all([close(), autonomous.close(), scan.close(), jobs.close()]);
      await embedded?.stop();
    },
  };
}

// The database of a machine that has just started may take longer than the service.
async function whenReachable(pool: pg.Pool, log: Logger): Promise<void> {
  for (;;) {
    try {
      await pool.query("select 1");
      return;
    } catch (error) {
      if (!isAway(error)) throw error;
      log.warn({ err: error }, "the database is away; trying again");
      await pause(retryMs);
    }
  }
}

function isAway(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  // Refused, unknown or unreachable hosts, and a server that starts up or shuts down (SQLSTATE class 57P).
  return /^(ECONNREFUSED|ECONNRESET|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|57P0[123])$/.test(code);
}
