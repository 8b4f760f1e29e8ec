import { sql } from "kysely";
import { type DatabaseOptions, type Db, type OpenDatabase, openDatabase } from "../../db/open.ts";
import { prepareAll } from "../../db/prepared.ts";
import { steadyPlans } from "../../db/steady-plans.ts";
import type { StoreRecords } from "./store-records.ts";

/**
 * Opens the one connection that visits and answers are stored through. It prepares its statements: at low traffic, when
 * a batch has few visits, PostgreSQL worked several times as long at planning them as at running them.
 */
export function openStore(options: Pick<DatabaseOptions, "connection" | "statementTimeoutMs">): OpenDatabase {
  const opened = openDatabase({ ...options, poolSize: 1, onError: () => {} });
  opened.pool.on("connect", prepareAll);
  opened.pool.on("connect", steadyPlans);
  return opened;
}

/** How long plans are used at most, in milliseconds. */
const planMsMax = 10_000;

/**
 * Makes the plans of `db` anew every ten seconds, and whenever the stored bytes have doubled. A plan that was made for
 * an empty table, or for next month's partition, may read a whole index of the workspace where a key would do.
 */
export function withFreshPlans(db: Db, store: StoreRecords): StoreRecords {
  let plannedAtMs = 0;
  let plannedBytes = 0;
  let bytes = 0;
  return async (chunks, now) => {
    bytes += chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const ageMs = Math.abs(now.getTime() - plannedAtMs);
    if (ageMs > planMsMax || bytes >= 2 * plannedBytes) {
      await sql`discard plans`.execute(db);
      plannedAtMs = now.getTime();
      plannedBytes = bytes;
    }
    return store(chunks, now);
  };
}
