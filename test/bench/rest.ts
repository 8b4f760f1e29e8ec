import { startPeer } from "./peer-process.ts";
import { atLeast, type Finding, inTurn, medianOf } from "./report.ts";
import { databaseOf, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { getRequest, post, postRequest } from "./visits.ts";
import { wrk } from "./wrk.ts";

const poolSize = 10;
const connections = 64;

/**
 * Reading and making links over REST, compared with two handwritten routes with the same statements on the same server.
 */
export async function restRow(
  name: "get" | "create",
  { quick }: { readonly quick: boolean },
): Promise<Finding[]> {
  // Without the worker nobody draws the QR images of the links, neither ours nor the peer's.
  const service = await startServiceProcess({ env: { ROLES: "api", DATABASE_POOL_SIZE: String(poolSize) } });
  const { workspaceId, accessToken } = service.credentials;
  const shortUrl = `http://localhost:${service.port}`;
  const database = databaseOf(service.dataDir);
  const peer = await startPeer("pg-routes.ts", { database, poolSize, workspaceId, accessToken, shortUrl });
  try {
    const requestsFor = name === "get" ? await readRequests(service) : createRequests(service);
    const seconds = quick ? 2 : 4;
    const load = ({ port }: { readonly port: number }) =>
      wrk({ port, requests: requestsFor(port), connections, seconds });
    await inTurn(
      1,
      () => load(peer),
      () => load(service),
    );
    const reports = await inTurn(
      quick ? 3 : 5,
      () => load(peer),
      () => load(service),
    );
    const perSecond = (side: keyof typeof reports) =>
      medianOf(reports[side], (report) => report.requests / report.seconds);
    const what = name === "get" ? "GET /v1/links/{id}" : "POST /v1/links";
    return [atLeast(what, { ours: perSecond("ours"), peer: perSecond("peer"), unit: "/s", budget: 0.4 })];
  } finally {
    await peer.end();
    await service.remove();
  }
}

async function readRequests(service: ServiceProcess): Promise<(port: number) => string[]> {
  const ids: string[] = [];
  for (let index = 0; index < 100; index++) {
    const { link } = await post<{ link: { id: string } }>(service, "/v1/links", { destination });
    ids.push(link.id);
  }
  return (port) => ids.map((id) => getRequest(port, `/v1/links/${id}`, headersOf(service)));
}

const destination = "https://example.com/menu";

function createRequests(service: ServiceProcess): (port: number) => string[] {
  const headers = { ...headersOf(service), "Content-Type": "application/json" };
  return (port) => [postRequest(port, "/v1/links", headers, JSON.stringify({ destination }))];
}

function headersOf({ credentials }: ServiceProcess): Record<string, string> {
  return { Authorization: `Bearer ${credentials.accessToken}`, Accept: "application/json" };
}
