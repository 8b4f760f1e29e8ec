import { Counter, type Registry } from "prom-client";

/** An export that has a file, or is given up. */
export interface EndedExport {
  readonly outcome: "succeeded" | "too_large" | "interrupted";
  readonly rows: number;
  /** From the order to the end. */
  readonly seconds: number;
}

/** Counts the exports that this process has ended. */
export type CountExport = (ended: EndedExport) => void;

/** Registers `signpost_exports_total`, `signpost_exported_events_total` and `signpost_export_seconds_total`. */
export function createExportMetrics(registry: Registry): CountExport {
  const registers = [registry];
  const exports = new Counter({
    name: "signpost_exports_total",
    help: "Exports that ended, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const events = new Counter({
    name: "signpost_exported_events_total",
    help: "Events in the files of exports.",
    registers,
  });
  const duration = new Counter({
    name: "signpost_export_seconds_total",
    help: "Seconds from the orders of exports to their ends.",
    registers,
  });
  return ({ outcome, rows, seconds }) => {
    exports.inc({ outcome });
    events.inc(rows);
    duration.inc(Math.max(0, seconds));
  };
}
