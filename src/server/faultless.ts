import type { Logger } from "pino";
import type { Handler } from "./listen.ts";

/** Wraps a handler: its failure is logged and ends the request. */
export function faultlessly(log: Logger) {
  return (handler: (...args: Parameters<Handler>) => Promise<void>): Handler => {
    return (req, res) => {
      handler(req, res).catch((error: unknown) => {
        log.error({ err: error, path: req.url }, "a request handler failed");
        res.destroy();
      });
    };
  };
}
