import type { Logger } from "pino";
import { faultlessly } from "./faultless.ts";
import { listen, type PortListener } from "./listen.ts";
import { metricsHandler, type ReadMetrics } from "./operations.ts";

/** Serves the metrics on a separate port, because they reveal how much the service is used and what it runs on. */
export function openMetrics(
  at: { readonly host: string; readonly port: number },
  read: ReadMetrics,
  log: Logger,
): Promise<PortListener> {
  return listen({ ...at, handler: faultlessly(log)(metricsHandler(read)), log });
}
