import { fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { httpStatuses } from "../../src/rest/error-body.ts";
import { busyMs, busyMsMax } from "../support/metrics.ts";
import { type Service, startService } from "../support/start-service.ts";
import { type BadCall, badCalls } from "./calls.ts";
import { frameRows } from "./frames.ts";
import { bytesRows, httpRows, pageRows } from "./http.ts";
import { jsonRows } from "./json.ts";
import { queryRows } from "./queries.ts";
import { bearer, type Headers, type HttpRequest, type RestRefusal, type RpcRefusal } from "./row.ts";
import { connectRows, grpcRows } from "./rpc.ts";
import { methodOf, restRequest } from "./rpc-as-rest.ts";
import { callGrpc, type GrpcConnection, grpcConnection, readConnectError } from "./send-grpc.ts";
import { exchange, type HttpAnswer, requestBytes } from "./send-http.ts";
import { badTokens, tokenRows } from "./tokens.ts";
import { fill, fillHeaders, fillRequest, makeWorld, type World } from "./world.ts";

let service: Service;
let world: World;
let connection: GrpcConnection;

beforeAll(async () => {
  service = await startService();
  // Resets the measurement: the modules that a start loads may block the event loop.
  await busyMs(service);
  world = await makeWorld(service);
  connection = grpcConnection(service.port);
  return async () => {
    connection.close();
    await service.stop();
  };
});

const requestIdForm = /^[A-Za-z0-9_-]{1,128}$/;

async function ask(request: HttpRequest): Promise<HttpAnswer> {
  const answer = await exchange(service.port, requestBytes(fillRequest(request, world), service.port));
  if (answer === undefined) throw new Error("the connection ended without an answer");
  return answer;
}

function checkRest(answer: HttpAnswer, expected: RestRefusal): void {
  const body = answer.body.toString();
  expect(answer.status, body).toBe(expected.status);
  expect(answer.headers["x-request-id"]).toMatch(requestIdForm);
  expect(answer.headers).toMatchObject({
    "content-type": "application/json",
    ...fillValues(expected.headers),
  });
  expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  const { error, ...rest } = JSON.parse(body);
  expect(rest).toEqual({});
  expect(error).toEqual({
    code: expected.status,
    codeType: expected.codeType,
    message: expect.stringMatching(/./),
    details: expect.any(Array),
  });
  const detail = (type: string) =>
    error.details.find((each: JsonObject) => each["@type"] === `type.googleapis.com/google.rpc.${type}`);
  expect(detail("ErrorInfo")).toMatchObject({ reason: expected.codeType, domain: "signpost" });
  if (expected.fields !== undefined) {
    const violations: { field: string }[] = detail("BadRequest")?.fieldViolations ?? [];
    expect(new Set(violations.map(({ field }) => field))).toEqual(new Set(expected.fields));
  }
}

function fillValues(headers: RestRefusal["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, world)]));
}

async function checkGrpc(
  path: string,
  headers: Headers,
  body: Uint8Array,
  expected: RpcRefusal,
): Promise<void> {
  const answer = await callGrpc(connection.open(), path, fillHeaders(headers, world), body);
  expect(answer.httpStatus).toBe(200);
  expect(answer).toMatchObject({ code: expected.code, reason: expected.reason });
  expect(answer.message).not.toBe("");
  expect(answer.requestId).toMatch(requestIdForm);
  if (expected.fields !== undefined) expect(new Set(answer.fields)).toEqual(new Set(expected.fields));
}

function checkConnect(answer: HttpAnswer, expected: RpcRefusal & { status: number }): void {
  expect(answer.status, answer.body.toString()).toBe(expected.status);
  expect(answer.headers["x-request-id"]).toMatch(requestIdForm);
  const error = readConnectError(answer.body);
  expect(error).toMatchObject({ code: expected.code.toLowerCase(), reason: expected.reason });
  if (expected.fields !== undefined) expect(new Set(error.fields)).toEqual(new Set(expected.fields));
}

describe.each(Object.entries({ json: jsonRows, queries: queryRows, http: httpRows, tokens: tokenRows }))(
  "REST, %s",
  (_, rows) => {
    test.each(rows)("refuses $name", async ({ request, expect: expected }) => {
      checkRest(await ask(request), expected);
    });
  },
);

describe("calls that break a rule are refused by every protocol in the same way", () => {
  const filled = (call: BadCall): JsonObject => JSON.parse(fill(JSON.stringify(call.request), world));
  const binary = (call: BadCall) => {
    const { input } = methodOf(call.rpc);
    return toBinary(input, fromJson(input, filled(call)));
  };

  test.each(badCalls.filter((call) => call.notOverRest !== true))("REST $rpc $name", async (call) => {
    const answer = await ask(restRequest(call.rpc, filled(call)));
    const { code, reason, fields } = call;
    checkRest(answer, { status: httpStatuses[code], codeType: reason, ...(fields ? { fields } : {}) });
  });

  test.each(badCalls)("gRPC $rpc $name", async (call) => {
    const message = binary(call);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    const headers: Headers = [
      ["content-type", "application/grpc"],
      ["authorization", "Bearer «token»"],
    ];
    await checkGrpc(`/signpost.v1.${call.rpc}`, headers, Buffer.concat([head, message]), call);
  });

  test.each(badCalls)("Connect $rpc $name", async (call) => {
    const answer = await ask({
      method: "POST",
      target: `/signpost.v1.${call.rpc}`,
      headers: [
        ["authorization", "Bearer «token»"],
        ["content-type", "application/proto"],
      ],
      body: binary(call),
    });
    checkConnect(answer, { ...call, status: connectStatuses[call.code] });
  });
});

// The HTTP statuses of Connect's protocol.
const connectStatuses = {
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
} as const;

describe("tokens are refused by every protocol in the same way", () => {
  test.each(badTokens)("REST refuses $name", async ({ headers, code, reason }) => {
    const answer = await ask({ method: "GET", target: "/v1/links", headers, body: "" });
    checkRest(answer, { status: httpStatuses[code], codeType: reason });
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer resource_metadata="http:/);
  });

  const overHttp2 = badTokens.filter(({ onlyHttp1 }) => onlyHttp1 !== true);
  test.each(overHttp2)("gRPC refuses $name", async ({ headers, code, reason }) => {
    const all: Headers = [["content-type", "application/grpc"], ...headers];
    await checkGrpc("/signpost.v1.LinksService/List", all, Buffer.alloc(5), { code, reason });
  });

  test.each(badTokens)("Connect refuses $name", async ({ headers, code, reason }) => {
    const answer = await ask({
      method: "POST",
      target: "/signpost.v1.LinksService/List",
      headers: [...headers, ["content-type", "application/json"]],
      body: "{}",
    });
    checkConnect(answer, { code, reason, status: connectStatuses[code] });
  });
});

describe("gRPC frames and metadata", () => {
  test.each(grpcRows)("refuses $name", async ({ path, headers, body, expect: expected }) => {
    await checkGrpc(path, headers, body, expected);
  });
});

describe("Connect bodies and headers", () => {
  test.each(connectRows)("refuses $name", async ({ request, expect: expected }) => {
    checkConnect(await ask(request), expected);
  });
});

test("HEAD is refused like GET, without a body", async () => {
  const headers = { authorization: fill("Bearer «token»", world) };
  const answer = await fetch(`${service.baseUrl}/v1/links/menu`, { method: "HEAD", headers });
  expect(answer.status).toBe(400);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(await answer.text()).toBe("");
});

describe("request ids", () => {
  const answeredId = async (given: string) => {
    const headers: Headers = [...bearer, ["x-request-id", given]];
    const answer = await ask({ method: "GET", target: "/v1/links/menu", headers, body: "" });
    return answer.headers["x-request-id"];
  };

  test.each(["a", "request-1_B", "a".repeat(128)])("%s is used", async (given) => {
    expect(await answeredId(given)).toBe(given);
  });

  test.each(["", "a b", "a,b", "a.b", "<script>", "ü", "a".repeat(129)])("%s is replaced", async (given) => {
    const id = await answeredId(given);
    expect(id).toMatch(requestIdForm);
    expect(id).not.toBe(given);
  });
});

describe("visitors", () => {
  test.each(pageRows)("$name is answered by a page", async ({ request, expect: expected }) => {
    const answer = await ask(request);
    expect(answer.status).toBe(expected.status);
    expect(answer.headers).toMatchObject({
      ...expected.headers,
      "content-type": expect.stringMatching(/^text\/html/),
      "x-robots-tag": "noindex",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/default-src 'none'/),
    });
    expect(answer.headers).not.toHaveProperty("set-cookie");
    expect(answer.body.toString()).not.toMatch(/<script/i);
  });
});

describe("malformed bytes", () => {
  test.each([...bytesRows, ...frameRows])("$name", async ({ bytes, half, expect: expected }) => {
    const sent = typeof bytes === "string" ? Buffer.from(fill(bytes, world), "latin1") : bytes;
    const answer = await exchange(service.port, sent, half ? 0 : undefined);
    expect(answer === undefined ? "cut off" : { status: answer.status }).toEqual(expected);
  });
});

test("after all rows the same process still serves, and has logged no error", async () => {
  const answer = await fetch(`${service.baseUrl}/health/ready`);
  expect(answer.status).toBe(200);
  expect(service.alive()).toBe(true);
  expect(service.log().filter(({ level }) => level >= 50)).toEqual([]);
  expect(service.stderr()).toBe("");
});

test("no row has blocked other calls for long", async () => {
  expect(await busyMs(service)).toBeLessThan(busyMsMax);
});
