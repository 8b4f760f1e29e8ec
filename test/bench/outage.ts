import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { cutOff } from "../support/cut-off.ts";
import { endOf, makeLongJourney, travel, wrongJourneys } from "../support/long-journey.ts";
import { type RestApi, restApi } from "../support/rest-api.ts";
import type { MadeWorkflow } from "../support/workflows.ts";
import { atMost, type Finding, holds, percentile, told } from "./report.ts";
import { megabytes, type ServiceProcess, sharedEnvironment, startServiceProcess } from "./service-process.ts";

/** How many visitors are on their way at a time, and how long each of them waits before the next one comes. */
const visitors = 10;
const betweenMs = 1_500;

/**
 * Takes the database away for some minutes, while visitors go through a PIN, a form, a condition, a choice and a
 * redirect. Checks that all of them arrive, that callers of the API are told to come back, and that afterwards each
 * visit is stored once and in order.
 */
export async function outageRow(options: {
  readonly quick: boolean;
  readonly minutes?: string | undefined;
}): Promise<Finding[]> {
  const minutes = Number(options.minutes ?? (options.quick ? 0.25 : 1));
  // The first process keeps the database, and tells what is in it.
  const keeper = await startServiceProcess();
  const way = await cutOff((await sharedEnvironment(keeper)).DATABASE_URL);
  const service = await startServiceProcess({ beside: keeper, env: { DATABASE_URL: way.url } });
  try {
    const api = restApi(`http://127.0.0.1:${keeper.port}`, keeper.credentials.accessToken);
    const link = await makeLongJourney(api);
    const load = startTravellers(service.port, link);
    await pause(5_000);
    const before = await resident(service);
    way.cut();
    await untilStatus(service, "degraded");
    const watch = await watchOutage(service, minutes * 60_000);
    const after = await resident(service);
    const spooled = { visits: await service.metric("signpost_spool_depth"), mb: await spoolMb(service) };
    way.mend();
    const mendedAt = performance.now();
    await untilStatus(service, "ok");
    await load.stop();
    await service.settle();
    const caughtUp = (performance.now() - mendedAt) / 1000;
    return [
      told(`journeys with the database away for ${minutes} minutes`, { ours: load.emails.length, unit: "" }),
      told("  p50 of a journey of seven requests", { ours: percentile(load.tookMs, 0.5), unit: "ms" }),
      told("  p99", { ours: percentile(load.tookMs, 0.99), unit: "ms" }),
      holds("  journeys that arrived", load.astray.length === 0, outOf(load.astray, load.emails)),
      ...watch,
      told("  records in the spool at the end", { ours: spooled.visits, unit: "" }),
      told("  its size", { ours: spooled.mb, unit: "MB" }),
      atMost("  growth of RSS", {
        ours: after - before,
        peer: `from ${before.toFixed(0)} MB`,
        unit: "MB",
        budget: 100,
      }),
      atMost("  until all was stored, after the database came back", {
        ours: caughtUp,
        unit: "s",
        budget: Math.max(30, minutes * 12),
      }),
      await wrongOnes(api, link, load.emails),
    ];
  } finally {
    await service.remove();
    await way.close();
    await keeper.remove();
  }
}

async function wrongOnes(api: RestApi, link: MadeWorkflow, emails: readonly string[]): Promise<Finding> {
  const wrong = await wrongJourneys(api, link, emails);
  for (const words of wrong.slice(0, 10)) console.error(words);
  return holds("  visits stored once and in order", wrong.length === 0, outOf(wrong, emails));
}

function outOf(wrong: readonly string[], all: readonly string[]): string {
  return `${all.length - wrong.length} of ${all.length}`;
}

interface Travellers {
  readonly emails: readonly string[];
  readonly tookMs: readonly number[];
  /** The journeys that ended elsewhere or not at all. */
  readonly astray: readonly string[];
  stop(): Promise<void>;
}

function startTravellers(port: number, link: MadeWorkflow): Travellers {
  const emails: string[] = [];
  const tookMs: number[] = [];
  const astray: string[] = [];
  let isStopped = false;
  const all = Array.from({ length: visitors }, async (_, lane) => {
    await pause((lane * betweenMs) / visitors);
    while (!isStopped) {
      const email = `v${emails.length}@example.com`;
      emails.push(email);
      const startedAt = performance.now();
      const end = await travel(port, link, email).catch(String);
      tookMs.push(performance.now() - startedAt);
      if (end !== endOf(email)) {
        astray.push(email);
        console.error(`${email} arrived at ${end.slice(0, 200)}`);
      }
      await pause(betweenMs);
    }
  });
  return {
    emails,
    tookMs,
    astray,
    async stop() {
      isStopped = true;
      await Promise.all(all);
    },
  };
}

/** Asks once a second, until the time is over, whether the service is degraded and the API tells callers to retry. */
async function watchOutage(service: ServiceProcess, ms: number): Promise<Finding[]> {
  const until = performance.now() + ms;
  let asked = 0;
  let retried = 0;
  let degraded = 0;
  while (performance.now() < until) {
    asked += 1;
    const call = await fetch(`http://127.0.0.1:${service.port}/v1/links`, {
      headers: { authorization: `Bearer ${service.credentials.accessToken}` },
    });
    await call.body?.cancel();
    if (call.status === 503 && Number(call.headers.get("retry-after")) > 0) retried += 1;
    else console.error(`the API answered ${call.status}`);
    if ((await readiness(service)) === "200 degraded") degraded += 1;
    await pause(1_000);
  }
  return [
    holds("  calls told to come back (503, Retry-After)", retried === asked, `${retried} of ${asked}`),
    holds("  readiness degraded", degraded === asked, `${degraded} of ${asked}`),
  ];
}

async function readiness({ port }: ServiceProcess): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
  const { status } = (await answer.json()) as { status: string }; // the port's own
  return `${answer.status} ${status}`;
}

async function untilStatus(service: ServiceProcess, status: string): Promise<void> {
  while (!(await readiness(service)).endsWith(status)) await pause(50);
}

function resident({ pid }: ServiceProcess): Promise<number> {
  return megabytes(`/proc/${pid}/status`, "VmRSS");
}

async function spoolMb({ dataDir }: ServiceProcess): Promise<number> {
  const folder = join(dataDir, "spool");
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0) / 1024 / 1024;
}
