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
import type { PlanTable } from "../model/plans/plan-table.ts";
import type { LazyReader } from "./device/request-reader.ts";
import { createSeenVisits, type SeenVisitsDeps } from "./first/seen-visit.ts";
import { createHandler, type HandlerDeps, type ScanHandler } from "./handler.ts";
import { newScanCounts, registerScanMetrics } from "./metrics.ts";
import { createLinkCards } from "./pages/link-cards.ts";
import { createBrandUrl } from "./plans/brand-url.ts";
import { openPlans } from "./plans/find.ts";
import { shortHosts } from "./plans/hosts.ts";
import type { RecordText } from "./spool/framed-records.ts";
import { createRecorder, type Recorder } from "./spool/record.ts";
import { encodeReport } from "./spool/report-record.ts";
import type { Spool } from "./spool/spool.ts";
import { encodeAnswer } from "./spool/step-record.ts";
import { createVisitIds } from "./spool/visit-id.ts";
import { createAskDatabase } from "./steps/ask-database.ts";
import { createAttempts } from "./steps/attempts.ts";
import { findProfile, nobodyKnown } from "./steps/known-visitor.ts";
import { createLocalAttempts } from "./steps/local-attempts.ts";
import { createGoOn, type GoOn } from "./steps/open-visit.ts";
import { createRecentVisits } from "./steps/recent-visits.ts";
import { createStepHandler, type StepHandler } from "./steps/step-handler.ts";
import { createStoredVisits } from "./steps/stored-visits.ts";
import { createTakeReport, type TakeReport } from "./steps/take-report.ts";
import { type Drain, startDrain } from "./store/drain.ts";
import { createQuarantine } from "./store/quarantine.ts";
import type { StoreRecords } from "./store/store-records.ts";
import { createRecentDevices, type RecentDevices } from "./visit/recent-devices.ts";
import { createVisitSeals } from "./visit/seal.ts";

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
  /** The key of the seals in which visits travel. */
  readonly sealKey: Uint8Array;
  /** Where records go that cannot be stored: the directory of the spool is fine. */
  readonly quarantineDirectory: string;
  /** Public address of short links without a domain of their own, without a slash at the end. */
  readonly shortUrl: string;
  /** Public address of the service, to which pages lead that name it. */
  readonly baseUrl: string;
  /** The plans of workspaces, which say whose pages name the service. */
  readonly terms: PlanTable;
  /** Where that address itself leads; undefined when there is nothing else, as on a developer's machine. */
  readonly siteUrl: string | undefined;
  /** Who asks, and for which host, after trusted proxies. */
  readonly originOf: (req: IncomingMessage) => Origin;
  readonly now: () => Date;
  readonly log: Pick<Logger, "warn" | "error">;
  readonly metrics: Registry;
  /** How long visitors wait for what is known of them, at the beginning of a visit and at its steps. */
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
    brandUrlOf: createBrandUrl(deps),
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
    spoolDepth: () => spool.depth() + spool.pending(),
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
  const newVisitId = createVisitIds();
  const seals = createVisitSeals(deps.sealKey);
  const devices = createRecentDevices();
  const handler = createHandler({
    plans,
    recorder,
    visits: createSeenVisits({
      turns,
      reader: deps.reader,
      drain,
      recent: devices,
      deviceKey: deps.deviceKey,
      ...deps.patience,
      onTrouble: onTrouble("a visitor could not be looked up, and is told by the cookie alone"),
    }),
    ...startSteps(deps, { recorder, drain, devices, newVisitId, seals, misses, onTrouble }),
    seals,
    deviceKey: deps.deviceKey,
    misses,
    hostOf: shortHosts(shortUrl),
    originOf,
    newVisitId,
    now,
    siteUrl,
    sendCard: createLinkCards(createMissLimit({ nowMs })),
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

interface StepParts extends Pick<HandlerDeps, "newVisitId" | "seals" | "misses"> {
  readonly recorder: Recorder;
  readonly drain: Drain;
  readonly devices: RecentDevices;
  readonly onTrouble: (words: string) => (error: unknown) => void;
}

/**
 * How long a step waits for facts that only the database knows, and for earlier answers to be stored, in milliseconds.
 */
const stepMs = 300;

function startSteps(
  { turns, reader, deviceKey, passwordKey, now, patience = {} }: ScanDeps,
  { recorder, drain, devices, newVisitId, seals, misses, onTrouble }: StepParts,
): { readonly steps: StepHandler; readonly goOn: GoOn; readonly takeReport: TakeReport } {
  const { catchUpMs = stepMs, lookUpMs = stepMs } = patience;
  const ask = createAskDatabase({
    turns,
    deadlineMs: lookUpMs,
    nowMs: () => now().getTime(),
    onTrouble: onTrouble("a step goes on without what the database knows"),
  });
  const recent = createRecentVisits();
  const record = (text: RecordText, at: Date) =>
    new Promise<void>((resolve) => {
      recorder.record(newVisitId(at.getTime()), text, resolve);
    });
  const steps = createStepHandler({
    seals,
    recent,
    devices,
    stored: createStoredVisits({ turns, arrivals: createArrivals({ misses }), drain }),
    ask,
    attempts: createAttempts(ask, createLocalAttempts()),
    async profileOf(sought) {
      await drain.catchUp(catchUpMs);
      return (await ask(sought.workspaceId, (db) => findProfile(db, sought))) ?? nobodyKnown;
    },
    record: (answer, at) => record(encodeAnswer(answer), at),
    reader,
    deviceKey,
    passwordKey,
    now,
  });
  const takeReport = createTakeReport({
    seals,
    deviceKey,
    now,
    limit: createMissLimit({ nowMs: () => now().getTime() }),
    record: (report, at) => record(encodeReport(report), at),
  });
  return { steps, goOn: createGoOn({ seals, recent, ask, deviceKey, now }), takeReport };
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
