import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { repository } from "./run.ts";

/** A service for testing clients. */
export interface Service {
  readonly url: string;
  readonly token: string;
  stop(): Promise<void>;
}

/** The environment of a journey: a workspace of its own on a service, with a token and an administrator. */
export type JourneyEnvironment = Readonly<
  Record<
    "SIGNPOST_URL" | "SIGNPOST_TOKEN" | "SIGNPOST_AUTH_URL" | "SIGNPOST_EMAIL" | "SIGNPOST_PASSWORD",
    string
  >
>;

/** A service whose log is read. */
export interface StartedService extends Service {
  /** Makes a workspace, as the operator does. */
  newWorkspace(): Promise<JourneyEnvironment>;
  /** What it has answered since this was last asked: operations and codes, `signpost.v1.LinksService/Create OK`. */
  takeAnswers(): ReadonlySet<string>;
}

const execute = promisify(execFile);
const startMsMax = 60_000;

/** The service at SIGNPOST_URL with SIGNPOST_TOKEN, or one that is started on an empty folder. */
export async function openService(): Promise<Service> {
  return namedService() ?? (await startService());
}

function namedService(): Service | undefined {
  const { SIGNPOST_URL: url, SIGNPOST_TOKEN: token } = process.env;
  return url && token ? { url, token, stop: async () => {} } : undefined;
}

/** A service that is started on an empty folder. */
export async function startService(): Promise<StartedService> {
  const dataDir = await mkdtemp(join(tmpdir(), "signpost-sdk-"));
  const env = {
    PATH: process.env.PATH,
    HOME: dataDir,
    DATA_DIR: dataDir,
    PORT: "0",
    RATE_LIMIT_TOKEN: "0",
    // Nobody is asked about the domain that a journey brings.
    DNS_SERVERS: "127.0.0.1:9",
  };
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: repository,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const stop = async () => {
    child.kill("SIGTERM");
    await closed;
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const answers = await readyWithLog(child);
    const takeAnswers = () => {
      const taken = new Set(answers);
      answers.clear();
      return taken;
    };
    const { baseUrl, accessToken } = JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8"));
    const newWorkspace = () => createWorkspace(baseUrl, env);
    return { url: baseUrl, token: accessToken, newWorkspace, takeAnswers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createWorkspace(baseUrl: string, env: NodeJS.ProcessEnv): Promise<JourneyEnvironment> {
  const asked = ["--name", "Journey", "--email", `${crypto.randomUUID()}@example.com`];
  const command = ["src/cli/signpost.ts", "workspace", "create", ...asked];
  const { stdout } = await execute(process.execPath, command, { cwd: repository, env });
  const { accessToken, email, password } = JSON.parse(stdout);
  return {
    SIGNPOST_URL: baseUrl,
    SIGNPOST_TOKEN: accessToken,
    SIGNPOST_AUTH_URL: `${baseUrl}/auth`,
    SIGNPOST_EMAIL: email,
    SIGNPOST_PASSWORD: password,
  };
}

/** Waits until the service is ready, and goes on to note what it answers. */
async function readyWithLog(child: ChildProcessByStdio<null, Readable, null>): Promise<Set<string>> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const answers = new Set<string>();
  let printed = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.includes('"msg":"ready"')) resolve();
    if (line.includes('"msg":"call"')) {
      const { method, code } = JSON.parse(line);
      answers.add(`${method} ${code}`);
    } else printed += `${line}\n`;
  });
  child.once("exit", () => reject(new Error(`the service ended before it was ready:\n${printed}`)));
  const timer = setTimeout(
    () => reject(new Error(`the service was not ready in time:\n${printed}`)),
    startMsMax,
  );
  await promise.finally(() => clearTimeout(timer));
  return answers;
}
