import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repository } from "./run.ts";

/** A service for testing clients. */
export interface Service {
  readonly url: string;
  readonly token: string;
  stop(): Promise<void>;
}

const startMsMax = 30_000;

/** The service at SIGNPOST_URL with SIGNPOST_TOKEN, or one that is started on an empty folder. */
export async function openService(): Promise<Service> {
  return namedService() ?? (await startService());
}

function namedService(): Service | undefined {
  const { SIGNPOST_URL: url, SIGNPOST_TOKEN: token } = process.env;
  return url && token ? { url, token, stop: async () => {} } : undefined;
}

async function startService(): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), "signpost-sdk-"));
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: repository,
    env: { PATH: process.env.PATH, HOME: dataDir, DATA_DIR: dataDir, PORT: "0", RATE_LIMIT_TOKEN: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const stop = async () => {
    child.kill("SIGTERM");
    await closed;
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await untilReady(child);
    const { baseUrl, accessToken } = JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8"));
    return { url: baseUrl, token: accessToken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    if (printed.includes('"msg":"ready"')) resolve();
  });
  child.once("exit", () => reject(new Error(`the service ended before it was ready:\n${printed}`)));
  const timer = setTimeout(
    () => reject(new Error(`the service was not ready in time:\n${printed}`)),
    startMsMax,
  );
  await promise.finally(() => clearTimeout(timer));
}
