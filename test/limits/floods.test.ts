import { readFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { afterAll, expect, test } from "vitest";
import { restApi } from "../support/rest-api.ts";
import { startService } from "../support/start-service.ts";
import { makeWorkflow } from "../support/workflows.ts";

/*
 * Strangers choose hosts, paths, headers and, behind a proxy, forwarded addresses. All of these are keys of caches.
 * Here strangers invent such keys without end, each as long as a header may be, and the service must not grow.
 */

const service = await startService({
  env: {
    // The proxy in front forwards the client's address, so that every request can have another one.
    TRUSTED_PROXIES: "127.0.0.1/32",
    RATE_LIMIT_ANONYMOUS: "5",
    // Room for live data and little garbage, which would otherwise look like a leak.
    NODE_OPTIONS: "--max-old-space-size=192 --max-semi-space-size=8",
  },
});
const api = restApi(service.baseUrl, service.credentials.accessToken);
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
afterAll(async () => {
  agent.destroy();
  await service.stop();
});

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

function send({ path, headers }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ port: service.port, host: "127.0.0.1", agent, path, headers }, (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode ?? 0));
      res.on("error", reject);
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Sends `count` requests, 32 at a time; returns the statuses that occurred. */
async function flood(from: number, count: number, make: (n: number) => Sent): Promise<Set<number>> {
  const statuses = new Set<number>();
  let next = from;
  const lane = async () => {
    for (let n = next++; n < from + count; n = next++) statuses.add(await send(make(n)));
  };
  await Promise.all(Array.from({ length: 32 }, lane));
  return statuses;
}

async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const { host: own } = new URL(service.baseUrl);

/** A text that is unique for each number and has the given length. */
const text = (n: number, length: number) => `${n}-`.padEnd(length, "x");

/** An address in a network that no other number has. */
const forwarded = (n: number) => `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`;

/** A workflow with conditions on devices and on returning visitors. */
const link = await makeWorkflow(
  api,
  "device",
  {
    device: {
      action: "DEVICE_TYPE_CONDITION",
      payload: {
        deviceTypeCondition: {
          options: [{ id: "phone", name: "Phones", value: "DEVICE_TYPE_CONDITION_VALUE_MOBILE" }],
        },
      },
      next: { phone: "redirect", else: "visits" },
    },
    visits: {
      action: "VISIT_TYPE_CONDITION",
      payload: {
        visitTypeCondition: { options: [{ id: "first", name: "First", value: "VISIT_TYPE_FIRST" }] },
      },
    },
  },
  { fallbackDestination: "https://example.com/new" },
);

const floods: readonly [
  what: string,
  count: number,
  make: (n: number) => Sent,
  statuses: readonly number[],
][] = [
  ["long hosts", 4_000, (n) => ({ path: "/", headers: { host: text(n, 14_000) } }), [404]],
  [
    "hosts, paths and forwarded addresses",
    4_000,
    (n) => ({
      path: `/${text(n, 60)}p`,
      headers: {
        host: `${text(n, 200)}.example`,
        "x-forwarded-for": `${text(n, 14_000)}, ${forwarded(n)}`,
      },
    }),
    [404],
  ],
  [
    "user agents and languages",
    4_000,
    (n) => ({
      path: `/${link.shortlink}`,
      headers: {
        host: own,
        "user-agent": `Agent ${text(n, 7_000)}`,
        "accept-language": text(n, 7_000),
        "x-forwarded-for": forwarded(n),
      },
    }),
    [302],
  ],
  [
    "tokens",
    4_000,
    (n) => ({
      path: "/v1/links",
      headers: {
        host: own,
        authorization: `Bearer ${text(n, 14_000)}`,
        "x-forwarded-for": forwarded(n),
      },
    }),
    [401],
  ],
];

test.each(floods)(
  "%s that strangers make up do not stay in memory",
  async (_what, count, make, statuses) => {
    // Warms up: buffers, code, and the heap that garbage fills.
    expect(await flood(0, 1_000, make)).toEqual(new Set(statuses));
    const before = await residentMb();
    expect(await flood(1_000, count, make)).toEqual(new Set(statuses));
    const grown = (await residentMb()) - before;
    // If the service kept them, they would take at least 56 MB.
    expect(grown).toBeLessThan(48);
  },
  300_000,
);
