import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate, PostgresDialect } from "kysely-codegen";
import { pino } from "pino";
import { startEmbedded } from "../src/db/embedded/embedded.ts";
import { migrate } from "../src/db/migrate.ts";
import { openDatabase } from "../src/db/open.ts";

// Writes gen/database.ts from the migrations, by applying them to a temporary database.
const dataDir = await mkdtemp(join(tmpdir(), "signpost-codegen-"));
const log = pino({ level: "warn" });
const server = await startEmbedded({ dataDir, log });
const { host, port, user, database } = server;
const { db, pool, close } = openDatabase({
  connection: { host, port, user, database },
  poolSize: 2,
  statementTimeoutMs: 60_000,
  // The server may end before it has read the last message of a connection; any other trouble fails a statement.
  onError: () => {},
});
try {
  await migrate(db, pool, new Date());
  const text = await generate({
    db,
    dialect: new PostgresDialect(),
    defaultSchemas: ["public"],
    includePattern: "public.*",
    excludePattern: "public.kysely_*",
    typeMapping: { timestamptz: "Date", int8: "bigint" },
    overrides: {},
    partitions: false,
  });
  await writeFile(new URL("../gen/database.ts", import.meta.url), text);
} finally {
  await close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
