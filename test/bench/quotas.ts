import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { atLeast, type Finding, inTurn, medianOf } from "./report.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { postRequest } from "./visits.ts";
import { wrk } from "./wrk.ts";

const connections = 64;
const plenty = 2_000_000_000;
const limits = { PLATFORM_CREDITS: plenty, PUBLIC_API_CALLS: plenty, TRACKED_VISITS: plenty };

/** Making links where plans are in force, and each link is charged to its workspace, against making them freely. */
export async function quotasRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const off = await startServiceProcess({ env: { ROLES: "api" } });
  const plansFile = join(off.dataDir, "plans.json");
  writeFileSync(plansFile, JSON.stringify({ plans: { PRO: { limits } } }));
  const on = await startServiceProcess({ env: { ROLES: "api", PLANS: "on", PLANS_FILE: plansFile } });
  try {
    const seconds = quick ? 2 : 4;
    const load = (service: ServiceProcess) =>
      wrk({ port: service.port, requests: [createRequest(service)], connections, seconds });
    await inTurn(
      1,
      () => load(off),
      () => load(on),
    );
    const reports = await inTurn(
      quick ? 3 : 7,
      () => load(off),
      () => load(on),
    );
    const perSecond = (side: keyof typeof reports) =>
      medianOf(reports[side], (report) => report.requests / report.seconds);
    const figures = { ours: perSecond("ours"), peer: perSecond("peer"), unit: "/s", budget: 0.95 };
    return [atLeast("POST /v1/links with plans in force, against without", figures)];
  } finally {
    await on.remove();
    await off.remove();
  }
}

function createRequest({ port, credentials }: ServiceProcess): string {
  const headers = { Authorization: `Bearer ${credentials.accessToken}`, "Content-Type": "application/json" };
  return postRequest(port, "/v1/links", headers, JSON.stringify({ destination: "https://example.com/menu" }));
}
