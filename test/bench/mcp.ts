import { grantAt } from "../support/grant-at.ts";
import { atMost, atMostTimes, type Finding, inTurn, medianOf } from "./report.ts";
import { processorMs, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { getRequest, post, postRequest } from "./visits.ts";
import { wrk } from "./wrk.ts";

const connections = 32;

/** What a tool call costs beside the same call over REST, and how long the list of all tools takes. */
export async function mcpRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess({ env: { ROLES: "api", RATE_LIMIT_WORKSPACE: "0" } });
  try {
    const { link } = await post<{ link: { id: string } }>(service, "/v1/links", {
      destination: "https://example.com/menu",
    });
    const baseUrl = `http://localhost:${service.port}`;
    const token = await grantAt({ baseUrl, ...service });
    const byRest = getRequest(service.port, `/v1/links/${link.id}`, {
      Authorization: `Bearer ${service.credentials.accessToken}`,
      Accept: "application/json",
    });
    const asTool = postRequest(service.port, "/mcp", headersOf(token), callOf("links_get", { id: link.id }));
    const seconds = quick ? 2 : 4;
    const cost = async (request: string) => {
      const before = await processorMs(service.pid);
      const { requests } = await wrk({ port: service.port, requests: [request], connections, seconds });
      return ((await processorMs(service.pid)) - before) / requests;
    };
    const rounds = () =>
      inTurn(
        quick ? 3 : 5,
        () => cost(byRest),
        () => cost(asTool),
      );
    await inTurn(
      1,
      () => cost(byRest),
      () => cost(asTool),
    );
    const { peer, ours } = await rounds();
    const microseconds = (costs: readonly number[]) => 1_000 * medianOf(costs, (each) => each);
    return [
      atMostTimes("links_get as a tool, processor time beside REST", {
        ours: microseconds(ours),
        peer: microseconds(peer),
        unit: "µs",
        budget: 1.3,
      }),
      atMost("tools/list of all tools, warm", { ours: await listMs(service, token), unit: "ms", budget: 5 }),
    ];
  } finally {
    await service.remove();
  }
}

function headersOf(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}`, Accept: "application/json", "Content-Type": "application/json" };
}

function callOf(name: string, given: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } });
}

/** How long the service works on all pages of the list, in milliseconds of processor time. */
async function listMs(service: ServiceProcess, token: string): Promise<number> {
  const rounds = 50;
  const lists = async () => {
    const before = await processorMs(service.pid);
    for (let round = 0; round < rounds; round++) await readList(service, token);
    return ((await processorMs(service.pid)) - before) / rounds;
  };
  await lists();
  return Math.min(await lists(), await lists());
}

async function readList(service: ServiceProcess, token: string): Promise<void> {
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const params: object = cursor === "" ? {} : { cursor };
    const response = await fetch(`http://localhost:${service.port}/mcp`, {
      method: "POST",
      headers: headersOf(token),
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params }),
    });
    // The page itself is not read here: only the service's time counts.
    const end = Buffer.from(await response.arrayBuffer())
      .subarray(-200)
      .toString();
    cursor = /"nextCursor":"([^"]+)"/.exec(end)?.[1];
  }
}
