import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { type OpenDatabase, openDatabase } from "../../src/db/open.ts";

export interface TestDatabase extends OpenDatabase {
  /** For code that opens its own connections. */
  readonly connection: pg.ConnectionConfig;
}

/** How many connections the pool of a test database has. */
export const testConnections = 5;

/** Makes a migrated database for the calling test file, dropped after it. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = inject("databaseServer");
  const name = `signpost_test_${randomUUID().replaceAll("-", "")}`;
  await administer(
    server,
    `create database ${name} template ${inject("templateDatabase")} strategy file_copy`,
  );
  const connection = { ...server, database: name };
  const opened = openDatabase({
    connection,
    poolSize: testConnections,
    statementTimeoutMs: 30_000,
    onError: () => {},
  });
  afterAll(async () => {
    await opened.close();
    await administer(server, `drop database if exists ${name} with (force)`);
  });
  return { ...opened, connection };
}

// `create database` fails while another one copies the same template, so the calls take turns.
async function administer(server: pg.ConnectionConfig, statement: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(7251001)");
    await client.query(statement);
  } finally {
    await client.end();
  }
}
