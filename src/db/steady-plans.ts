import type { ClientBase } from "pg";

/**
 * Makes a connection's plans independent of the values of one batch. Whatever the statistics say, they join tables in
 * the order of the statement and find rows by indexes: when the first rows arrive, statistics are those of empty tables.
 */
export function steadyPlans(client: ClientBase): void {
  // A connection that fails here is broken, and the next statement says so.
  client.query(settings).catch(() => {});
}

const settings = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"]
  .map((name) => `set ${name} = off;`)
  .concat("set join_collapse_limit = 1;", "set plan_cache_mode = force_generic_plan")
  .join(" ");
