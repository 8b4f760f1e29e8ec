import { setTimeout as pause } from "node:timers/promises";
import { pacedGets } from "./paced.ts";
import { atMost, atMostTimes, type Finding, inTurn, median, percentile, told } from "./report.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { call, createLinks, destinations, post } from "./visits.ts";

const jobLinks = 10_000;
const perSecond = 200;
/** How long visitors come before the job, in seconds. */
const calmSeconds = 5;

/** Many links by one call, compared with one link, and by one job, beside which visitors come. */
export async function manyRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  // Without the worker nobody draws images while calls are measured.
  const calls = await startServiceProcess({ env: { ROLES: "api" } });
  const called = await bulk(calls, quick ? 10 : 30).finally(() => calls.remove());
  const service = await startServiceProcess({ env: { BULK_JOB_LINKS_MAX: String(jobLinks) } });
  try {
    await createLinks(service);
    return [...called, ...(await job(service))];
  } finally {
    await service.remove();
  }
}

const destination = "https://example.com/menu";

function linksOf(count: number): object {
  return { links: Array.from({ length: count }, (_, index) => ({ destination: `${destination}/${index}` })) };
}

async function bulk(service: ServiceProcess, rounds: number): Promise<Finding[]> {
  const timed = (path: string, body: object) => async () => {
    const startedAt = performance.now();
    await post(service, path, body);
    return performance.now() - startedAt;
  };
  const one = timed("/v1/links", { destination });
  const findings: Finding[] = [];
  for (const count of [100, 250]) {
    const many = timed("/v1/links/bulk", linksOf(count));
    await inTurn(5, one, many);
    const { peer, ours } = await inTurn(rounds, one, many);
    const compared = { ours: median(ours), peer: median(peer), unit: "ms", budget: 12 };
    findings.push(atMostTimes(`POST /v1/links/bulk of ${count}, against one link`, compared));
  }
  return findings;
}

interface Job {
  readonly id: string;
  readonly completedAt?: string;
  readonly status: string;
}

async function job(service: ServiceProcess): Promise<Finding[]> {
  await drawn(service);
  const paths = destinations.map(([path]) => path);
  const visits = (seconds: number) =>
    pacedGets({ port: service.port, paths, perSecond, seconds, status: 302 });
  await visits(2);
  const calm = await visits(calmSeconds);
  const startedAt = performance.now();
  const { id } = await post<Job>(service, "/v1/links/bulk/jobs", linksOf(jobLinks));
  const beside: number[] = [];
  let state: Job;
  do {
    beside.push(...(await visits(1)));
    state = await call<Job>(service, "GET", `/v1/jobs/${id}`);
  } while (state.completedAt === undefined);
  if (state.status !== "JOB_STATUS_SUCCEEDED") throw new Error(`the job ended as ${state.status}`);
  const seconds = (performance.now() - startedAt) / 1000;
  const drawing = await visits(calmSeconds);
  const compared = { ours: median(beside), peer: median(calm), unit: "ms", budget: 1.2 };
  return [
    atMost(`a job of ${jobLinks.toLocaleString("en")} links`, { ours: seconds, unit: "s", budget: 20 }),
    atMostTimes(`  redirects beside it, ${perSecond} a second, median`, compared),
    told("  the same, 99 %", {
      ours: percentile(beside, 0.99),
      unit: "ms",
      peer: ms(percentile(calm, 0.99)),
    }),
    told("  while its images are drawn, median", {
      ours: median(drawing),
      unit: "ms",
      peer: ms(median(calm)),
    }),
  ];
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}

/** Waits until no image is left to draw, so that visits before the job have the machine to themselves. */
async function drawn(service: ServiceProcess): Promise<void> {
  const database = await service.database();
  for (;;) {
    const { rows } = await database.query(
      "select from graphile_worker.jobs where task_identifier = 'render-qrcode'",
    );
    if (rows.length === 0) return await database.end();
    await pause(200);
  }
}
