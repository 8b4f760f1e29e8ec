import { create, type DescMethodUnary, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { EventsService } from "../../gen/signpost/v1/events_service_pb.js";
import { LinksService } from "../../gen/signpost/v1/links_service_pb.js";
import { VisitorsService } from "../../gen/signpost/v1/visitors_service_pb.js";
import { answerBytesMax } from "../../src/lib/paging/fill-page.ts";
import { fatCounts, insertFatRecords } from "../support/fat-records.ts";
import { busyMs, busyMsMax, residentMib } from "../support/metrics.ts";
import { type Service, startService } from "../support/start-service.ts";

/* Lists of the largest possible records, served by a separate process whose memory and pauses are measured. */

let service: Service;
let transport: Transport;

beforeAll(async () => {
  service = await startService();
  const { accessToken, workspaceId } = service.credentials;
  transport = createGrpcTransport({
    baseUrl: service.baseUrl,
    // The default limit of gRPC clients.
    readMaxBytes: 4 * 1024 * 1024,
    interceptors: [
      (next) => (req) => {
        req.header.set("authorization", `Bearer ${accessToken}`);
        return next(req);
      },
    ],
  });
  await insertFatRecords(service.env.DATABASE_URL ?? "", workspaceId);
  // The first calls load modules, which must not count for a page.
  for (const list of lists) for (const ask of Object.values(askers)) await ask({ ...list, size: 1 }, "");
  return service.stop;
});

interface List {
  readonly path: string;
  readonly method: DescMethodUnary;
  readonly include: readonly string[];
  readonly size: number;
  readonly count: number;
  /** Whether the records are rows of a CSV table. */
  readonly csv?: true;
}

const objects = ["visitor", "device", "link", "workspace", "leadScore", "journey", "traces"];
const events = {
  path: "/v1/events",
  method: EventsService.method.listEvents,
  size: 1000,
  count: fatCounts.events,
};
const visitors = {
  path: "/v1/visitors",
  method: VisitorsService.method.list,
  size: 200,
  count: fatCounts.visitors,
};

const lists: readonly List[] = [
  { ...events, include: ["visitor"] },
  { ...events, include: ["traces"] },
  { ...events, include: objects },
  { ...events, include: ["visitor", "traces"], csv: true },
  { ...visitors, include: [] },
  { ...visitors, include: ["devices", "events", "links"] },
  { ...visitors, include: ["devices", "links"], csv: true },
  {
    path: "/v1/links",
    method: LinksService.method.list,
    include: ["tags"],
    size: 1000,
    count: fatCounts.links,
  },
];

interface Page {
  readonly ids: readonly string[];
  readonly bytes: number;
  readonly nextPageToken: string;
}

const askers = {
  rest: async ({ path, include, size, csv }: List, pageToken: string): Promise<Page> => {
    const query = new URLSearchParams({ pageSize: String(size), pageToken });
    if (csv) query.set("responseFormat", "RESPONSE_FORMAT_CSV");
    for (const name of include) query.append("include", name);
    const headers = { authorization: `Bearer ${service.credentials.accessToken}` };
    const answer = await fetch(`${service.baseUrl}${path}?${query}`, { headers });
    const text = await answer.text();
    expect(answer.status, text.slice(0, 500)).toBe(200);
    return { ...pageOf(JSON.parse(text)), bytes: Buffer.byteLength(text) };
  },
  grpc: async ({ method, include, size, csv }: List, pageToken: string): Promise<Page> => {
    const request = { pageSize: BigInt(size), pageToken, include, ...(csv && { responseFormat: 2 }) };
    const { message } = await transport.unary(
      method,
      undefined,
      undefined,
      undefined,
      create(method.input, request),
    );
    return { ...pageOf(toJson(method.output, message)), bytes: toBinary(method.output, message).length };
  },
};

function pageOf(json: unknown): Omit<Page, "bytes"> {
  const answer = json as JsonObject;
  const page = (answer.csv ?? answer.json ?? answer) as JsonObject;
  const nextPageToken = String(page.nextPageToken ?? "");
  if ("csvData" in page) {
    const [, ...rows] = String(page.csvData).trimEnd().split("\r\n");
    return { ids: rows.map((row) => row.slice(0, 36)), nextPageToken };
  }
  const records = Object.values(page).find((value) => Array.isArray(value)) as { readonly id: string }[];
  return { ids: records.map(({ id }) => id), nextPageToken };
}

const names = lists.map((list) => ({
  name: `${list.path} ${list.csv ? "as CSV " : ""}with ${list.include}`,
  list,
}));

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  test.each(names)("pages of $name hold each record once, in answers of at most 4 MiB", async ({ list }) => {
    await busyMs(service);
    let resident = await residentMib(service);
    const found: string[] = [];
    let pages = 0;
    for (let pageToken = ""; pages === 0 || pageToken !== ""; pages += 1) {
      const page = await askers[protocol](list, pageToken);
      expect(page.bytes).toBeLessThanOrEqual(answerBytesMax);
      expect(page.ids.length).toBeGreaterThan(0);
      found.push(...page.ids);
      pageToken = page.nextPageToken;
      const now = await residentMib(service);
      expect(now - resident).toBeLessThan(64);
      resident = now;
    }
    expect(found).toHaveLength(list.count);
    expect(new Set(found).size).toBe(list.count);
    // The answers are as full as possible.
    expect(pages).toBeGreaterThan(1);
    expect(await busyMs(service)).toBeLessThan(busyMsMax);
  });
});
