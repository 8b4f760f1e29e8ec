import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makePages, startPages, whatIsWrong } from "../support/page-load.ts";
import { restApi } from "../support/rest-api.ts";
import { alignColumns } from "./report.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { getRequest, post } from "./visits.ts";
import { startWrk } from "./wrk.ts";

/*
 * Kills the service, and separately its PostgreSQL, again and again under the load of 64 connections. Then it checks
 * that every visitor who got a 302 is in the database once: `node test/bench/durability.ts`, `--rounds 3` for a short
 * run, `--pages` without this first part.
 *
 * Then it does the same with 200 visitors at a time (`--visitors`) who answer three pages each, and kills both at once. Every answer that a visitor saw accepted
 * must be in the visitor's profile once.
 *
 * Each visit has a unique number in its query, which becomes part of the event's destination, and the 302 names the
 * event by its lbid. So the check compares the clients' answers and the database visit by visit.
 */
const connections = 64;
const linkCount = 10;
/** Longer than any run; the load is stopped when the rounds are over. */
const loadSeconds = 900;

/** A 302 as the client received it. */
interface Received {
  readonly eventId: string;
  readonly atMs: number;
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Verdict {
  readonly killed: string;
  readonly rounds: number;
  readonly received: number;
  readonly found: number;
  readonly missing: number;
  readonly double: number;
  readonly whileDown: number;
  readonly downMs: number;
  readonly refused: number;
}

/** One run: start the load, kill `rounds` times, stop the load, compare. */
async function judge(killed: "service" | "PostgreSQL", rounds: number): Promise<Verdict> {
  let service = await startServiceProcess();
  const folder = await mkdtemp(join(tmpdir(), "signpost-durability-"));
  try {
    await makeLinks(service);
    const requests = join(folder, "requests");
    const receivedFile = join(folder, "received");
    await writeFile(requests, markedRequests(service.port).join("\0"));
    const options = [requests, receivedFile];
    const load = startWrk({
      port: service.port,
      connections,
      seconds: loadSeconds,
      script: "marked.lua",
      options,
    });
    const down: Window[] = [];
    for (let round = 0; round < rounds; round++) {
      // The pause varies, so that kills hit different points of a batch.
      await pause(700 + 137 * (round % 7));
      const fromMs = Date.now();
      if (killed === "service") {
        await service.end("SIGKILL");
        const { dataDir, port } = service;
        service = await startServiceProcess({ dataDir, port });
      } else {
        await killPostgres(service);
      }
      down.push({ fromMs, toMs: Date.now() });
    }
    await pause(1_000);
    load.stop();
    const { refused } = JSON.parse(await load.ended);
    await service.settle();
    const received = readReceived(await readFile(receivedFile, "latin1"));
    return { killed, rounds, refused, ...(await compare(service, received)), ...countDown(received, down) };
  } finally {
    await service.remove();
    await rm(folder, { recursive: true });
  }
}

async function makeLinks(service: ServiceProcess): Promise<void> {
  for (let index = 0; index < linkCount; index++)
    await post(service, "/v1/links", {
      destination: `https://example.com/${index}`,
      shortlink: `durable-${index}`,
      conversionTracking: true,
    });
}

function markedRequests(port: number): string[] {
  return Array.from({ length: linkCount }, (_, index) =>
    getRequest(port, `/durable-${index}?m=MARKER`, {
      "User-Agent": `Mozilla/5.0 (X11; Linux x86_64; rv:13${index}.0) Gecko/20100101 Firefox/13${index}.0`,
      "Accept-Language": "en",
    }),
  );
}

/** Kills the server as a crash would, and waits until the service has restarted it. */
async function killPostgres(service: ServiceProcess, waits = true): Promise<void> {
  const [pid] = (await readFile(join(service.dataDir, "postgres/postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  if (!waits) return;
  // A connection that the server accepted before may still look alive for a moment.
  await pause(50);
  for (;;) {
    try {
      const client = await service.database();
      await client.query("select from links limit 1");
      await client.end();
      return;
    } catch {
      await pause(10);
    }
  }
}

/** Reads visits by their number. Lines are `<microseconds> <location>`. */
function readReceived(lines: string): Map<number, Received> {
  const received = new Map<number, Received>();
  for (const [, time, marker, lbid = ""] of lines.matchAll(/^(\d+) \S+[?&]m=(\d+)&lbid=(\S+)$/gm))
    received.set(Number(marker), {
      eventId: Buffer.from(lbid, "base64url").toString("hex"),
      atMs: Number(time) / 1_000,
    });
  const lineCount = lines.split("\n").length - 1;
  if (received.size !== lineCount)
    throw new Error(`${lineCount - received.size} answers were not understood`);
  return received;
}

async function compare(service: ServiceProcess, received: ReadonlyMap<number, Received>) {
  const client = await service.database();
  const { rows } = await client.query<{ id: string; marker: number }>(
    `select replace(id::text, '-', '') as id, substring(destination from '[?&]m=(\\d+)')::int as marker from events`,
  );
  await client.end();
  const times = new Map<number, number>();
  let found = 0;
  for (const { id, marker } of rows) {
    times.set(marker, (times.get(marker) ?? 0) + 1);
    if (received.get(marker)?.eventId === id) found += 1;
  }
  const double = [...times.values()].filter((count) => count > 1).length;
  return { received: received.size, found, missing: received.size - found, double };
}

function countDown(received: ReadonlyMap<number, Received>, windows: readonly Window[]) {
  let whileDown = 0;
  for (const { atMs } of received.values())
    if (windows.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs)) whileDown += 1;
  const downMs = windows.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return { whileDown, downMs };
}

function describe(verdict: Verdict): string[] {
  const { killed, rounds, received, found, missing, double, whileDown, downMs, refused } = verdict;
  return [
    `${rounds} × ${killed}`,
    ...[received, found, missing, double].map(String),
    killed === "service" ? "" : String(whileDown),
    `${Math.round(downMs / rounds)} ms`,
    String(refused),
  ];
}

/** The result of a run in which visitors answered three pages each, many at a time. */
interface PageVerdict {
  readonly killed: string;
  readonly finished: number;
  readonly accepted: number;
  readonly settledMs: number;
  readonly wrong: readonly string[];
}

/** Makes a run with visits of three pages. Every answer that a visitor saw accepted must be in the profile once. */
async function judgePages(
  killed: readonly ("service" | "PostgreSQL")[],
  rounds: number,
  visitors: number,
): Promise<PageVerdict> {
  let service = await startServiceProcess();
  try {
    const { port, dataDir, credentials } = service;
    const api = restApi(`http://127.0.0.1:${port}`, credentials.accessToken);
    const load = startPages(port, await makePages(api), visitors);
    for (let round = 0; round < rounds; round++) {
      await pause(1_500 + 137 * (round % 7));
      if (killed.includes("PostgreSQL")) await killPostgres(service, !killed.includes("service"));
      if (!killed.includes("service")) continue;
      await service.end("SIGKILL");
      service = await startServiceProcess({ dataDir, port });
    }
    await pause(1_000);
    await load.stop();
    const settledMs = await service.settle();
    const accepted = [...load.accepted.values()].reduce((sum, pages) => sum + pages.length, 0);
    const wrong = await whatIsWrong(api, load);
    console.error(`${killed.join(" and ")}: ${accepted} answers, ${wrong.length} missing or double`);
    return { killed: killed.join(" and "), finished: load.finished.size, accepted, settledMs, wrong };
  } finally {
    await service.remove();
  }
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    visitors: { type: "string", default: "200" },
    pages: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const verdicts = values.pages ? [] : [await judge("service", rounds), await judge("PostgreSQL", rounds)];
const head = ["kill -9", "302s", "events", "missing", "double", "302s while down", "down each", "refused"];
if (!values.pages) console.log(alignColumns([head, ...verdicts.map(describe)]));
const isKept = verdicts.every(
  ({ received, missing, double }) => received > 0 && missing === 0 && double === 0,
);
const pageVerdicts: PageVerdict[] = [];
for (const killed of [["service"], ["PostgreSQL"], ["PostgreSQL", "service"]] as const)
  pageVerdicts.push(await judgePages(killed, rounds, Number(values.visitors)));
const pageHead = ["kill -9, three pages", "visits", "answers", "missing or double", "settled after"];
const rows = pageVerdicts.map(({ killed, finished, accepted, settledMs, wrong }) => [
  `${rounds} × ${killed}, ${values.visitors} visitors`,
  ...[finished, accepted, wrong.length].map(String),
  `${(settledMs / 1000).toFixed(1)} s`,
]);
console.log(alignColumns([pageHead, ...rows]));
for (const { wrong } of pageVerdicts) for (const words of wrong.slice(0, 10)) console.log(words);
process.exit(
  isKept && pageVerdicts.every(({ finished, wrong }) => finished > 0 && wrong.length === 0) ? 0 : 1,
);
