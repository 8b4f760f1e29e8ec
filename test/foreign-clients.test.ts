import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { type Code, codeNumbers } from "../src/lib/errors.ts";
import { httpStatuses } from "../src/rest/error-body.ts";
import { fill, makeWorld, type World } from "./bad-input/world.ts";
import type { Answer, Client } from "./clients/client.ts";
import { grpcJsClient, hasPythonGrpc, pythonClient } from "./clients/grpc-clients.ts";
import { connectClient, grpcWebClient, restClient } from "./clients/http-clients.ts";
import { type Service, startService } from "./support/start-service.ts";

const hasPython = hasPythonGrpc();

const makers: Record<string, (service: Service) => Client> = {
  REST: ({ baseUrl }) => restClient(baseUrl),
  Connect: ({ baseUrl }) => connectClient(baseUrl),
  "gRPC-Web": ({ baseUrl }) => grpcWebClient(baseUrl),
  "grpc-js": ({ port }) => grpcJsClient(`127.0.0.1:${port}`),
  ...(hasPython ? { Python: ({ port }) => pythonClient(`127.0.0.1:${port}`) } : {}),
};
const names = Object.keys(makers);

let world: World;
const clients = new Map<string, Client>();

beforeAll(async () => {
  const service = await startService();
  world = await makeWorld(service);
  for (const [name, make] of Object.entries(makers)) clients.set(name, make(service));
  return async () => {
    for (const client of clients.values()) client.close();
    await service.stop();
  };
});

function call(name: string, rpc: string, request: JsonObject, token = "«token»"): Promise<Answer> {
  const client = clients.get(name);
  if (client === undefined) throw new Error(`there is no client ${name}`);
  return client.call(rpc, JSON.parse(fill(JSON.stringify(request), world)), fill(token, world));
}

async function answerOf(name: string, rpc: string, request: JsonObject) {
  const answer = await call(name, rpc, request);
  if ("error" in answer) throw new Error(`${name}: ${JSON.stringify(answer.error)}`);
  // The answers of the calls below; clients leave out empty values.
  return answer.ok as unknown as Readonly<{
    link: Link;
    links: Link[];
    totalCount: string;
    nextPageToken?: string;
  }>;
}

interface Link {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly shortlink: string;
  readonly entrypoint: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly tags?: readonly { readonly name: string }[];
}

/** The parts of a link that every client shows in one form; times and empty values differ between languages. */
function essence({ id, workspaceId, name, shortlink, entrypoint, metadata = {}, tags = [] }: Link) {
  return { id, workspaceId, name, shortlink, entrypoint, metadata, tags: tags.map((tag) => tag.name) };
}

test.runIf(hasPython)("Python's gRPC takes part", () => {
  expect(names).toContain("Python");
});

describe("links", () => {
  test.each(names)("that %s creates are the same to every client", async (name) => {
    const { link } = await answerOf(name, "LinksService/Create", {
      destination: "https://example.com/menü?table=7#top",
      name: `Tageskarte für ${name} 🍜`,
      tags: ["Küche", "summer sale"],
      metadata: { table: "7", "two words": "zwei Wörter" },
    });
    const request = { id: link.id, include: ["tags"] };
    for (const reader of names) {
      const read = await answerOf(reader, "LinksService/Get", request);
      expect(essence(read.link), reader).toEqual(essence(link));
    }
    expect(essence(link)).toMatchObject({
      name: `Tageskarte für ${name} 🍜`,
      tags: ["Küche", "summer sale"],
    });
  });

  test("are listed the same by every client, page by page", async () => {
    const pagesOf = async (name: string) => {
      const pages: ReturnType<typeof essence>[][] = [];
      for (let pageToken: string | undefined = ""; pageToken !== undefined && pages.length < 9; ) {
        const request = { pageSize: "3", pageToken, include: ["tags"], sortBy: "LINK_SORT_FIELD_NAME" };
        const { links, nextPageToken } = await answerOf(name, "LinksService/List", request);
        pages.push(links.map(essence));
        pageToken = nextPageToken === "" ? undefined : nextPageToken;
      }
      return pages;
    };
    const expected = await pagesOf("REST");
    expect(expected.flat().length).toBeGreaterThanOrEqual(names.length);
    for (const name of names) expect(await pagesOf(name), name).toEqual(expected);
  });
});

