import { setTimeout as pause } from "node:timers/promises";
import { atMost, type Finding, told } from "./report.ts";
import { megabytes, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { createLinks, visitRequests } from "./visits.ts";
import { wrk } from "./wrk.ts";

/** Growth below this, in megabytes, is the noise of one garbage collection. */
const noiseMb = 10;

/**
 * The resident memory of the service's own process, without the embedded database: after a million redirects, and its
 * growth after a million more. RSS counts pages shared with other processes in full, mostly node's program text. PSS
 * counts each of them by its share.
 */
export async function memoryRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const visits = quick ? 200_000 : 1_000_000;
  const service = await startServiceProcess();
  try {
    await createLinks(service);
    const requests = visitRequests(service.port);
    const atRest = await resident(service);
    await visit(service, requests, visits);
    const afterFirst = await resident(service);
    await visit(service, requests, visits);
    const afterSecond = await resident(service);
    const count = `${visits / 1000} thousand redirects`;
    return [
      atMost(`RSS after ${count}`, {
        ours: afterFirst.rss,
        peer: `${atRest.rss.toFixed(0)} MB at rest`,
        unit: "MB",
        budget: 150,
      }),
      told("  PSS", {
        ours: afterFirst.pss,
        peer: `${atRest.pss.toFixed(0)} MB at rest`,
        unit: "MB",
      }),
      atMost("  growth of RSS over as many again", {
        ours: afterSecond.rss - afterFirst.rss,
        unit: "MB",
        budget: noiseMb,
      }),
    ];
  } finally {
    await service.remove();
  }
}

async function visit(service: ServiceProcess, requests: string[], visits: number): Promise<void> {
  const until = (await service.metric("signpost_recorded_visits_total")) + visits;
  for (let done = 0; done < until; done = await service.metric("signpost_recorded_visits_total"))
    await wrk({ port: service.port, requests, connections: 64, seconds: 5 });
  await service.settle();
  await pause(2_000);
}

async function resident({ pid }: ServiceProcess): Promise<{ rss: number; pss: number }> {
  return {
    rss: await megabytes(`/proc/${pid}/status`, "VmRSS"),
    pss: await megabytes(`/proc/${pid}/smaps_rollup`, "Pss"),
  };
}
