import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import type { Credentials } from "../../src/service/first-start.ts";
import { bundledService } from "./bundled-service.ts";
import { quickFolder } from "./quick-folder.ts";
import { copyTemplate, dropDatabase, emptyDatabase } from "./service-database.ts";

/** The repository's root. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Service {
  readonly baseUrl: string;
  readonly port: number;
  /** The address of its metrics. */
  readonly metricsUrl: string;
  readonly pid: number;
  readonly dataDir: string;
  /** The environment of the service, for commands on the same service. */
  readonly env: Readonly<Record<string, string>>;
  /** The contents of `credentials.json` after the first start. */
  readonly credentials: Credentials;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** The log so far, without lines that are no log lines. */
  log(): readonly LogLine[];
  /** Whether the process still runs. */
  alive(): boolean;
  /** Sends a signal without waiting for its effect. */
  signal(name: NodeJS.Signals): void;
  /** Sends a signal and waits for the end of the process. */
  kill(name: NodeJS.Signals): Promise<Exit>;
  /** Starts the program again on the same port, folder and database, after it has ended. */
  restart(env?: Readonly<Record<string, string>>): Promise<Service>;
  /** Ends the process and removes its database and folder. */
  stop(): Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One line of pino's output. */
export interface LogLine {
  readonly level: number;
  readonly msg?: string;
  readonly [name: string]: unknown;
}

export interface ServiceOptions {
  /**
   * `shared` (the default, and cheapest): a copy of the run's migrated template on the run's server. `own`: as for a
   * new user, on an embedded server of its own, or on an empty database when the run uses an external server.
   */
  readonly database?: "shared" | "own";
  /** The folder of a stopped service whose data the new one begins with. It goes with an `own` embedded server. */
  readonly dataFrom?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another process whose database this one shares; the database still belongs to that process. */
  readonly beside?: Service;
  /** Whether it leads a process group of its own, like a program that a shell starts in a terminal. */
  readonly ownGroup?: boolean;
  /** Whether the sources run, as by `npm start`; otherwise it is the bundle, as in production. */
  readonly fromSources?: boolean;
}

/** Whether the run uses a PostgreSQL that DATABASE_URL names. */
export const isExternalRun = (process.env.DATABASE_URL ?? "") !== "";

/** The master secret of services that share a server. */
export const sharedSecret = "a-master-secret-for-tests-of-the-whole-service";

/** Rate limits have tests of their own. */
const withoutLimits = { RATE_LIMIT_TOKEN: "0", RATE_LIMIT_PUBLISHABLE: "0", RATE_LIMIT_ANONYMOUS: "0" };

/** Tests need no network. At this name server's port nobody listens, so that questions fail at once. */
const withoutNameServers = { DNS_SERVERS: "127.0.0.1:9" };

const startMsMax = 100_000;

/** Starts the real program in a child process and waits until it is ready. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { database = "shared", env = {}, fromSources = false, beside, ownGroup = false, dataFrom } = options;
  const dataDir = await quickFolder("signpost-service-");
  const server = inject("databaseServer");
  const isEmbedded = database === "own" && !isExternalRun;
  if (isEmbedded && dataFrom !== undefined) execFileSync("cp", ["-a", `${dataFrom}/.`, dataDir]);
  const ownUrl =
    isEmbedded || beside !== undefined
      ? undefined
      : await (database === "own" ? emptyDatabase(server) : copyTemplate(server, inject("templateDatabase")));
  const url = ownUrl ?? beside?.env.DATABASE_URL;
  const bundle = fromSources ? undefined : await bundledService();
  const environment = {
    PATH: process.env.PATH ?? "",
    HOME: dataDir,
    // Any free port, which becomes part of its addresses.
    PORT: "0",
    METRICS_PORT: "0",
    DATA_DIR: dataDir,
    LOG_LEVEL: "info",
    DATABASE_POOL_SIZE: "5",
    ...(bundle && { NODE_COMPILE_CACHE: bundle.compileCache }),
    ...(url === undefined ? {} : { DATABASE_URL: url, SECRET: sharedSecret }),
    ...withoutLimits,
    ...withoutNameServers,
    ...env,
  };
  const remove = async () => {
    if (ownUrl !== undefined) await dropDatabase(server, ownUrl);
    await rm(dataDir, { recursive: true, force: true });
  };
  const program = bundle?.program ?? join(root, "src/main.ts");
  return launch(environment, { program, dataDir, remove, credentials: beside?.credentials, ownGroup });
}

interface Place {
  readonly program: string;
  readonly ownGroup: boolean;
  /** The credentials of the first process on the database, if this is another one. */
  readonly credentials: Credentials | undefined;
  readonly dataDir: string;
  readonly remove: () => Promise<void>;
}

async function launch(env: Record<string, string>, place: Place): Promise<Service> {
  const { program, dataDir, remove, ownGroup } = place;
  const child = spawn(process.execPath, [program], {
    cwd: dataDir,
    env,
    detached: ownGroup,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const endWithTest = () => child.kill("SIGKILL");
  process.once("exit", endWithTest);
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.stderr += text;
  });
  // "close" comes after the last output; "exit" may come before it.
  const closed = once(child, "close").then((): Exit => {
    process.off("exit", endWithTest);
    return { code: child.exitCode, signal: child.signalCode };
  });
  try {
    const { port, metricsPort } = await portsOf(child, printed);
    const kept = () => readFile(join(dataDir, "credentials.json"), "utf8");
    const service: Service = {
      baseUrl: `http://localhost:${port}`,
      port,
      metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
      pid: child.pid ?? 0,
      dataDir,
      env,
      credentials: place.credentials ?? JSON.parse(await kept()),
      stdout: () => printed.stdout,
      stderr: () => printed.stderr,
      log: () => logLines(printed.stdout),
      alive: () => isRunning(child),
      signal: (name) => void child.kill(name),
      kill: (name) => {
        child.kill(name);
        return closed;
      },
      restart: (changes = {}) => launch({ ...env, PORT: String(port), ...changes }, place),
      stop: async () => {
        child.kill("SIGTERM");
        await closed;
        await remove();
      },
    };
    return service;
  } catch (cause) {
    child.kill("SIGKILL");
    await closed;
    throw new Error(`the service did not start:\n${printed.stdout}${printed.stderr}`, { cause });
  }
}

interface Ports {
  readonly port: number;
  readonly metricsPort: number;
}

/** Waits for the line that announces the ports after the start. */
function portsOf(child: ChildProcess, printed: { readonly stdout: string }): Promise<Ports> {
  const { promise, resolve, reject } = Promise.withResolvers<Ports>();
  const timer = setTimeout(() => reject(new Error("it was not ready in time")), startMsMax);
  child.stdout?.on("data", () => {
    const line = logLines(printed.stdout).find(({ msg }) => msg === "ready");
    if (line !== undefined) resolve({ port: Number(line.port), metricsPort: Number(line.metricsPort) });
  });
  child.once("exit", () => reject(new Error("it ended")));
  return promise.finally(() => clearTimeout(timer));
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function logLines(stdout: string): LogLine[] {
  // The last line may be incomplete; lines of the greeting are no objects.
  const lines = stdout.slice(0, stdout.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line.startsWith('{"level"')).map((line) => JSON.parse(line));
}

/** Repeats an attempt until it succeeds; when that takes too long, fails with the last error. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isThere: (answer: T) => boolean,
  msMax = 60_000,
): Promise<T> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (performance.now() > deadline)
      throw new Error(`not there after ${msMax} ms: ${JSON.stringify(answer)}`);
    await pause(25);
  }
}
