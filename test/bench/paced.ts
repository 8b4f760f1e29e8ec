import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export interface PacedLoad {
  readonly port: number;
  /** Asked for in turn. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
  /** What every answer must have. */
  readonly status: number;
}

/** Sends requests on a schedule, whether earlier ones were answered or not; how long each answer took, in milliseconds. */
export async function pacedGets({ port, paths, perSecond, seconds, status }: PacedLoad): Promise<number[]> {
  const agent = new http.Agent({ keepAlive: true });
  const answers: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * seconds; index++) {
    const due = startedAt + (index * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await pause(wait);
    answers.push(timedGet({ port, agent, path: paths[index % paths.length] ?? "/" }, status));
  }
  const times = await Promise.all(answers);
  agent.destroy();
  return times;
}

/** One GET; milliseconds until the head of its answer was there. */
export function timedGet(
  { port, path, agent }: { readonly port: number; readonly path: string; readonly agent: http.Agent },
  status: number,
): Promise<number> {
  return new Promise((settle, refuse) => {
    const sentAt = performance.now();
    const request = http.get(
      { host: "127.0.0.1", port, path, agent, headers: { "user-agent": browser } },
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

/** What visitors say that they come with. */
export const browser = "Mozilla/5.0 (X11; Linux x64; rv:132.0) Gecko/20100101 Firefox/132.0";
