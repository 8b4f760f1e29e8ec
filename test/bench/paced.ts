import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export interface PacedLoad {
  readonly port: number;
  /** The requested paths, in turn. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
  /** The status that every answer must have. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The milliseconds that count for a request with another answer, or none; without it such a request ends the load.
   */
  readonly refusedMs?: number;
}

/** Sends requests on a schedule, whether or not earlier ones were answered. Returns the milliseconds of each answer. */
export async function pacedGets({
  port,
  paths,
  perSecond,
  seconds,
  status,
  headers = {},
  refusedMs,
}: PacedLoad): Promise<number[]> {
  const agent = new http.Agent({ keepAlive: true });
  const answers: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * seconds; index++) {
    const due = startedAt + (index * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await pause(wait);
    const time = timedGet({ port, agent, headers, path: paths[index % paths.length] ?? "/" }, status);
    answers.push(refusedMs === undefined ? time : time.catch(() => refusedMs));
  }
  const times = await Promise.all(answers);
  agent.destroy();
  return times;
}

interface TimedGet extends Pick<PacedLoad, "port" | "headers"> {
  readonly path: string;
  readonly agent: http.Agent;
}

/** Sends one GET; returns the milliseconds until the head of its answer. */
export function timedGet({ port, path, agent, headers = {} }: TimedGet, status: number): Promise<number> {
  return new Promise((settle, refuse) => {
    const sentAt = performance.now();
    const request = http.get(
      { host: "127.0.0.1", port, path, agent, headers: { "user-agent": browser, ...headers } },
      (res) => {
        const ms = performance.now() - sentAt;
        res.resume();
        if (res.statusCode === status) settle(ms);
        else refuse(new Error(`${path} was answered ${res.statusCode}`));
      },
    );
    request.on("error", refuse);
  });
}

/** The user agent of visitors. */
export const browser = "Mozilla/5.0 (X11; Linux x64; rv:132.0) Gecko/20100101 Firefox/132.0";
