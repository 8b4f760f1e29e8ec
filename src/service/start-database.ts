import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { startEmbedded } from "../db/embedded/embedded.ts";
import { migrate } from "../db/migrate.ts";
import { connectionConfig, type DatabaseOptions, type Db, openDatabase } from "../db/open.ts";
import { storeBuiltInTemplates } from "../jobs/built-in-templates.ts";
import type { Config } from "./config.ts";

/** The migrated database, embedded or external, with several pools: exhausting one pool leaves the others free. */
export interface RunningDatabase {
  /** The pool of the API. */
  readonly db: Db;
  readonly pool: pg.Pool;
  /** The pool of visitors. */
  readonly scanDb: Db;
  /** The pool of jobs. */
  readonly jobsDb: Db;
  /**
   * For single statements that commit whatever happens to the caller's transaction. It has separate connections: calls
   * that hold all connections of the pool would wait forever for one more.
   */
  readonly autonomousDb: Db;
  readonly connection: pg.ClientConfig;
  /** Closes all connections, then stops the embedded server. */
  stop(): Promise<void>;
}

const retryMs = 1_000;

/** Connections open on first use, and close after ten idle seconds. */
const autonomousConnections = 2;

/** One connection per concurrent job; see `startWorker`. */
const jobConnections = 4;

/**
 * Starts or connects to PostgreSQL and brings its schema up to date. Waits for a server that is away. `onLaunched` is
 * called once the process of an embedded server has started.
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
  // The clean-up job holds its rows locked while it deletes their files.
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

// On a computer that has just booted, the database may start later than the service.
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
  // Hosts that are unreachable, unknown or refuse the connection, and a server that starts up or shuts down (SQLSTATE
  // class 57P).
  return /^(ECONNREFUSED|ECONNRESET|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|57P0[123])$/.test(code);
}
