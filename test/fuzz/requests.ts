import {
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toBinary,
} from "@bufbuild/protobuf";
import { createServices } from "../../src/api/services.ts";
import type { Headers, HttpRequest } from "../bad-input/row.ts";
import { endsCaller, type Operation, operationsOf } from "../conformance/operations.ts";
import { restForm } from "../conformance/send.ts";
import { leastOf, mostOf } from "../conformance/valid.ts";
import { kindsByField } from "../support/tenant-records.ts";
import { badText, changedBytes, changedJson } from "./mutate.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

export type Door = "REST" | "Connect JSON" | "Connect proto" | "gRPC" | "scan" | "step";

/** One request to send: over HTTP/1.1, or the frame of a gRPC call. */
export type FuzzRequest = { readonly door: Door; readonly what: string } & (
  | { readonly http: HttpRequest }
  | { readonly grpc: { readonly path: string; readonly headers: Headers; readonly body: Buffer } }
);

// No handler is called, so the handlers' dependencies are never used.
const nothing = new Proxy({}, { get: () => () => undefined });
const operations = operationsOf(createServices(nothing as Parameters<typeof createServices>[0])).filter(
  ({ name }) => !endsCaller.has(name),
);
/**
 * The valid requests that others are made from. They are made once, because texts that match a pattern take a while to
 * find.
 */
const validRequests = new Map<Operation, readonly [least: JsonObject, most: JsonObject]>();

function validOf(operation: Operation, random: Random): JsonObject {
  const { input } = operation.method;
  const both = validRequests.get(operation) ?? [leastOf(input), mostOf(input)];
  validRequests.set(operation, both);
  return both[random.percent(60) ? 1 : 0];
}

/** The next request of a sequence: a valid request of any operation or visit, with a change. */
export function nextRequest(random: Random, world: World, token: string): FuzzRequest {
  const door = random.below(100);
  if (door < 10) return scan(random, world);
  if (door < 18) return step(random, world);
  const operation = anyOperation(random);
  const valid = withIds(validOf(operation, random), operation, world) as JsonObject;
  // Otherwise the answer would wait for an image each time.
  if ("waitForQrcode" in valid) valid.waitForQrcode = random.percent(3);
  const headers: Headers = [["authorization", `Bearer ${token}`], ...extraHeaders(random)];
  if (door < 60) return rest(random, operation, valid, headers);
  return rpc(random, operation, valid, headers);
}

function anyOperation(random: Random): Operation {
  const operation = random.pick(operations);
  if (operation === undefined) throw new Error("there are no operations");
  // Reading and drawing pictures takes a hundred times as long as any other operation, so few requests do it.
  return drawing.test(operation.name) && random.percent(90) ? anyOperation(random) : operation;
}

const drawing = /^(QrcodeDesignService|MediaService)\.(Create|PublicCreate|Update|Verify|ApplyTemplate)$/;

/** Puts ids of existing records into a valid request. */
function withIds(json: JsonValue, operation: Operation, { ids }: World, name = ""): JsonValue {
  if (Array.isArray(json)) return json.map((item) => withIds(item, operation, { ids } as World, name));
  if (typeof json === "object" && json !== null)
    return Object.fromEntries(
      Object.entries(json).map(([key, value]) => [key, withIds(value, operation, { ids } as World, key)]),
    );
  const kind = kindsByField[`${operation.method.parent.name} ${name}`] ?? kindsByField[name];
  return (kind && ids[kind]) || json;
}

function extraHeaders(random: Random): Headers {
  if (!random.percent(20)) return [];
  const names = [
    "idempotency-key",
    "x-request-id",
    "accept",
    "connect-timeout-ms",
    "origin",
    "x-forwarded-for",
  ];
  return [[random.pick(names) ?? "accept", headerText(random)]];
}

// A text for a header must stay one line.
function headerText(random: Random): string {
  return badText(random)
    .replaceAll(/[\0\r\n]/g, "")
    .replaceAll(/[^\u0020-\u00ff]/g, "?")
    .slice(0, 4_000);
}

function rest(random: Random, operation: Operation, valid: JsonObject, headers: Headers): FuzzRequest {
  const what = operation.name;
  const inBody = operation.binding.body.kind === "message";
  const request = inBody && random.percent(85) ? valid : changedFields(valid, random);
  const form = restForm(operation, request) ?? restForm(operation, valid);
  if (form === undefined) throw new Error(`${what} has no valid REST form`);
  const { httpMethod: method, path: target, body } = form;
  if (body === undefined) {
    const changed = random.percent(20)
      ? changedBytes(Buffer.from(target), random).toString("latin1")
      : target;
    return { door: "REST", what, http: { method, target: lineOf(changed), headers, body: "" } };
  }
  const http = {
    method,
    target: lineOf(target),
    headers: [...headers, jsonType],
    body: jsonBody(random, body),
  };
  return { door: "REST", what, http };
}

