import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import { lockClasses } from "../db/locks.ts";
import { inTransaction } from "../db/open.ts";
import type { Jobs } from "../jobs/runner.ts";
import { createAddressList, createOriginReader } from "../lib/client-address.ts";
import { deriveKey, type KeyPurpose } from "../lib/keys.ts";
import { sharedAnswer } from "../lib/shared-answer.ts";
import { openStorage } from "../lib/storage/open-storage.ts";
import { within } from "../lib/within.ts";
import { lazyReader } from "../scan/device/request-reader.ts";
import { type StoreThread, startStoreThread } from "../scan/store/store-thread.ts";
import { connectionOf, type Received } from "../server/connection.ts";
import { discoveryHandler } from "../server/discovery.ts";
import { dispatch, dispatchStreams } from "../server/dispatch.ts";
import { watchEventLoop } from "../server/event-loop.ts";
import { faultlessly } from "../server/faultless.ts";
import { filesHandler } from "../server/files.ts";
import type { OnStream } from "../server/http2-sessions.ts";
import { type Handler, listen } from "../server/listen.ts";
import { openMetrics } from "../server/metrics-port.ts";
import { operationsHandler } from "../server/operations.ts";
import { createRoute } from "../server/route.ts";
import { strictTransport } from "../server/strict-transport.ts";
import { whenLoaded } from "../server/when-loaded.ts";
import type { Config } from "./config.ts";
import { greeting, keepCredentials, newPassword, reminder } from "./first-start.ts";
import type { ApiRole } from "./roles/api.ts";
import type { Addresses, Parts } from "./roles/parts.ts";
import type { ScanRole } from "./roles/scan.ts";
import type { RunningDatabase } from "./start-database.ts";

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
  port.serve(portHandlers(parts, { api, scan, ready, draining: () => draining }));
  const worker = config.roles.has("worker") ? startWorkerLater(parts) : undefined;
  log.info(
    {
      port: port.number,
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
      await port.close(config.drainTimeoutMs);
      await Promise.all([api?.close(), scan?.close(), worker?.then((jobs) => jobs.stop())]);
      await parts.closeStoring();
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
): Promise<Parts & { closeStoring(): Promise<void> }> {
  let storing: StoreThread | undefined;
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
    closeStoring: async () => {
      await storing?.close();
    },
    storage: await openStorage({ directory: join(config.dataDir, "files"), s3: config.s3 }),
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

interface PortRoles {
  readonly api: ApiRole | undefined;
  readonly scan: ScanRole | undefined;
  readonly ready: () => Promise<boolean>;
  readonly draining: () => boolean;
}

interface PortHandlers {
  readonly handler: Handler;
  readonly onStream: OnStream | undefined;
}

function portHandlers(parts: Parts, { api, scan, ready, draining }: PortRoles): PortHandlers {
  const { addresses, config, keyFor, log, now, readOrigin, storage } = parts;
  const operations = operationsHandler({
    // Visits go on without the database. A process that serves them is then degraded, and must stay in the load
    // balancer.
    checks:
      api === undefined && scan === undefined
        ? []
        : [{ name: "database", works: ready, isNeeded: scan === undefined }],
    draining,
  });
  const files = filesHandler({ storage, signingKey: keyFor("file-urls"), now, log });
  const door = {
    route: createRoute({
      baseUrl: new URL(addresses.baseUrl),
      shortUrl: new URL(addresses.shortUrl),
      authUrl: new URL(addresses.authUrl),
      services: api?.serviceNames ?? [],
    }),
    originOf: (received: Received) => readOrigin(connectionOf(received)),
  };
  const faultless = faultlessly(log);
  const handler = dispatch({
    ...door,
    strict: strictTransport(
      [addresses.baseUrl, addresses.shortUrl, addresses.authUrl],
      config.strictTransportSeconds,
    ),
    handlers: {
      rpc: api?.rpc ?? notHere,
      rest: api?.rest ?? notHere,
      discovery:
        api === undefined ? notHere : faultless(discoveryHandler({ ...addresses, scopes: api.scopes })),
      auth: api === undefined ? notHere : whenLoaded(async () => faultless(await api.openAuth())),
      operation: faultless(operations),
      file: faultless(files),
      scan: scan?.handler ?? notHere,
    },
  });
  return { handler, onStream: api && dispatchStreams(door, api.onStream) };
}

const notHere: Handler = (_req, res) => {
  res.writeHead(404, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  res.end("Not found\n");
};

const comeBack: Handler = (_req, res) => {
  res.writeHead(503, { "retry-after": "1", "content-type": "text/plain; charset=utf-8" });
  res.end("Starting\n");
};

/** Listens at once; the handler is given later. */
async function openPort(config: Config, log: Logger) {
  let handler: Handler = comeBack;
  let onStream: OnStream | undefined;
  const tls = config.tls && {
    cert: await readFile(config.tls.certFile),
    key: await readFile(config.tls.keyFile),
  };
  const listener = await listen({
    host: config.host,
    port: config.port,
    ...(tls === undefined ? {} : { tls }),
    handler: (req, res) => handler(req, res),
    onStream: (stream, headers) => onStream?.(stream, headers) ?? false,
    limits: {
      connections: config.maxConnections,
      connectionsPerAddress: config.maxConnectionsPerAddress,
    },
    isProxy: createAddressList(config.trustedProxies),
    log,
  });
  return {
    number: listener.port,
    serve: (handlers: PortHandlers) => {
      ({ handler, onStream } = handlers);
    },
    close: (graceMs: number) => listener.close(graceMs),
  };
}

/** On an empty database it makes a workspace, an admin and a token. Later starts print a reminder of them. */
async function welcome(
  { config, addresses, db, keyFor, now }: Parts,
  { print, isTerminal }: Surroundings,
): Promise<void> {
  const email = "admin@localhost";
  const password = newPassword();
  const created = await inTransaction(db, async (tx) => {
    // Of several processes that start at once on one empty database, the first one makes the workspace and the others
    // wait.
    await sql`select pg_advisory_xact_lock(${lockClasses.firstStart})`.execute(tx);
    const found = await tx.selectFrom("workspaces").select("id").limit(1).executeTakeFirst();
    if (found !== undefined) return undefined;
    const [{ createWorkspace }, { createTokenSigner }] = await Promise.all([
      import("../api/workspaces/create-workspace.ts"),
      import("../rpc/pipeline/credentials/tokens.ts"),
    ]);
    const signToken = createTokenSigner(keyFor("access-tokens"));
    return createWorkspace(
      { db: tx, now, signToken, plans: config.plans },
      { name: "My workspace", email, password },
    );
  });
  if (created === undefined) {
    print(await reminder(addresses.baseUrl, config.dataDir));
    return;
  }
  const { workspaceId, accessToken } = created;
  const credentials = { baseUrl: addresses.baseUrl, workspaceId, accessToken, email, password };
  await keepCredentials(config.dataDir, credentials);
  print(
    isTerminal ? greeting(credentials, config.dataDir) : await reminder(addresses.baseUrl, config.dataDir),
  );
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

/** When `PORT` is 0, puts the bound port in place of port 0 in the configured addresses. */
function addressesAt(config: Config, port: number): Addresses {
  const { baseUrl, shortUrl, authUrl } = config;
  const at = (address: string) => (config.port === 0 ? address.replace(/:0(?=\/|$)/, `:${port}`) : address);
  return { baseUrl: at(baseUrl), shortUrl: at(shortUrl), authUrl: at(authUrl) };
}
