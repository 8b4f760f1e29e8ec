import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { KyselyPlugin } from "kysely";
import { Registry } from "prom-client";
import { expect, onTestFinished } from "vitest";
import type { Db } from "../../src/db/open.ts";
import { createTurns } from "../../src/db/turns.ts";
import { newId } from "../../src/lib/ids.ts";
import { defaultPlans } from "../../src/model/plans/plan-table.ts";
import { createClassifier } from "../../src/scan/device/classify.ts";
import { openGeography } from "../../src/scan/device/geography.ts";
import { lazyReader } from "../../src/scan/device/request-reader.ts";
import { openSpool, type Spool } from "../../src/scan/spool/spool.ts";
import { type Scan, type ScanDeps, startScan } from "../../src/scan/start.ts";
import { createRecordStore } from "../../src/scan/store/store-records.ts";
import { orderedClock } from "./clock.ts";
import { quickFolder } from "./quick-folder.ts";
import { type TestDatabase, testConnections } from "./test-database.ts";
import { watchTransactions } from "./watch-transactions.ts";

/** One answer of a short host. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly host?: string;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TestScan {
  readonly scan: Scan;
  readonly spool: Spool;
  readonly directory: string;
  readonly port: number;
  /** The number of statements run for visitors so far, without those of the drain. */
  statements(): number;
  ask(path: string, ask?: Ask): Promise<Answer>;
  /** Moves all recorded visits to the database. */
  drained(): Promise<void>;
}

const deviceKey = "00".repeat(32);

let tables: ReturnType<typeof openGeography> | undefined;

/** All runtimes share the tables of places, which take 13 ms to open. */
function openTables(): ReturnType<typeof openGeography> {
  tables ??= openGeography();
  return tables;
}

/** All runtimes of a test share one clock, because visits of the same millisecond have no order. */
const now = orderedClock();

/**
 * Starts the scan runtime on a free port, with a new spool. It is stopped after the test; with `afterAll` of a file that
 * shares one runtime, after the file.
 */
