import { pacedGets } from "./paced.ts";
import { startPeer } from "./peer-process.ts";
import { atLeast, atMost, atMostTimes, type Finding, inTurn, medianOf, percentile, told } from "./report.ts";
import { processorMs, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { createLinks, destinations, visitRequests } from "./visits.ts";
import { type LoadReport, wrk } from "./wrk.ts";

const connections = 64;
const pacedPerSecond = 200;

/**
 * Recorded redirects, compared with a bare 302 from a map: at full load, and at a load that leaves both mostly idle.
 */
export async function redirectRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  const bare = await startPeer("bare-redirect.ts", { destinations });
  try {
    await createLinks(service);
    return [
      ...(await fullLoad(service, bare, { rounds: quick ? 3 : 5, seconds: quick ? 3 : 4 })),
      await lightLoad(service, bare, { windows: quick ? 2 : 8, seconds: 2.5 }),
    ];
  } finally {
    await Promise.all([bare.end(), service.remove()]);
  }
}

type Server = Pick<ServiceProcess, "port" | "pid">;
type MeasuredLoad = LoadReport & { readonly microseconds: number };

async function fullLoad(
  service: ServiceProcess,
  bare: Server,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Finding[]> {
  const requests = visitRequests(service.port);
  const load = async ({ port, pid }: Server): Promise<MeasuredLoad> => {
    const before = await processorMs(pid);
    const report = await wrk({ port, requests, connections, seconds });
    return { ...report, microseconds: (((await processorMs(pid)) - before) * 1000) / report.requests };
  };
  const ours = async () => {
    const report = await load(service);
    await service.settle();
    return report;
  };
  await inTurn(1, () => load(bare), ours);
  const reports = await inTurn(rounds, () => load(bare), ours);
  const perSecond = (report: LoadReport) => report.requests / report.seconds;
  const cost = (report: MeasuredLoad) => report.microseconds;
  return [
    atLeast("recorded redirect, 64 connections", {
      ours: medianOf(reports.ours, perSecond),
      peer: medianOf(reports.peer, perSecond),
      unit: "/s",
      budget: 0.33,
    }),
    atMost("  p99", {
      ours: medianOf(reports.ours, ({ p99Ms }) => p99Ms),
      peer: `${medianOf(reports.peer, ({ p99Ms }) => p99Ms).toFixed(2)} ms`,
      unit: "ms",
      budget: 12,
    }),
    told("  processor time of the process a redirect", {
      ours: medianOf(reports.ours, cost),
      peer: `${medianOf(reports.peer, cost).toFixed(1)} µs`,
      unit: "µs",
    }),
  ];
}

async function lightLoad(
  service: ServiceProcess,
  bare: Server,
  { windows, seconds }: { readonly windows: number; readonly seconds: number },
): Promise<Finding> {
  const paths = destinations.map(([path]) => path);
  const load = ({ port }: Server) =>
    pacedGets({ port, paths, perSecond: pacedPerSecond, seconds, status: 302 });
  const times = await inTurn(
    windows,
    () => load(bare),
    () => load(service),
  );
  return atMostTimes(`p99 at ${pacedPerSecond} requests a second`, {
    ours: percentile(times.ours.flat(), 0.99),
    peer: percentile(times.peer.flat(), 0.99),
    unit: "ms",
    budget: 2,
  });
}
