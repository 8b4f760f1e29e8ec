import type { ClientBase } from "pg";
import { type DatabaseOptions, type OpenDatabase, openDatabase } from "../../db/open.ts";
import { prepareAll } from "../../db/prepared.ts";

/**
 * Opens the one connection that visits and answers are stored through. It prepares its statements: at low traffic, when
 * a batch has few visits, PostgreSQL worked several times as long at planning them as at running them.
 */
export function openStore(options: Pick<DatabaseOptions, "connection" | "statementTimeoutMs">): OpenDatabase {
  const opened = openDatabase({ ...options, poolSize: 1, onError: () => {} });
  opened.pool.on("connect", prepareAll);
  opened.pool.on("connect", settle);
  return opened;
}

/**
 * Makes plans independent of statistics, which are those of empty tables when the first visits arrive, and of the
 * values of one batch. All statements of this connection find rows by their keys.
 */
function settle(client: ClientBase): void {
  // A connection that fails here is broken, and the next statement says so.
  client.query(settings).catch(() => {});
}

const settings = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"]
  .map((name) => `set ${name} = off;`)
  .concat("set plan_cache_mode = force_generic_plan")
  .join(" ");
