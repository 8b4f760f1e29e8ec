import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Credentials } from "../../src/service/first-start.ts";

/** The program in a child process with an embedded database, as in production but without rate limits. */
export interface ServiceProcess {
  readonly port: number;
  readonly metricsUrl: string;
  readonly pid: number;
  readonly dataDir: string;
  readonly credentials: Credentials;
  /** Milliseconds from the start of the process to the first 200 of `/health/ready`. */
  readonly readyMs: number;
  /** One connection to the embedded database; it ends with the service, or when the caller ends it. */
  database(): Promise<pg.Client>;
  /** The sum of some figures of `/metrics`; each read costs the service a millisecond. */
  metric(...names: string[]): Promise<number>;
  /** Waits until every visit is in the database, for ten minutes at most. Returns how long that took. */
  settle(): Promise<number>;
  /** Sends a signal and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Ends the process and removes its folder. */
  remove(): Promise<void>;
}

export interface ServiceProcessOptions {
  /** The folder of an earlier process; a new folder when absent. */
  readonly dataDir?: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Another process whose database this one shares; it must outlive this one. */
  readonly beside?: ServiceProcess;
}

/** The bundle, as in production; `npm run bench` makes it first. */
const main = join(import.meta.dirname, "../../dist/service/main.js");
const readyMsMax = 120_000;
const settleMsMax = 600_000;

/** The flags of node that `npm start` has. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));
  return String(scripts.start).split(" ").slice(1, -1);
}

/** Starts the program and waits until it is ready. Its log goes to a file, as in production. */
export async function startServiceProcess(options: ServiceProcessOptions = {}): Promise<ServiceProcess> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "signpost-bench-"));
  const port = options.port ?? (await freePort());
  const metricsPort = await freePort();
  const logFile = join(dataDir, "log");
  const log = openSync(logFile, "a");
  const { beside } = options;
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...startFlags(), main], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH ?? "",
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      DATA_DIR: dataDir,
      RATE_LIMIT_TOKEN: "0",
      RATE_LIMIT_ANONYMOUS: "0",
      ...(beside && (await sharedEnvironment(beside))),
      ...options.env,
    },
    stdio: ["ignore", log, log],
  });
  const exited = once(child, "exit");
  const killWithUs = () => child.kill("SIGKILL");
  process.once("exit", killWithUs);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const readyMs = await whenReady(port, startedAt, isRunning).catch(async (cause: unknown) => {
    child.kill("SIGKILL");
    throw new Error(`the service did not start: ${(await readFile(logFile, "utf8")).slice(-2_000)}`, {
      cause,
    });
  });
  const metric = (...names: string[]) => readMetrics(metricsPort, names);
  return {
    port,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    pid: child.pid ?? 0,
    dataDir,
    credentials: beside?.credentials ?? JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8")),
    readyMs,
    database: () => connectTo(dataDir),
    metric,
    settle: () => settle(metric),
    async end(signal) {
      process.off("exit", killWithUs);
      child.kill(signal);
      await exited;
    },
    async remove() {
      process.off("exit", killWithUs);
      child.kill("SIGTERM");
      await exited;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The connection settings of a running service's embedded database. */
export function databaseOf(dataDir: string): pg.ClientConfig {
  return { host: join(dataDir, "postgres"), user: "signpost", database: "postgres" };
}

/** The environment with which a second process works on the embedded database of the first. */
export async function sharedEnvironment({
  dataDir,
}: Pick<ServiceProcess, "dataDir">): Promise<{ readonly DATABASE_URL: string; readonly SECRET: string }> {
  const folder = encodeURIComponent(join(dataDir, "postgres"));
  return {
    DATABASE_URL: `postgres://signpost@${folder}/postgres`,
    SECRET: (await readFile(join(dataDir, "secret"), "utf8")).trim(),
  };
}

async function connectTo(dataDir: string): Promise<pg.Client> {
  const client = new pg.Client(databaseOf(dataDir));
  // The connection breaks with the server, which some runs kill.
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function whenReady(port: number, startedAt: number, isRunning: () => boolean): Promise<number> {
  const deadline = startedAt + readyMsMax;
  while (isRunning() && performance.now() < deadline) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    // Without its database the service is degraded.
    if ((await answer?.text())?.includes('"ok"')) return performance.now() - startedAt;
    await pause(2);
  }
  throw new Error(isRunning() ? "it was not ready in time" : "it ended");
}

async function readMetrics(port: number, names: readonly string[]): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await answer.text();
  return names.reduce((sum, name) => {
    const line = new RegExp(`^${name} (\\S+)$`, "m").exec(text);
    if (line === null) throw new Error(`the service has no metric ${name}`);
    return sum + Number(line[1]);
  }, 0);
}

async function settle(metric: ServiceProcess["metric"]): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const left = await metric("signpost_spool_depth", "signpost_buffered_visits");
    const ms = performance.now() - startedAt;
    if (left === 0) return ms;
    if (ms > settleMsMax) throw new Error(`${left} visits were not in the database after ${settleMsMax} ms`);
    await pause(100);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("a server listens on no port");
  return address.port;
}

/** The processor time that a process has used, in milliseconds, over all threads. */
export async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // Fields 14 and 15, in ticks of 10 ms; the name in field 2 may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Reads a figure, in megabytes, of a file such as /proc/<pid>/status, whose lines are `Name:  123 kB`. */
export async function megabytes(file: string, name: string): Promise<number> {
  const handle = await open(file);
  try {
    const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(await handle.readFile("utf8"));
    if (line === null) throw new Error(`${file} has no ${name}`);
    return Number(line[1]) / 1024;
  } finally {
    await handle.close();
  }
}
