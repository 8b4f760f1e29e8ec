import { pino } from "pino";
import { describeFailure } from "../db/describe-failure.ts";
import type { Config } from "./config.ts";
import { masterSecret } from "./first-start.ts";
import type { Service } from "./serve.ts";
import { startDatabase } from "./start-database.ts";

/** The output that the operator reads. */
export interface Screen {
  readonly print: (text: string) => void;
  /** Whether the output goes to a terminal, so that nothing keeps it. */
  readonly isTerminal: boolean;
}

/** Starts the configured roles, on one port. */
export async function startService(config: Config, screen: Screen): Promise<Service> {
  const log = pino({
    level: config.logLevel,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeFailure },
  });
  const now = () => new Date();
  const secret = await masterSecret(config);
  // The database is a separate process: most of the service is loaded while it starts, and only then.
  const launched = Promise.withResolvers<void>();
  const starting = startDatabase(config, log, now, launched.resolve);
  await Promise.race([launched.promise, starting]);
  const { serveOn } = await import("./serve.ts");
  return serveOn(starting, { config, log, now, secret, ...screen });
}
