import { Counter, Histogram, type Registry } from "prom-client";
import type { Code } from "../../lib/errors.ts";
import type { Protocol } from "../call.ts";

/** Counts the calls of the pipeline. */
export interface CallMetrics {
  count(method: string, protocol: Protocol, code: Code | "OK", seconds: number): void;
}

const labelNames = ["method", "protocol", "code"] as const;

/** Registers `signpost_calls_total` and `signpost_call_duration_seconds`. */
export function createCallMetrics(registry: Registry): CallMetrics {
  const calls = new Counter({
    name: "signpost_calls_total",
    help: "Calls answered, by method, protocol and gRPC code.",
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: "signpost_call_duration_seconds",
    help: "Time from a call's arrival in the pipeline to its answer.",
    labelNames,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const children = new Map<string, (seconds: number) => void>();
  return {
    count(method, protocol, code, seconds) {
      const key = `${method} ${protocol} ${code}`;
      let child = children.get(key);
      if (child === undefined) {
        const labels = { method, protocol, code };
        const call = calls.labels(labels);
        const duration = durations.labels(labels);
        child = (value) => {
          call.inc();
          duration.observe(value);
        };
        children.set(key, child);
      }
      child(seconds);
    },
  };
}
