import {
  create,
  type DescMessage,
  type DescMethodUnary,
  getOption,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { access } from "../../gen/signpost/options/v1/access_pb.js";
import {
  CreateBulkJobRequestSchema,
  CreateLinkRequestSchema,
  LinksService,
} from "../../gen/signpost/v1/links_service_pb.js";
import { QrcodeDesignService } from "../../gen/signpost/v1/qrcode_design_service_pb.js";
import { VisitorsService } from "../../gen/signpost/v1/visitors_service_pb.js";
import { bindingsOf } from "../../src/rest/binding.ts";
import { isUnary } from "../../src/rpc/protocols/unary.ts";
import { boundsOf, itemsMaxDefault, textBytesMaxDefault } from "../../src/wire/bounds.ts";
import { askBytes, type Refusal, type Way, waysOf } from "../support/ask-bytes.ts";
import { type Api, startApi, type TestWorkspace } from "../support/start-api.ts";

let api: Api;
let workspace: TestWorkspace;

beforeAll(async () => {
  api = await startApi();
  workspace = await api.newWorkspace();
});

const { create: createLink, createBulkJob, createBatch } = LinksService.method;
const { publicCreate } = QrcodeDesignService.method;
const { identify } = VisitorsService.method;

const megabyte = 1_000_000;

function ask(way: Way, method: DescMethodUnary, body: Buffer | string): Promise<Refusal> {
  const headers = { authorization: `Bearer ${workspace.token}` };
  return askBytes(api.port, way, method, Buffer.from(body), headers);
}

/** Allows ten times the budget: 50 ms per megabyte of this thread, which runs both service and client. */
async function askInTime(way: Way, method: DescMethodUnary, body: Buffer | string): Promise<Refusal> {
  const before = process.threadCpuUsage();
  const refusal = await ask(way, method, body);
  const { user, system } = process.threadCpuUsage();
  const ms = (user + system - before.user - before.system) / 1000;
  expect(ms).toBeLessThan(500 + (500 * body.length) / megabyte);
  return refusal;
}

/** A megabyte full of different items. */
function manyOf(item: (index: number) => string): string {
  const items: string[] = [];
  for (let length = 0; length < megabyte; length += (items.at(-1)?.length ?? 0) + 1)
    items.push(item(items.length));
  return items.join(",");
}

type JsonRow = [name: string, method: DescMethodUnary, body: string, field?: string];

const json: JsonRow[] = [
  [
    "a number of 150,000 digits",
    publicCreate,
    `{"centralImageSize":"${"1".repeat(150_000)}x"}`,
    "centralImageSize",
  ],
  ["a list of a few items too many", createLink, `{"tags":[${Array(21).fill('"a"')}]}`, "tags"],
  ["a list of 15,000 bad items", createLink, `{"tags":[${Array(15_000).fill('""')}]}`, "tags"],
  ["a list of a megabyte of bad items", createLink, `{"tags":[${manyOf(() => '""')}]}`],
  ["a list of a megabyte of messages", createBatch, `{"links":[${manyOf(() => "{}")}]}`],
  [
    "a map of 1,900 entries",
    createLink,
    `{"metadata":{${Array.from({ length: 1_900 }, (_, i) => `"k${i}":""`)}}}`,
    "metadata",
  ],
  ["a map of a megabyte", createLink, `{"metadata":{${manyOf((i) => `"k${i}":""`)}}}`],
  [
    "lists in lists, each within its limit",
    createBulkJob,
    `{"links":[${Array(9_000).fill('{"tags":["","","",""]}')}]}`,
  ],
  ["unknown fields", createLink, `{${manyOf((i) => `"unknown${i}":1`)}}`],
  ["objects of as many shapes", createLink, `{"unknown":[${manyOf((i) => `{"a":1,"k${i}":1}`)}]}`],
  ["deep objects", createLink, `{"unknown":${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}}`],
  ["deep lists", createLink, `{"unknown":${"[".repeat(500_000)}${"]".repeat(500_000)}}`],
  ["a text of a megabyte", createLink, `{"name":"${"a".repeat(megabyte)}"}`, "name"],
  [
    "a key of a megabyte above bad values",
    createLink,
    `{"metadata":{"${"k".repeat(megabyte)}":1}}`,
    `metadata.${"k".repeat(200)}`,
  ],
  ["a free object of many values", identify, `{"visitor":{"a":[${Array(25_000).fill("0")}]}}`, "visitor"],
  [
    "marks stacked on one letter",
    createLink,
    `{"destination":"https://a.example","name":"${"\u0301\u0316".repeat(100)}"}`,
    "name",
  ],
  ["a mask of commas", LinksService.method.update, `{"updateMask":"${",".repeat(megabyte)}"}`, "updateMask"],
];

describe.each(waysOf.json)("%s", (way) => {
  test.each(json)("refuses %s, in time", async (_name, method, body, field) => {
    const refusal = await askInTime(way, method, body);
    expect(refusal.code).toBe("INVALID_ARGUMENT");
    if (field !== undefined) expect(refusal.fields).toContain(field);
  });
});

function numberOf(method: DescMethodUnary, name: string): number {
  const field = method.input.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`there is no ${name}`);
  return field.number;
}

