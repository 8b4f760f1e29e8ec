import { pino } from "pino";
import { describeFailure } from "../db/describe-failure.ts";
import type { Config } from "./config.ts";
import { masterSecret } from "./first-start.ts";
import type { Service } from "./serve.ts";
import { startDatabase } from "./start-database.ts";

/** Where a person reads what the service has to say. */
export interface Screen {
  readonly print: (text: string) => void;
  /** Whether it is shown, and not kept. */
  readonly isTerminal: boolean;
}

/** Starts the roles that are asked for, on one port. */
export async function startService(config: Config, screen: Screen): Promise<Service> {
  const log = pino({
    level: config.logLevel,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeFailure },
  });
  const now = () => new Date();
  const secret = await masterSecret(config);
  // The database is another process: most of the service is loaded while that starts, and not a moment before.
  const launched = Promise.withResolvers<void>();
  const starting = startDatabase(config, log, now, launched.resolve);
  await Promise.race([launched.promise, starting]);
  const { serveOn } = await import("./serve.ts");
  return serveOn(starting, { config, log, now, secret, ...screen });
}
