import { rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "../../src/db/embedded/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { connectionConfig, openDatabase } from "../../src/db/open.ts";

import { storeBuiltInTemplates } from "../../src/jobs/built-in-templates.ts";
import { inMemory, nameOfProcess, quickFolder, removeAbandoned } from "./quick-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The connection settings of the server with the template database. */
    databaseServer: pg.ConnectionConfig;
    templateDatabase: string;
    /** The folder for the run's bundle of the service, which the first test that starts one makes. */
    bundle: string;
  }
}

/** Starts PostgreSQL once per run, or uses the one of DATABASE_URL, and migrates a template database in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { root } = project.config;
  for (const folder of [inMemory, root]) await removeAbandoned(folder);
  const dataDir = await quickFolder("signpost-test-");
  const url = process.env.DATABASE_URL;
  const log = pino({ level: "error" });
  const embedded = url === undefined || url === "" ? await startEmbedded({ dataDir, log }) : undefined;
  const server: pg.ConnectionConfig = embedded
    ? { host: embedded.host, port: embedded.port, user: embedded.user, database: embedded.database }
    : connectionParts(url ?? "");
  if (embedded !== undefined) await forgoDurability(server);
  const template = `signpost_template_${process.pid}`;
  await administer(server, `create database ${template}`);
  const { db, pool, close } = openDatabase({
    connection: { ...server, database: template },
    poolSize: 2,
    statementTimeoutMs: 60_000,
    onError: (error) => log.error(error),
  });
  await migrate(db, pool, new Date());
  await storeBuiltInTemplates(db, new Date());
  // The jobs of the built-in templates' thumbnails would disturb tests of the queue.
  await pool.query("delete from graphile_worker._private_jobs");
  await close();
  project.provide("databaseServer", server);
  project.provide("templateDatabase", template);
  const bundle = join(root, await nameOfProcess("dist-test-"));
  // An earlier process may have had the same number, and another state of the sources.
  await rm(bundle, { recursive: true, force: true });
  project.provide("bundle", join(bundle, "service"));
  return async () => {
    await administer(server, `drop database if exists ${template} with (force)`);
    await embedded?.stop();
    await rm(dataDir, { recursive: true, force: true });
    await rm(bundle, { recursive: true, force: true });
  };
}

// The run's databases outlive no crash, so the server need not wait for the disk, or keep much of its log. Tests of
// durability have servers of their own.
async function forgoDurability(server: pg.ConnectionConfig): Promise<void> {
  for (const setting of ["fsync", "full_page_writes", "synchronous_commit"])
    await administer(server, `alter system set ${setting} = off`);
  await administer(server, "alter system set max_wal_size = '256MB'");
  await administer(server, "select pg_reload_conf()");
}

async function administer(server: pg.ConnectionConfig, statement: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(statement);
  await client.end();
}

// Plain parts instead of a URL, so that a test can choose another database on the same server.
function connectionParts(url: string): pg.ConnectionConfig {
  const { host, port, user, password, database } = new pg.Client(connectionConfig(url));
  return {
    host,
    port,
    ...(user ? { user } : {}),
    ...(password ? { password } : {}),
    ...(database ? { database } : {}),
  };
}
