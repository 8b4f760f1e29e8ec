import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export interface Load {
  readonly port: number;
  /** Whole HTTP/1.1 requests, sent in turn. */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Requests per second; without it, as many as the server answers. */
  readonly perSecond?: number;
}

export interface LoadReport {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Loads a port of this machine with wrk on one thread. Throws when an answer has a status of 400 or above. */
export async function wrk(load: Load): Promise<LoadReport> {
  const folder = await mkdtemp(join(tmpdir(), "signpost-load-"));
  try {
    const file = join(folder, "requests");
    await writeFile(file, load.requests.join("\0"));
    const { ended } = startWrk({ ...load, script: "load.lua", options: [file, String(load.perSecond ?? 0)] });
    const { requests, seconds, p50Ms, p99Ms, maxMs, refused, broken } = JSON.parse(await ended);
    if (refused > 0 || broken > 0)
      throw new Error(
        `of ${requests} requests ${refused} were refused, and ${broken} times a connection broke`,
      );
    return { requests, seconds, p50Ms, p99Ms, maxMs };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export interface RunningLoad {
  /** The last line that wrk printed. */
  readonly ended: Promise<string>;
  /** Ends wrk early, with a normal report. */
  stop(): void;
}

export interface ScriptedLoad extends Pick<Load, "port" | "connections" | "seconds"> {
  /** The name of a script in this folder. */
  readonly script: string;
  readonly options: readonly string[];
}

/** Starts wrk on one thread with a script that prints one line of JSON. */
export function startWrk({ port, connections, seconds, script, options }: ScriptedLoad): RunningLoad {
  const child = spawn(
    "wrk",
    [
      ...["-t", "1", "-c", String(connections), "-d", `${seconds}s`, "--timeout", "10s"],
      ...["-s", join(import.meta.dirname, script), `http://127.0.0.1:${port}`, "--", ...options],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const stopWithUs = () => child.kill();
  process.once("exit", stopWithUs);
  const printed = Promise.all([text(child.stdout), once(child, "exit")]).catch((cause: unknown) => {
    throw new Error("wrk makes the load: on Debian, apt-get install wrk", { cause });
  });
  const ended = printed.then(([output]) => {
    process.off("exit", stopWithUs);
    const line = output.trimEnd().split("\n").at(-1) ?? "";
    if (child.exitCode !== 0 || !line.startsWith("{")) throw new Error(`wrk failed: ${output}`);
    return line;
  });
  return { ended, stop: () => child.kill("SIGINT") };
}