export async function startTestScan(
  database: TestDatabase,
  overrides: Partial<ScanDeps> = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<TestScan> {
  const directory = await quickFolder("scan-");
  const spool = overrides.spool ?? (await openSpool(directory));
  const watched = watchTransactions(database.db);
  const counted = countStatements(watched.db);
  const scan = await startScan({
    db: counted.db,
    turns: createTurns(overrides.db ?? counted.db, { connections: testConnections }),
    connection: database.connection,
    spool,
    store: createRecordStore(database.db, {
      classify: createClassifier(),
      geography: await openTables(),
      key: deviceKey,
    }),
    reader: lazyReader(undefined),
    deviceKey,
    passwordKey: Buffer.from(deviceKey, "hex"),
    sealKey: Buffer.from(deviceKey, "hex"),
    quarantineDirectory: directory,
    shortUrl: "https://go.example",
    baseUrl: "https://signpost.example",
    terms: defaultPlans,
    siteUrl: undefined,
    // The test's headers name the client and the host; trusted proxies have tests of their own.
    originOf: ({ headers }) => ({
      address: String(headers["x-test-address"] ?? "203.0.113.7"),
      host: headers.host,
      scheme: "https",
    }),
    now,
    // Long waits, so that a busy machine never makes a known visitor look new.
    patience: { catchUpMs: 20_000, lookUpMs: 20_000 },
    log: { warn: () => {}, error: () => {} },
    metrics: new Registry(),
    ...overrides,
  });
  const server = createServer(scan.handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP server's address is an AddressInfo
  atEnd(async () => {
    server.close();
    server.closeAllConnections();
    await scan.close();
    await spool.close();
    await rm(directory, { recursive: true, force: true });
    expect(watched.idle, "transactions that waited for something else").toEqual([]);
  });
  return {
    scan,
    spool,
    directory,
    port,
    statements: counted.count,
    ask: (path, ask) => send(port, path, ask),
    async drained() {
      if (!(await scan.drain.flush(20_000)))
        throw new Error(`${spool.depth()} visits are still in the spool`);
    },
  };
}

function send(port: number, path: string, { method = "GET", host = "go.example", ...ask }: Ask = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const headers = {
      host,
      ...(ask.address === undefined ? {} : { "x-test-address": ask.address }),
      ...ask.headers,
    };
    const sent = request({ port, host: "127.0.0.1", method, path, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        const { statusCode: status = 0, rawHeaders } = res;
        const flat = Object.entries(res.headers).map(([name, value]) => [name, value?.toString()]);
        resolve({
          status,
          headers: Object.fromEntries(flat),
          rawHeaders,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    sent.on("error", reject);
    sent.end(ask.body);
  });
}

function countStatements(db: Db): { db: Db; count: () => number } {
  let count = 0;
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => {
      count += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { db: db.withPlugin(counter), count: () => count };
}

export interface TestLink {
  readonly workspaceId: string;
  readonly id: string;
  readonly host: string;
  readonly shortlink: string;
  readonly entryStepId: string;
  readonly redirectStepId: string;
}

export interface LinkOptions {
  readonly workspaceId?: string;
  readonly destination?: string;
  readonly conversionTracking?: boolean;
  readonly fallback?: string;
  readonly expiresAt?: Date;
  readonly expiredDestination?: string;
  readonly isConnected?: boolean;
  readonly dataCollection?: "NONE" | "BASIC" | "ADVANCED";
  readonly environment?: "live" | "test";
  /** The link's custom domain, and the destination of the bare domain. */
  readonly domain?: { readonly name: string; readonly root?: string };
}

/** Inserts the rows of a workspace with its settings. */
export async function insertWorkspace(
  db: Db,
  { dataCollection = "ADVANCED", environment = "live" }: LinkOptions = {},
): Promise<string> {
  const at = new Date();
  const [id, settings] = [newId(at), newId(at)];
  await db
    .insertInto("workspaces")
    .values({ id, name: "Tested", link_setting_id: settings, environment, created_at: at, updated_at: at })
    .execute();
  await db
    .insertInto("link_settings")
    .values({
      workspace_id: id,
      id: settings,
      data_collection: dataCollection,
      created_at: at,
      updated_at: at,
    })
    .execute();
  return id;
}

/** Inserts the rows of a link, like those that the API would make. */
export async function insertLink(db: Db, options: LinkOptions = {}): Promise<TestLink> {
  const { destination = "https://example.com/menu", conversionTracking = false, domain } = options;
  const at = new Date();
  const workspaceId = options.workspaceId ?? (await insertWorkspace(db, options));
  const [id, entryStepId, redirectStepId] = [newId(at), newId(at), newId(at)];
  const domainId = domain === undefined ? null : await insertDomain(db, workspaceId, domain);
  const shortlink = `t${id.slice(-12)}`;
  const host = domain?.name ?? "";
  const owner = { workspace_id: workspaceId, link_id: id };
  const step = { ...owner, canvas_x: 0, canvas_y: 0, created_at: at, updated_at: at };
  await db
    .insertInto("links")
    .values({
      workspace_id: workspaceId,
      id,
      name: "Tested",
      shortlink,
      custom_domain_id: domainId,
      fallback_destination: options.fallback ?? "",
      expires_at: options.expiresAt ?? null,
      expired_destination: options.expiredDestination ?? "",
      qrcode_design_id: newId(at),
      created_at: at,
      updated_at: at,
    })
    .execute();
  await db
    .insertInto("shortlinks")
    .values({ ...owner, host, shortlink })
    .execute();
  await db
    .insertInto("workflow_steps")
    .values([
      { ...step, id: entryStepId, event_action: "LINK_VISIT", payload: "{}" },
      {
        ...step,
        id: redirectStepId,
        event_action: "CLIENT_REDIRECT",
        payload: JSON.stringify({ destination, conversionTracking }),
      },
    ])
    .execute();
  if (options.isConnected ?? true)
    await db
      .insertInto("workflow_connections")
      .values({ ...owner, step_id: entryStepId, branch_id: "next", next_step_id: redirectStepId })
      .execute();
  return { workspaceId, id, host, shortlink, entryStepId, redirectStepId };
}

async function insertDomain(
  db: Db,
  workspaceId: string,
  { name, root = "" }: { readonly name: string; readonly root?: string },
): Promise<string> {
  const at = new Date();
  const id = newId(at);
  await db
    .insertInto("custom_domains")
    .values({
      workspace_id: workspaceId,
      id,
      name,
      status: "ACTIVE",
      root_destination: root,
      created_at: at,
      updated_at: at,
    })
    .execute();
  await db
    .insertInto("domain_names")
    .values({ name, workspace_id: workspaceId, custom_domain_id: id })
    .execute();
  return id;
}