// A target of one line, without the characters that end a request line.
function lineOf(target: string): string {
  return target.replaceAll(/[\0\r\n ]/g, "%20").slice(0, 12_000);
}

const jsonType = ["content-type", "application/json"] as const;

function changedFields(json: JsonObject, random: Random): JsonObject {
  const changed = changedJson(json, random);
  return typeof changed === "object" && changed !== null && !Array.isArray(changed) ? changed : json;
}

function jsonBody(random: Random, json: JsonValue): Buffer {
  const text = Buffer.from(JSON.stringify(changedJson(json, random)));
  return random.percent(25) ? changedBytes(Buffer.from(JSON.stringify(json)), random) : text;
}

function rpc(random: Random, { name, method }: Operation, valid: JsonObject, headers: Headers): FuzzRequest {
  const path = `/${method.parent.typeName}/${method.name}`;
  const kind = random.below(3);
  if (kind === 0) {
    const http = {
      method: "POST",
      target: path,
      headers: [...headers, jsonType],
      body: jsonBody(random, valid),
    };
    return { door: "Connect JSON", what: name, http };
  }
  const binary = binaryOf(random, method, valid);
  if (kind === 1) {
    const proto = [...headers, ["content-type", "application/proto"] as const];
    return {
      door: "Connect proto",
      what: name,
      http: { method: "POST", target: path, headers: proto, body: binary },
    };
  }
  const head = Buffer.alloc(5);
  head.writeUInt8(random.percent(3) ? random.below(256) : 0);
  head.writeUInt32BE(random.percent(3) ? random.below(2 ** 32) : binary.length, 1);
  const grpcHeaders = [...headers.filter(([header]) => header !== "connect-timeout-ms"), grpcType];
  return {
    door: "gRPC",
    what: name,
    grpc: { path, headers: grpcHeaders, body: Buffer.concat([head, binary]) },
  };
}

const grpcType = ["content-type", "application/grpc"] as const;

/** The bytes of a changed message, or changed bytes of a valid one. */
function binaryOf(random: Random, method: DescMethodUnary, valid: JsonObject): Buffer {
  const read = (json: JsonValue) => Buffer.from(toBinary(method.input, fromJson(method.input, json)));
  const good = read(valid);
  if (random.percent(50)) return changedBytes(good, random);
  try {
    return read(changedJson(valid, random));
  } catch {
    return changedBytes(good, random);
  }
}

const visitHeaders = [
  "user-agent",
  "referer",
  "accept-language",
  "cookie",
  "x-forwarded-for",
  "sec-purpose",
  "accept",
];

function headersOfVisit(random: Random): Headers {
  const names = visitHeaders.filter(() => random.percent(30));
  return names.map((name) => [name, headerText(random)] as const);
}

function scan(random: Random, { paths }: World): FuzzRequest {
  const path = random.pick(paths) ?? "/";
  const mark = path.includes("?") ? "&" : "?";
  const query = new URLSearchParams([[badText(random), badText(random)]]);
  const target = random.percent(70)
    ? `${path}${mark}${query}`
    : changedBytes(Buffer.from(path), random).toString("latin1");
  const headers = headersOfVisit(random);
  return { door: "scan", what: path, http: { method: "GET", target: lineOf(target), headers, body: "" } };
}

function step(random: Random, { step: { path, cookie } }: World): FuzzRequest {
  const fields = new URLSearchParams();
  for (const name of ["field-1", "$email", "age", badText(random)]) fields.append(name, badText(random));
  const body = Buffer.from(fields.toString());
  const target = random.percent(80) ? path : changedBytes(Buffer.from(path), random).toString("latin1");
  const type = ["content-type", "application/x-www-form-urlencoded"] as const;
  const headers: Headers = [
    type,
    ...(random.percent(80) ? [["cookie", cookie] as const] : headersOfVisit(random)),
  ];
  const sent = random.percent(30) ? changedBytes(body, random) : body;
  return {
    door: "step",
    what: "form",
    http: { method: "POST", target: lineOf(target), headers, body: sent },
  };
}
