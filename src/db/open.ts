import { once } from "node:events";
import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import type { DB } from "../../gen/database.ts";
import { sendNames } from "./prepared.ts";

/** The database or a transaction on it: the first parameter of every query. */
export type Db = Kysely<DB>;

export interface OpenDatabase {
  readonly db: Db;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** How to connect: a URL, or the settings of the embedded server. */
  readonly connection: string | pg.ConnectionConfig;
  readonly poolSize: number;
  /** A statement that runs longer is cancelled, in milliseconds. */
  readonly statementTimeoutMs: number;
  /**
   * A transaction in which no statement runs for this long is rolled back, in milliseconds: 5,000 when absent, 0 for
   * never.
   */
  readonly idleInTransactionMs?: number;
  /** Called for connections that broke while idle; the pool replaces them. */
  readonly onError: (error: Error) => void;
}

/** How long closing connections may take, in milliseconds. */
const closeMsMax = 1_000;

/** Opens a pool; connects on first use, so that a service starts while its database is away. */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const pool = new pg.Pool({
    ...connectionConfig(options.connection),
    max: options.poolSize,
    statement_timeout: options.statementTimeoutMs,
    // Nothing should wait in a transaction; a bug that does so loses its connection and locks after this time.
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? 5_000,
    connectionTimeoutMillis: 5_000,
    types: typeParsers,
  });
  pool.on("error", options.onError);
  // A connection that breaks while in use reports it here; without a listener the error would end the process.
  pool.on("connect", (client) => client.on("error", options.onError));
  const connections = new Set<pg.PoolClient>();
  pool.on("connect", (client) => connections.add(client));
  pool.on("connect", sendNames);
  pool.on("remove", (client) => connections.delete(client));
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    pool,
    close: async () => {
      await db.destroy();
      // The pool reports its end before its connections have ended; a server that stops in between would see broken
      // connections.
      const deadline = AbortSignal.timeout(closeMsMax);
      while (connections.size > 0 && !deadline.aborted)
        await once(pool, "remove", { signal: deadline }).catch(() => {});
    },
  };
}

/** The same connection settings for clients outside of the pool: LISTEN, jobs. */
export function connectionConfig(connection: string | pg.ConnectionConfig): pg.ConnectionConfig {
  return typeof connection === "string" ? { connectionString: connection } : connection;
}

/** Runs in the open transaction, or in a new one. */
export function inTransaction<T>(db: Db, run: (tx: Transaction<DB>) => Promise<T>): Promise<T> {
  return db.isTransaction ? run(db as Transaction<DB>) : db.transaction().execute(run);
}

/** True when the statement broke the named constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

// Counters are bigint in messages; a JavaScript number would lose digits past 2^53.
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: string) {
    if (oid === pg.types.builtins.INT8) return BigInt;
    return pg.types.getTypeParser(oid, format as "text");
  },
};

/**
 * Whether what was to be stored is at fault: data exceptions, broken constraints and values too long for an index. Other
 * errors, such as a missing column, would refuse all else as well.
 */
export function isAboutData(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(?:22|23|54)/.test(error.code ?? "");
}
