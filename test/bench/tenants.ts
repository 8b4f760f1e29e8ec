import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { insertFatRecords } from "../support/fat-records.ts";
import { pacedGets } from "./paced.ts";
import { atMostTimes, type Finding, percentile, told } from "./report.ts";
import {
  processorMs,
  type ServiceProcess,
  sharedEnvironment,
  startServiceProcess,
} from "./service-process.ts";
import { createLinks, destinations, getRequest, post, postRequest } from "./visits.ts";
import { startWrk } from "./wrk.ts";

/** A secret token's default calls per second. */
const allowance = 100;
const redirectsPerSecond = 200;
const readsPerSecond = 20;

/**
 * Two tenants on one process with its default limits. One makes each expensive call as often as it may; the other's
 * redirects and reads are compared with those of a quiet time just before.
 */
export async function tenantsRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess({ env: { RATE_LIMIT_TOKEN: String(allowance) } });
  try {
    const abuser = await newTenant(service);
    await createLinks(service);
    const { link } = await post<{ link: { id: string } }>(service, "/v1/links", {
      destination: "https://example.com/",
    });
    const seconds = quick ? 4 : 15;
    const findings: Finding[] = [];
    for (const [what, request] of Object.entries(abuses(service.port, abuser))) {
      // What only first calls cost is no matter of two tenants.
      await (await startAbuse(service.port, request, 1)).ended();
      await untilIdle(service);
      const quiet = await measure(service, link.id, seconds);
      const abuse = await startAbuse(service.port, request, seconds + 2);
      const beside = await measure(service, link.id, seconds);
      findings.push(...compared(what, quiet, beside), await abuse.ended());
      await untilIdle(service);
    }
    return findings;
  } finally {
    await service.remove();
  }
}

interface Tenant {
  readonly token: string;
}

/** Makes a workspace whose records are as large as allowed. */
async function newTenant(service: ServiceProcess): Promise<Tenant> {
  const shared = await sharedEnvironment(service);
  const env = { ...process.env, ...shared, DATA_DIR: service.dataDir };
  const program = join(import.meta.dirname, "../../src/cli/signpost.ts");
  const args = [program, "workspace", "create", "--name", "Loud", "--email", "loud@example.com"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const [token = "", claims = ""] = /eyJ[\w-]+\.([\w-]+)\.[\w-]+/.exec(stdout) ?? [];
  const { workspace_id: workspaceId } = JSON.parse(Buffer.from(claims, "base64url").toString());
  await insertFatRecords(shared.DATABASE_URL, workspaceId);
  return { token };
}

/** The most expensive calls, each as the request that makes it. */
function abuses(port: number, { token }: Tenant): Readonly<Record<string, string>> {
  const headers = { Authorization: `Bearer ${token}` };
  const json = { ...headers, "Content-Type": "application/json" };
  const get = (path: string) => getRequest(port, path, headers);
  const everything = ["visitor", "device", "link", "workspace", "leadScore", "journey", "traces"];
  return {
    "pages of events with everything": get(
      `/v1/events?pageSize=1000&${everything.map((name) => `include=${name}`).join("&")}`,
    ),
    "visitors as CSV": get("/v1/visitors?pageSize=200&responseFormat=RESPONSE_FORMAT_CSV&include=devices"),
    "visitors by number of visits": get("/v1/visitors?pageSize=200&sortField=VISITOR_SORT_FIELD_VISIT_COUNT"),
    "search in all attributes": postRequest(
      port,
      "/v1/visitors/search",
      json,
      JSON.stringify({ search: "nobody has this" }),
    ),
    "bodies of 1 MB that are refused": postRequest(
      port,
      "/v1/links",
      json,
      JSON.stringify({ destination: "https://example.com/", tags: Array(100_000).fill("a tag") }),
    ),
    "codes to draw and check": postRequest(
      port,
      "/v1/public/qrcode-designs",
      json,
      JSON.stringify({ width: 1000 }),
    ),
  };
}

/** Waits until the work that the loud tenant left behind is done. */
async function untilIdle(service: ServiceProcess): Promise<void> {
  const deadline = performance.now() + idleMsMax;
  for (let used = Number.POSITIVE_INFINITY; used > 50 && performance.now() < deadline; ) {
    const before = await processorMs(service.pid);
    await pause(500);
    used = (await processorMs(service.pid)) - before;
  }
}

const idleMsMax = 60_000;

interface Times {
  readonly redirects: readonly number[];
  readonly reads: readonly number[];
}

async function measure(
  { port, credentials }: ServiceProcess,
  linkId: string,
  seconds: number,
): Promise<Times> {
  // For the quiet tenant a refusal is worse than any wait.
  const both = { port, seconds, refusedMs: Number.POSITIVE_INFINITY };
  const redirectPaths = destinations.map(([path]) => path);
  const headers = { authorization: `Bearer ${credentials.accessToken}` };
  const [redirects, reads] = await Promise.all([
    pacedGets({ ...both, paths: redirectPaths, perSecond: redirectsPerSecond, status: 302 }),
    pacedGets({ ...both, paths: [`/v1/links/${linkId}`], perSecond: readsPerSecond, status: 200, headers }),
  ]);
  return { redirects, reads };
}

function compared(what: string, quiet: Times, beside: Times): Finding[] {
  const p99 = (times: readonly number[]) => percentile(times, 0.99);
  const of = (kind: keyof Times) => ({ ours: p99(beside[kind]), peer: p99(quiet[kind]), unit: "ms" });
  return [
    atMostTimes(`redirects' p99 beside ${what}`, { ...of("redirects"), budget: 3 }),
    atMostTimes("  reads' p99", { ...of("reads"), budget: 5 }),
  ];
}

/** Starts the loud tenant's load; its refusals do not matter. */
async function startAbuse(port: number, request: string, seconds: number) {
  const folder = await mkdtemp(join(tmpdir(), "signpost-load-"));
  const file = join(folder, "requests");
  await writeFile(file, request);
  const load = startWrk({
    port,
    connections: 32,
    seconds,
    script: "load.lua",
    options: [file, String(2 * allowance)],
  });
  return {
    async ended(): Promise<Finding> {
      const { requests, refused, seconds: took } = JSON.parse(await load.ended);
      await rm(folder, { recursive: true });
      return told("  answered to the loud one", { ours: (requests - refused) / took, unit: "/s" });
    },
  };
}