/** A field of bytes, a text or a message: its tag, its length and its content. */
function fieldOf(method: DescMethodUnary, name: string, content: Buffer): Buffer {
  return Buffer.concat([varint((numberOf(method, name) << 3) | 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, value >>> (7 * bytes.length)]);
}

function filled(piece: Buffer): Buffer {
  return Buffer.alloc(Math.floor(megabyte / piece.length) * piece.length, piece);
}

const nothing = Buffer.alloc(0);
const unknownTag = varint(900 << 3);
const bulk = create(CreateBulkJobRequestSchema, {
  links: Array.from({ length: 9_000 }, () => ({ tags: ["", "", "", ""] })),
});

type BinaryRow = [name: string, method: DescMethodUnary, body: Buffer, field: string | undefined];

const binary: BinaryRow[] = [
  ["a list of a megabyte of bad items", createLink, filled(fieldOf(createLink, "tags", nothing)), "tags"],
  ["a list of a megabyte of messages", createBatch, filled(fieldOf(createBatch, "links", nothing)), "links"],
  ["a map of a megabyte", createLink, filled(fieldOf(createLink, "metadata", nothing)), "metadata"],
  [
    "lists in lists, each within its limit",
    createBulkJob,
    Buffer.from(toBinary(CreateBulkJobRequestSchema, bulk)),
    undefined,
  ],
  ["a text of a megabyte", createLink, fieldOf(createLink, "name", Buffer.alloc(megabyte, "a")), "name"],
  [
    "a message that comes again and again",
    publicCreate,
    filled(fieldOf(publicCreate, "dots_options", nothing)),
    "dotsOptions",
  ],
  [
    "a text that calls itself a number",
    createLink,
    filled(Buffer.concat([varint(numberOf(createLink, "name") << 3), Buffer.from([5])])),
    undefined,
  ],
  ["unknown fields", createLink, filled(Buffer.concat([unknownTag, Buffer.from([1])])), "destination"],
  ["one field again and again", createLink, filled(fieldOf(createLink, "name", nothing)), "destination"],
  ["groups", createLink, filled(varint((900 << 3) | 3)), undefined],
];

describe.each(waysOf.proto)("%s", (way) => {
  test.each(binary)("refuses %s, in time", async (_name, method, body, field) => {
    const refusal = await askInTime(way, method, body);
    expect(refusal.code).toBe("INVALID_ARGUMENT");
    if (field !== undefined) expect(refusal.fields).toContain(field);
  });
});

test("a message within its limits is read the same in every way", async () => {
  const init = { destination: "https://a.example", tags: ["a", "b"], metadata: { color: "red" } };
  const bytes = Buffer.from(toBinary(CreateLinkRequestSchema, create(CreateLinkRequestSchema, init)));
  for (const way of waysOf.json)
    expect(await ask(way, createLink, JSON.stringify(init))).toMatchObject({ code: "OK" });
  for (const way of waysOf.proto) expect(await ask(way, createLink, bytes)).toMatchObject({ code: "OK" });
});

function everyMethod(): DescMethodUnary[] {
  return api.services.flatMap(({ service }) => service.methods).filter(isUnary);
}

test.each([
  ["repeated", "include=tags&".repeat(21)],
  ["separated by commas", `include=${"tags,".repeat(2_000)}`],
])("a list of the query has the limit of its field: %s", async (_how, query) => {
  const { status, json } = await workspace.rest("GET", `/v1/links?${query}`);
  expect(status).toBe(400);
  expect(json.error.message).toBe("include: must have at most 20 items");
});

test("an open call takes 64 KiB, unless its method declares more", async () => {
  const isOpen = (method: DescMethodUnary) => getOption(method, access).kind.case === "open";
  const open = everyMethod().filter((method) => isOpen(method) && method !== publicCreate);
  expect(open.length).toBeGreaterThan(5);
  const tooLarge = { reason: "REQUEST_TOO_LARGE" };
  for (const method of open) {
    const ways = Object.values(waysOf).flat();
    for (const way of ways.filter(
      (each) => each !== "REST" || bindingsOf(method)[0]?.body.kind === "message",
    ))
      expect(await ask(way, method, Buffer.alloc(64 * 1024 + 1, " "))).toMatchObject(tooLarge);
  }
  const image = Buffer.alloc(3 * 1024 * 1024, "not an image").toString("base64");
  for (const way of waysOf.json) {
    const refusal = await ask(way, publicCreate, `{"centralImageData":"${image}"}`);
    expect(refusal).toMatchObject({ code: "INVALID_ARGUMENT", fields: ["centralImageData"] });
    expect(await ask(way, publicCreate, Buffer.alloc(5_000_000, " "))).toMatchObject(tooLarge);
  }
});

test("every list, map and text of a request has a limit in the proto files", () => {
  const unlimited = new Set<string>();
  const seen = new Set<DescMessage>();
  const undeclared = `must have at most ${textBytesMaxDefault} bytes`;
  const walk = (message: DescMessage) => {
    if (seen.has(message) || message.typeName.startsWith("google.protobuf.")) return;
    seen.add(message);
    for (const field of message.fields) {
      const { itemsMax, size, keySize } = boundsOf(field);
      const isBytes = field.scalar === ScalarType.BYTES;
      const isUnlimited =
        itemsMax === itemsMaxDefault ||
        [size, keySize].some(({ description }) => description === undeclared) ||
        (isBytes && size.max === Number.POSITIVE_INFINITY);
      if (isUnlimited) unlimited.add(`${message.typeName}.${field.name}`);
      if (field.message !== undefined) walk(field.message);
    }
  };
  for (const { input } of everyMethod()) walk(input);
  expect(seen.size).toBeGreaterThan(100);
  expect([...unlimited]).toEqual([]);
});
