import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { collectDefaultMetrics, Registry } from "prom-client";
import { builtInFiles } from "../jobs/built-in-themes.ts";
import type { Jobs } from "../jobs/runner.ts";
import { createOriginReader } from "../lib/client-address.ts";
import { deriveKey, type KeyPurpose } from "../lib/keys.ts";
import { sharedAnswer } from "../lib/shared-answer.ts";
import { openStorage } from "../lib/storage/open-storage.ts";
import { within } from "../lib/within.ts";
import { lazyReader } from "../scan/device/request-reader.ts";
import { type StoreThread, startStoreThread } from "../scan/store/store-thread.ts";
import { watchEventLoop } from "../server/event-loop.ts";
import { openMetrics } from "../server/metrics-port.ts";
import { openCertificates } from "./certificates.ts";
import type { Config } from "./config.ts";
import { lazyAnalytics } from "./lazy-analytics.ts";
import { addressesAt, openPort } from "./port.ts";
import { portHandlers } from "./port-handlers.ts";
import type { ApiRole } from "./roles/api.ts";
import type { Addresses, Parts } from "./roles/parts.ts";
import type { ScanRole } from "./roles/scan.ts";
import type { RunningDatabase } from "./start-database.ts";
import type { Surroundings } from "./surroundings.ts";
import { welcome } from "./welcome.ts";

/** A running service. */
export interface Service {
  readonly addresses: Addresses;
  /** Accepts no more requests, lets running ones end, writes the last visits and stops the database last. */
  stop(): Promise<void>;
}

/**
 * Starts the configured roles, all on one port. The roles are loaded while the database starts; when they fail to
 * start, the database is stopped again.
 */
export async function serveOn(
  starting: Promise<RunningDatabase>,
  surroundings: Surroundings,
): Promise<Service> {
  const loading = loadRoles(surroundings.config);
  // The failure is reported below, where the database can be stopped.
  loading.catch(() => {});
  const database = await starting;
  try {
    return await serveRoles(database, await loading, surroundings);
  } catch (error) {
    await database.stop();
    throw error;
  }
}

interface Roles {
  readonly startApi?: (parts: Parts, ready: () => Promise<boolean>) => Promise<ApiRole>;
  readonly startScan?: (parts: Parts) => Promise<ScanRole>;
}

/** Loads the configured roles only. */
async function loadRoles(config: Config): Promise<Roles> {
  const scan = config.roles.has("scan") ? await import("./roles/scan.ts") : undefined;
  // The spool's thread starts while the API, which is far larger, is loaded.
  const opening = scan?.openScanSpool(config);
  const [api, spool] = await Promise.all([
    config.roles.has("api") ? import("./roles/api.ts") : undefined,
    opening,
  ]);
  return {
    ...(api && { startApi: api.startApi }),
    ...(scan && spool && { startScan: (parts: Parts) => scan.startScanRole(parts, spool) }),
  };
}

/** How long an answer about the database is reused, in milliseconds. */
const readyMs = 250;

async function serveRoles(
  database: RunningDatabase,
  { startApi, startScan }: Roles,
  surroundings: Surroundings,
): Promise<Service> {
  const { config, log } = surroundings;
  // The port opens first, because addresses may contain its number. Until everything has started, it asks clients to
  // come back.
  const port = await openPort(config, log);
  const addresses = addressesAt(config, port.number);
  const parts = await openParts(database, addresses, surroundings);
  // Anyone may ask for readiness, and each look at the database takes a connection of the pool.
  const ready = sharedAnswer(readyMs, () => isReachable(database));
  // Each role waits for the database or a thread; meanwhile the other one can go on.
  const [scan, api] = await Promise.all([
    startScan?.(parts),
    startApi?.(parts, ready),
    welcome(parts, surroundings),
  ]);
  let draining = false;
  const metricsPort =
    config.metrics &&
    (await openMetrics(
      config.metrics,
      async () => ({ text: await parts.metrics.metrics(), contentType: parts.metrics.contentType }),
      log,
    ));
  const certificates = await openCertificates(parts, port);
  port.serve({
    ...portHandlers(parts, { api, scan, ready, draining: () => draining }),
    certificates: certificates?.hosts,
  });
  const worker = config.roles.has("worker") ? startWorkerLater(parts) : undefined;
  log.info(
    {
      port: port.number,
      httpPort: certificates?.plainPort?.port,
      metricsPort: metricsPort?.port,
      roles: [...config.roles],
      baseUrl: addresses.baseUrl,
    },
    "ready",
  );
  return {
    addresses,
    stop: async () => {
      draining = true;
      api?.endStreams();
      await Promise.all([
        port.close(config.drainTimeoutMs),
        certificates?.plainPort?.close(config.drainTimeoutMs),
      ]);
      await Promise.all([api?.close(), scan?.close(), worker?.then((jobs) => jobs.stop())]);
      await Promise.all([parts.closeStoring(), parts.closeAnalytics(), certificates?.hosts?.close()]);
      await database.stop();
      await metricsPort?.close(0);
      log.info("stopped");
    },
  };
}

/** Opens what all roles share. */
async function openParts(
  database: RunningDatabase,
  addresses: Addresses,
  { config, log, now, secret }: Surroundings,
): Promise<Parts & { closeStoring(): Promise<void>; closeAnalytics(): Promise<void> }> {
  let storing: StoreThread | undefined;
  const analytics = lazyAnalytics(config, { connection: database.connection, now, log });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  watchEventLoop(metrics);
  const keyFor = (purpose: KeyPurpose) => deriveKey(secret, purpose);
  return {
    config,
    addresses,
    log,
    now,
    db: database.db,
    pool: database.pool,
    scanDb: database.scanDb,
    jobsDb: database.jobsDb,
    autonomousDb: database.autonomousDb,
    connection: database.connection,
    keyFor,
    reader: lazyReader(config.cityDatabase),
    storing: () => {
      storing ??= startStoreThread({
        connection: database.connection,
        statementTimeoutMs: config.requestTimeoutMs,
        deviceKey: Buffer.from(keyFor("devices")).toString("hex"),
        cityDatabase: config.cityDatabase,
        plans: config.plans,
      });
      return storing;
    },
    analytics: analytics.ask,
    closeAnalytics: analytics.close,
    closeStoring: async () => {
      await storing?.close();
    },
    storage: await openStorage({
      directory: join(config.dataDir, "files"),
      s3: config.s3,
      shipped: builtInFiles,
    }),
    metrics,
    readOrigin: createOriginReader(config.trustedProxies),
  };
}

/** Loads the queue once visitors and callers are served: jobs can wait. */
async function startWorkerLater(parts: Parts): Promise<Jobs> {
  await nextTurn();
  const { startWorker } = await import("./roles/worker.ts");
  return startWorker(parts);
}

/** A database that does not answer within this time, in milliseconds, is away. */
const reachableMs = 1_000;

async function isReachable({ pool }: RunningDatabase): Promise<boolean> {
  try {
    await within(reachableMs, () => pool.query("select 1"));
    return true;
  } catch {
    return false;
  }
}
