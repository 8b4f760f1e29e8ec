import type { IncomingMessage } from "node:http";
import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";
import type pg from "pg";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Db } from "../db/open.ts";
import type { Turns } from "../db/turns.ts";
import type { Origin } from "../lib/client-address.ts";
import { createArrivals } from "../lib/limits/arrivals.ts";
import { createMissLimit } from "../lib/limits/miss-limit.ts";
import type { LazyReader } from "./device/request-reader.ts";
import { createSeenVisits, type SeenVisitsDeps } from "./first/seen-visit.ts";
import { createHandler, type ScanHandler } from "./handler.ts";
import { newScanCounts, registerScanMetrics } from "./metrics.ts";
import { openPlans } from "./plans/find.ts";
import { shortHosts } from "./plans/hosts.ts";
import { createRecorder } from "./spool/record.ts";
import type { Spool } from "./spool/spool.ts";
import { createVisitIds } from "./spool/visit-id.ts";
import { createGoOn } from "./steps/open-visit.ts";
import { createStepHandler } from "./steps/step-handler.ts";
import { type Drain, startDrain } from "./store/drain.ts";
import { createQuarantine } from "./store/quarantine.ts";
import type { StoreRecords } from "./store/store-records.ts";

export interface ScanDeps {
  /** For plans: one statement for each link that is not in memory. */
  readonly db: Db;
  /**
   * The same database by workspace, for steps and for workflows that look visitors up. It leaves some connections to
   * plans.
   */
  readonly turns: Turns;
  /** For the connection that hears of changes. */
  readonly connection: pg.ClientConfig;
  readonly spool: Spool;
  /** Stores what the spool holds: `startStoreThread`, or `createRecordStore` in this thread. */
  readonly store: StoreRecords;
  /** Classes of devices and countries, for workflows that ask. */
  readonly reader: LazyReader;
  /** The same key as that of `store`, in hexadecimal. */
  readonly deviceKey: string;
  /** The key of step passwords. */
  readonly passwordKey: Uint8Array;
  /** Where records go that cannot be stored: the directory of the spool is fine. */
  readonly quarantineDirectory: string;
  /** Public address of short links without a domain of their own, without a slash at the end. */
  readonly shortUrl: string;
  /** Where that address itself leads; undefined when there is nothing else, as on a developer's machine. */
  readonly siteUrl: string | undefined;
  /** Who asks, and for which host, after trusted proxies. */
  readonly originOf: (req: IncomingMessage) => Origin;
  readonly now: () => Date;
  readonly log: Pick<Logger, "warn" | "error">;
  readonly metrics: Registry;
  /** How long visitors wait for what is known of them. */
  readonly patience?: Pick<SeenVisitsDeps, "catchUpMs" | "lookUpMs">;
}

export interface Scan {
  readonly handler: ScanHandler;
  readonly drain: Drain;
  /**
   * Moves what is left to the database, for at most `flushMs`. What then remains is in the spool. Call it after the
   * last answer.
   */
  close(flushMs?: number): Promise<void>;
}

/** Starts what visitors meet: short links of all hosts, and the drain behind them. Does not need a living database. */
export async function startScan(deps: ScanDeps): Promise<Scan> {
  const { db, turns, connection, spool, store, shortUrl, siteUrl, originOf, now, log } = deps;
  const nowMs = () => now().getTime();
  const visits = newScanCounts();
  const recorder = createRecorder({
    spool,
    onTrouble: (error) => log.error({ err: error }, "visits cannot be put on disk and are kept in memory"),
  });
  const plans = await openPlans({
    db,
    connection,
    nowMs,
    shortUrl,
    onTrouble: (error) =>
      log.warn({ err: error }, "changes of links are not heard; links are served from memory"),
  });
  const drain = startDrain({
    spool,
    store,
    now,
    isBusy: processorMeter(),
    quarantine: createQuarantine(deps.quarantineDirectory),
    onTrouble: (error) => log.warn({ err: error }, "visits cannot be stored and stay in the spool"),
    onPoison: (reason) => log.error({ reason }, "a record cannot be stored and was put into quarantine"),
  });
  registerScanMetrics(deps.metrics, {
    visits,
    recorder: recorder.counts,
    drain: drain.counts,
    spoolDepth: spool.depth,
    unreadableSpools: () => spool.unreadable().length,
  });
  let troubleAtMs = Number.NEGATIVE_INFINITY;
  // Every visitor of an outage meets the same trouble, so it is logged at most once a second.
  const onTrouble = (words: string) => (error: unknown) => {
    if (nowMs() - troubleAtMs < 1_000) return;
    troubleAtMs = nowMs();
    log.error({ err: error }, words);
  };
  const misses = createMissLimit({ nowMs });
  const arrivals = createArrivals({ misses });
  const { deviceKey } = deps;
  const handler = createHandler({
    plans,
    recorder,
    visits: createSeenVisits({
      turns,
      reader: deps.reader,
      drain,
      deviceKey: deps.deviceKey,
      ...deps.patience,
      onTrouble: onTrouble("a visitor could not be looked up, and was taken for a new one"),
    }),
    steps: createStepHandler({
      turns,
      arrivals,
      drain,
      reader: deps.reader,
      deviceKey: deps.deviceKey,
      passwordKey: deps.passwordKey,
      now,
    }),
    goOn: createGoOn({
      turns,
      arrivals,
      drain,
      deviceKey,
      now,
      onTrouble: onTrouble("an open visit could not be looked up, and a new one began"),
    }),
    misses,
    hostOf: shortHosts(shortUrl),
    originOf,
    newVisitId: createVisitIds(),
    now,
    siteUrl,
    counts: visits,
    onTrouble: onTrouble("a visit could not be answered"),
  });
  return {
    handler,
    drain,
    async close(flushMs = 5_000) {
      await recorder.close();
      await drain.flush(flushMs);
      await drain.close();
      await plans.close();
    },
  };
}

/**
 * Tells whether this process uses more than half of the machine's processors. A database on the same machine takes as
 * much again for that work, so hardly anything is left for visitors.
 */
function processorMeter(): () => boolean {
  let usedBefore = process.cpuUsage();
  let lastMs = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(usedBefore);
    const elapsedMs = performance.now() - lastMs;
    usedBefore = process.cpuUsage();
    lastMs += elapsedMs;
    return (user + system) / 1_000 > elapsedMs * availableParallelism() * 0.5;
  };
}