const destination = "https://example.com/";
const unknownId = "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d";
const faultyCalls: [reason: string, rpc: string, request: JsonObject, token?: string][] = [
  ["INVALID_ARGUMENT", "LinksService/Create", {}],
  [
    "INVALID_ARGUMENT",
    "LinksService/Create",
    { destination, tags: ["a", "", "b".repeat(51)], name: "a".repeat(256) },
  ],
  ["INVALID_ARGUMENT", "LinksService/Create", { destination, metadata: { "two words": "a".repeat(501) } }],
  ["INVALID_ARGUMENT", "LinksService/List", { pageSize: "-1", search: "a".repeat(201) }],
  ["INVALID_ARGUMENT", "EventsService/ListEvents", { include: ["Visitor"] }],
  [
    "INVALID_ARGUMENT",
    "EventsService/ListEvents",
    { startDate: "2026-02-02T00:00:00Z", endDate: "2026-02-01T00:00:00Z" },
  ],
  ["INVALID_DESTINATION", "LinksService/Create", { destination: "javascript:alert('ü')" }],
  ["INVALID_SHORTLINK", "LinksService/Create", { destination, shortlink: "menü 100%" }],
  ["SHORTLINK_TAKEN", "LinksService/Create", { destination, shortlink: "«shortlink»" }],
  ["ID_TAKEN", "LinksService/Create", { destination, id: "«link»" }],
  ["INVALID_ID", "LinksService/Get", { id: "menu" }],
  ["INVALID_PAGE_TOKEN", "LinksService/List", { pageToken: "«page-token of another order»" }],
  [
    "MUTUALLY_EXCLUSIVE_FIELDS",
    "LinksService/Update",
    { id: "«link»", tags: ["a"], tagsDelete: true, updateMask: "tags,tagsDelete" },
  ],
  ["NOT_FOUND", "LinksService/Get", { id: unknownId }],
  ["NOT_FOUND", "LinksService/Get", { id: "«foreign-link»" }],
  ["NOT_FOUND", "EventsService/ListEventTraces", { eventId: unknownId }],
  ["NOT_FOUND", "WorkspaceTokensService/Get", { id: "«foreign-token-id»" }],
  ["UNAUTHENTICATED", "LinksService/List", {}, "not-a-token"],
  ["UNAUTHENTICATED", "LinksService/List", {}, "«revoked token»"],
  ["TOKEN_ENVIRONMENT_MISMATCH", "LinksService/List", {}, "svc_test_«token»"],
  ["INSUFFICIENT_SCOPE", "LinksService/List", {}, "«publishable token»"],
];

describe("errors are the same to every client", () => {
  test.each(faultyCalls)("%s of %s %j", async (reason, rpc, request, token) => {
    const rest = await errorOf("REST", rpc, request, token);
    expect(rest.reason).toBe(reason);
    for (const name of names) expect(await errorOf(name, rpc, request, token), name).toEqual(rest);
  });

  async function errorOf(name: string, rpc: string, request: JsonObject, token: string | undefined) {
    const answer = await call(name, rpc, request, token);
    if (!("error" in answer)) throw new Error(`${name}: ${rpc} was not refused`);
    const { code, status, ...rest } = answer.error;
    return { status: status ?? httpStatuses[codeOf(code)], ...rest };
  }
});

function codeOf(name: string | undefined): Code {
  // Every name of the table is a Code.
  const code = Object.keys(codeNumbers).find((each) => each === name) as Code | undefined;
  if (code === undefined) throw new Error(`${name} is no code of gRPC`);
  return code;
}
