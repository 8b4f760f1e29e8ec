import { Counter, Gauge, type Registry } from "prom-client";
import type { RecorderCounts } from "./spool/record.ts";
import type { DrainCounts } from "./store/drain.ts";

/** What visitors got. Plain numbers, because a redirect has no microsecond to spare for labels. */
export interface ScanCounts {
  completed: number;
  fallback: number;
  /** Visits that were shown a page which waits for an answer. */
  waiting: number;
  /** Requests for links that have expired. They do not count as visits. */
  expired: number;
  unknown: number;
  limited: number;
  failed: number;
}

export function newScanCounts(): ScanCounts {
  return { completed: 0, fallback: 0, waiting: 0, expired: 0, unknown: 0, limited: 0, failed: 0 };
}

export interface ScanFigures {
  readonly visits: ScanCounts;
  readonly recorder: RecorderCounts;
  readonly drain: DrainCounts;
  readonly spoolDepth: () => number;
  readonly unreadableSpools: () => number;
}

/** Registers the figures of redirects, recording and draining; they are read when somebody asks for metrics. */
export function registerScanMetrics(registry: Registry, figures: ScanFigures): void {
  const { visits, recorder, drain } = figures;
  const registers = [registry];
  // `read` gives the values by outcome, or one number for a counter without labels.
  const counter = (name: string, help: string, read: () => Record<string, number> | number) => {
    const hasLabel = typeof read() !== "number";
    new Counter({
      name,
      help,
      registers,
      labelNames: hasLabel ? ["outcome"] : [],
      collect() {
        this.reset();
        const values = read();
        if (typeof values === "number") this.inc(values);
        else for (const [outcome, value] of Object.entries(values)) this.inc({ outcome }, value);
      },
    });
  };
  const gauge = (name: string, help: string, read: () => number) => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  counter("signpost_scans_total", "Visits of short hosts, by what became of them.", () => ({ ...visits }));
  counter("signpost_recorded_visits_total", "Visits made durable.", () => recorder.recorded);
  counter("signpost_record_failures_total", "Appends that the spool refused.", () => recorder.failed);
  counter(
    "signpost_late_records_total",
    "Visitors who were answered before their visit was on disk.",
    () => recorder.late,
  );
  counter(
    "signpost_lost_visits_total",
    "Visits lost because disk and memory were full.",
    () => recorder.lost,
  );
  gauge("signpost_buffered_visits", "Visits that are only in memory.", () => recorder.buffered);
  gauge("signpost_spool_depth", "Visits on their way to the database.", figures.spoolDepth);
  gauge("signpost_spool_unreadable_files", "Damaged spool files left alone.", figures.unreadableSpools);
  counter("signpost_drained_visits_total", "Visits moved to the database.", () => drain.drained);
  counter("signpost_dropped_visits_total", "Visits of purged workspaces.", () => drain.dropped);
  counter("signpost_quarantined_visits_total", "Records that could not be stored.", () => drain.quarantined);
  counter("signpost_drain_failures_total", "Batches that failed and are tried again.", () => drain.failures);
  gauge(
    "signpost_drain_lag_seconds",
    "Age of the oldest visit of the last batch when it was stored.",
    () => drain.lagMs / 1_000,
  );
}
