import type { Logger } from "pino";
import type { Config } from "./config.ts";

/** What the service is started with, in addition to its database. */
export interface Surroundings {
  readonly config: Config;
  readonly log: Logger;
  readonly now: () => Date;
  readonly secret: string;
  readonly print: (text: string) => void;
  /** Whether the output goes to a terminal, so that it may contain secrets. */
  readonly isTerminal: boolean;
}
