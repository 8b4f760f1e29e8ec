import { type DatabaseOptions, type OpenDatabase, openDatabase } from "../db/open.ts";
import { prepareAll } from "../db/prepared.ts";
import { steadyPlans } from "../db/steady-plans.ts";

/** Outcomes are written over one connection, and a turn reads over three at once. */
const connections = 4;

/** Opens the connections that messages are sent with. Their statements are few, and run again and again. */
export function openOutbox(options: Omit<DatabaseOptions, "poolSize">): OpenDatabase {
  const opened = openDatabase({ ...options, poolSize: connections });
  opened.pool.on("connect", prepareAll);
  opened.pool.on("connect", steadyPlans);
  return opened;
}
