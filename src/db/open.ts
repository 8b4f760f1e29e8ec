import { once } from "node:events";
import { Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import type { DB } from "../../gen/database.ts";

/** The database or a transaction on it: what every query takes first. */
export type Db = Kysely<DB>;

export interface OpenDatabase {
  readonly db: Db;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** How to connect: a URL, or the parts that the embedded server gives. */
  readonly connection: string | pg.ConnectionConfig;
  /** Connections kept at most. */
  readonly poolSize: number;
  /** A statement that runs longer is cancelled, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** A transaction that no statement runs in for so long is undone, in milliseconds: 5,000 when absent, 0 for never. */
  readonly idleInTransactionMs?: number;
  /** Told of connections that broke while idle; the pool replaces them. */
  readonly onError: (error: Error) => void;
}

/** How long connections may take to end, in milliseconds. */
const closeMsMax = 1_000;

/** Opens a pool; connects on first use, so that a service starts while its database is away. */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const pool = new pg.Pool({
    ...connectionConfig(options.connection),
    max: options.poolSize,
    statement_timeout: options.statementTimeoutMs,
    // Nothing waits in a transaction; what does is a bug, and holds connection and locks no longer than this.
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? 5_000,
    connectionTimeoutMillis: 5_000,
    types: typeParsers,
  });
  pool.on("error", options.onError);
  // A connection that breaks while a client holds it reports there, and unheard errors end the process.
  pool.on("connect", (client) => client.on("error", options.onError));
  const connections = new Set<pg.PoolClient>();
  pool.on("connect", (client) => connections.add(client));
  pool.on("remove", (client) => connections.delete(client));
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    pool,
    close: async () => {
      await db.destroy();
      // The pool says that it has ended before its connections have, and a server that stops then takes them for broken.
      const deadline = AbortSignal.timeout(closeMsMax);
      while (connections.size > 0 && !deadline.aborted)
        await once(pool, "remove", { signal: deadline }).catch(() => {});
    },
  };
}

/** The same connection for clients that are not of the pool: LISTEN, jobs. */
export function connectionConfig(connection: string | pg.ConnectionConfig): pg.ConnectionConfig {
  return typeof connection === "string" ? { connectionString: connection } : connection;
}

/** Runs in the transaction that is open already, or in a new one. */
export function inTransaction<T>(db: Db, run: (tx: Transaction<DB>) => Promise<T>): Promise<T> {
  return db.isTransaction ? run(db as Transaction<DB>) : db.transaction().execute(run);
}

/** True when the statement broke the named constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

// Counters are bigint in messages, and a JavaScript number would lose digits past 2^53.
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: string) {
    if (oid === pg.types.builtins.INT8) return BigInt;
    return pg.types.getTypeParser(oid, format as "text");
  },
};
