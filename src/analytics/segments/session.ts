import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { DB } from "../../../gen/database.ts";
import { connectionConfig, type Db } from "../../db/open.ts";

/** One connection: statements of `db` and copies of `client` are in the same transaction. */
export interface Session {
  readonly db: Db;
  readonly client: pg.Client;
  close(): Promise<void>;
}

const statementTimeoutMs = 60_000;

/** Connects. Locks of the session end with it, also when its process is killed. */
export async function openSession(connection: string | pg.ConnectionConfig): Promise<Session> {
  const client = new pg.Client({
    ...connectionConfig(connection),
    statement_timeout: statementTimeoutMs,
    connectionTimeoutMillis: 5_000,
  });
  // A connection that breaks fails its statement, too.
  client.on("error", () => {});
  await client.connect();
  // Sealing has time, and leaves the other processors to those who wait.
  await client.query("set max_parallel_workers_per_gather = 0");
  const pooled = Object.assign(client, { release: () => {} });
  const pool = { options: {}, connect: async () => pooled, end: () => client.end() };
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  return { db, client, close: () => db.destroy() };
}
