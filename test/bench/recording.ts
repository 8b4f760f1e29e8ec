import { setTimeout as pause } from "node:timers/promises";
import { atLeast, atMost, type Finding, holds, told } from "./report.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { createLinks, visitRequests } from "./visits.ts";
import { wrk } from "./wrk.ts";

const perSecond = 10_000;
const connections = 64;

/**
 * Sends ten thousand redirects a second for a minute. Checks that the drain keeps up, and that the database has every
 * visit once.
 */
export async function recordingRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  try {
    await createLinks(service);
    const requests = visitRequests(service.port);
    // The first seconds compile code; the other rows warm up in the same way.
    await wrk({ port: service.port, requests, connections, seconds: 3, perSecond: perSecond / 2 });
    await service.settle();
    const before = await countEvents(service);
    const ended = { value: false };
    const deepest = watchDepth(service, ended);
    const report = await wrk({
      port: service.port,
      requests,
      connections,
      perSecond: perSecond * 1.02,
      seconds: quick ? 10 : 60,
    });
    ended.value = true;
    const settledMs = await service.settle();
    const events = (await countEvents(service)) - before;
    // At its end wrk leaves up to one request per connection unanswered, and such a visit is counted too.
    const surplus = events - report.requests;
    return [
      atLeast(`redirects sustained for ${report.seconds.toFixed(0)} s`, {
        ours: report.requests / report.seconds,
        peer: perSecond,
        unit: "/s",
        budget: 1,
      }),
      told("  p99", { ours: report.p99Ms, unit: "ms" }),
      told("  visits not yet in the database, at most", { ours: await deepest, unit: "visits" }),
      atMost("  until all were, after the end", { ours: settledMs / 1000, unit: "s", budget: 5 }),
      holds(
        "  every answered visit in the database, once",
        surplus >= 0 && surplus <= connections,
        `${events} of ${report.requests}`,
      ),
    ];
  } finally {
    await service.remove();
  }
}

async function watchDepth(service: ServiceProcess, ended: { readonly value: boolean }): Promise<number> {
  let deepest = 0;
  while (!ended.value) {
    deepest = Math.max(deepest, await service.metric("signpost_spool_depth"));
    await pause(250);
  }
  return deepest;
}

/** The number of events in the database; their primary key makes each id unique. */
export async function countEvents(service: ServiceProcess): Promise<number> {
  const client = await service.database();
  const { rows } = await client.query("select count(*)::int as count from events");
  await client.end();
  return rows[0]?.count ?? 0;
}
