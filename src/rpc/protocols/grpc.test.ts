import { once } from "node:events";
import http2 from "node:http2";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { deflateSync, gzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.js";
import { echoing, serveEcho } from "../../../test/support/echo-server.ts";
import { type CallError, fail, invalid } from "../../lib/errors.ts";
import type { Call, Invoke } from "../call.ts";

const protoFolders = ["proto", "test/proto"].map((folder) => join(import.meta.dirname, "../../..", folder));
const { signpost } = grpc.loadPackageDefinition(
  loadSync("signpost/testing/v1/echo.proto", { includeDirs: protoFolders }),
);
const EchoClient = Reflect.get(Reflect.get(Reflect.get(signpost ?? {}, "testing"), "v1"), "EchoService");

interface Answer {
  readonly text: string;
  readonly metadata: grpc.Metadata;
  readonly error: grpc.ServiceError | undefined;
}

/** A client that shares no code with us and knows only the proto file. */
function clientOf(port: number, options: grpc.ChannelOptions = {}) {
  const client = new EchoClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), options);
  onTestFinished(() => client.close());
  return (request: string, metadata = new grpc.Metadata(), callOptions: grpc.CallOptions = {}) => {
    let call: grpc.ClientUnaryCall | undefined;
    const answer = new Promise<Answer>((settle) => {
      let initial = new grpc.Metadata();
      const done = (error: grpc.ServiceError | null, response?: { text: string }) =>
        settle({ text: response?.text ?? "", metadata: initial, error: error ?? undefined });
      call = client.Echo({ text: request }, metadata, callOptions, done);
      call?.on("metadata", (received: grpc.Metadata) => {
        initial = received;
      });
    });
    return { answer, cancel: () => call?.cancel() };
  };
}

const refusing =
  (error: CallError, headers: Record<string, string> = {}): Invoke =>
  async () => ({ ok: false, error, headers });

/** A handler that waits until its call is aborted. */
function waiting(): { invoke: Invoke; arrived: Promise<Call>; aborted: Promise<void> } {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<Call>();
  const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
  const invoke: Invoke = (_method, _read, call) => {
    call.signal.addEventListener("abort", () => abort());
    arrive(call);
    return new Promise(() => {});
  };
  return { invoke, arrived, aborted };
}

/** Sends one request with arbitrary bytes, which no client library would send. */
async function raw(port: number, body: Uint8Array, headers: http2.OutgoingHttpHeaders = {}) {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/signpost.testing.v1.EchoService/Echo",
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  let trailers: http2.IncomingHttpHeaders = {};
  stream.on("trailers", (received) => {
    trailers = received;
  });
  stream.on("error", () => {});
  const response = once(stream, "response");
  stream.end(body);
  const [head] = await response;
  const answer = await text(stream);
  return { status: Number(trailers["grpc-status"] ?? head["grpc-status"]), head, answer };
}

function framed(message: Uint8Array, flag = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const hello = Buffer.from("\n\u0005hello");

describe("a unary call", () => {
  test("carries metadata there and back", async () => {
    const { invoke, calls } = echoing();
    const { port } = await serveEcho(async (...args) => {
      const outcome = await invoke(...args);
      return { ...outcome, headers: { "x-request-id": "from-pipeline", ratelimit: '"a";r=1' } };
    });
    const metadata = new grpc.Metadata();
    metadata.set("authorization", "Bearer abc");
    metadata.set("idempotency-key", "key-1");
    metadata.set("x-request-id", "caller_1");
    metadata.set("trace-bin", Buffer.from([0, 1, 2, 255]));
    metadata.add("trace-bin", Buffer.from([3]));
    const answer = await clientOf(port)("grüß dich", metadata, { deadline: Date.now() + 20_000 }).answer;
    expect(answer.text).toBe("grüß dich");
    expect(answer.metadata.get("ratelimit")).toEqual(['"a";r=1']);
    expect(answer.metadata.get("x-request-id")).toEqual(["from-pipeline"]);
    const [call] = calls;
    expect(call).toMatchObject({
      protocol: "grpc",
      requestId: "caller_1",
      authorization: "Bearer abc",
      idempotencyKey: "key-1",
      target: "POST /signpost.testing.v1.EchoService/Echo",
      clientAddress: "192.0.2.1",
    });
    expect(call?.timeoutMs).toBeGreaterThan(10_000);
  });

  test("gets a new request id when it brings none, or one with a wrong form", async () => {
    const { port } = await serveEcho(echoing().invoke);
    for (const given of [undefined, "with space", "x".repeat(129)]) {
      const { head } = await raw(port, framed(hello), given === undefined ? {} : { "x-request-id": given });
      expect(head["x-request-id"]).toBe("made-here");
    }
  });

  test("carries messages of megabytes", async () => {
    const { port } = await serveEcho(echoing().invoke);
    const big = "0123456789".repeat(390_000);
    expect((await clientOf(port)(big).answer).text).toBe(big);
  });

  test("over the size limit is refused while the client still sends it", async () => {
    const { invoke, calls } = echoing();
    const { port } = await serveEcho(invoke, { bytesMax: 1_000_000 });
    const { error } = await clientOf(port)("x".repeat(20_000_000)).answer;
    expect(error?.code).toBe(grpc.status.INVALID_ARGUMENT);
    expect(calls).toEqual([]);
  });

  test("finds its own answer among a thousand at once", async () => {
    const { port } = await serveEcho(echoing().invoke);
    const call = clientOf(port);
    const texts = Array.from({ length: 1000 }, (_, index) => `text ${index}`);
    const answers = await Promise.all(texts.map((request) => call(request).answer));
    expect(answers.map((answer) => answer.text)).toEqual(texts);
  });

  test("may be compressed", async () => {
    const { port } = await serveEcho(echoing().invoke);
    const long = "compress me ".repeat(10_000);
    for (const algorithm of [grpc.compressionAlgorithms.gzip, grpc.compressionAlgorithms.deflate]) {
      const call = clientOf(port, { "grpc.default_compression_algorithm": algorithm });
      expect((await call(long).answer).text).toBe(long);
    }
  });

  test("aborts when the client cancels or goes away", async () => {
    for (const leave of ["cancel", "close"] as const) {
      const { invoke, arrived, aborted } = waiting();
      const { port } = await serveEcho(invoke);
      const client = new EchoClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
      const call = client.Echo({ text: "" }, () => {});
      await arrived;
      if (leave === "cancel") call.cancel();
      client.close();
      call.cancel();
      await aborted;
    }
  });

  test("ends at its deadline, even if the handler goes on", async () => {
    const { invoke, aborted } = waiting();
    const { port } = await serveEcho(invoke);
    const { status } = await raw(port, framed(hello), { "grpc-timeout": "30m" });
    expect(status).toBe(grpc.status.DEADLINE_EXCEEDED);
    await aborted;
  });

  test("may state its deadline in any unit", async () => {
    const { invoke, calls } = echoing();
    const { port } = await serveEcho(invoke);
    for (const timeout of ["1H", "2M", "3S", "4000m", "5000000u", "99999999n", "99999999H"]) {
      expect((await raw(port, framed(hello), { "grpc-timeout": timeout })).status).toBe(0);
    }
    expect(calls.map(({ timeoutMs }) => Math.round(timeoutMs ?? 0))).toEqual([
      3_600_000, 120_000, 3_000, 4_000, 5_000, 100, 359_999_996_400_000,
    ]);
  });
});

describe("an error", () => {
  const violations = [
    { field: "links[3].destination", description: "use a URL" },
    { field: "name", description: "at most 255 characters" },
  ];

  test("has code, message and details", async () => {
    const error = fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "zu schnell: 100 % überschritten\n", {
      fields: violations,
      retryAfterSeconds: 3,
      metadata: { limit: "60" },
      headers: { "www-authenticate": "Bearer" },
      cause: new Error("secret"),
    });
    const { port } = await serveEcho(refusing(error, { ratelimit: "r=0" }));
    const answer = await clientOf(port)("x").answer;
    expect(answer.error?.code).toBe(grpc.status.RESOURCE_EXHAUSTED);
    expect(answer.error?.details).toBe("zu schnell: 100 % überschritten\n");
    const metadata = answer.error?.metadata ?? new grpc.Metadata();
    expect(metadata.get("www-authenticate")).toEqual(["Bearer"]);
    expect(metadata.get("ratelimit")).toEqual(["r=0"]);
    const [bytes] = metadata.get("grpc-status-details-bin");
    const status = fromBinary(StatusSchema, Buffer.from(bytes ?? ""));
    expect(status.code).toBe(8);
    const [info, badRequest, retry] = status.details;
    expect(info && anyUnpack(info, ErrorInfoSchema)).toMatchObject({
      reason: "RATE_LIMITED",
      domain: "signpost",
      metadata: { limit: "60" },
    });
    expect(badRequest && anyUnpack(badRequest, BadRequestSchema)?.fieldViolations).toMatchObject(violations);
    expect(retry && anyUnpack(retry, RetryInfoSchema)?.retryDelay?.seconds).toBe(3n);
  });

  test("of very many fields is cut to the header size that clients accept", async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => ({
      field: `links[${index}].name`,
      description: "too long",
    }));
    const { port } = await serveEcho(refusing(invalid(many)));
    const { error } = await clientOf(port)("x").answer;
    expect(error?.code).toBe(grpc.status.INVALID_ARGUMENT);
    const [bytes] = error?.metadata.get("grpc-status-details-bin") ?? [];
    const [, badRequest] = fromBinary(StatusSchema, Buffer.from(bytes ?? "")).details;
    const kept = (badRequest && anyUnpack(badRequest, BadRequestSchema)?.fieldViolations.length) ?? 0;
    expect(kept).toBeGreaterThan(20);
  });

  test("that is a bug of ours says only INTERNAL", async () => {
    const { port, faults } = await serveEcho(() => Promise.reject(new Error("secret")));
    const { error } = await clientOf(port)("x").answer;
    expect(error?.code).toBe(grpc.status.INTERNAL);
    expect(JSON.stringify(error)).not.toContain("secret");
    expect(faults).toHaveLength(1);
  });

  test("is UNIMPLEMENTED for an unknown method or service", async () => {
    const { port } = await serveEcho(echoing().invoke);
    for (const path of [
      "/signpost.testing.v1.EchoService/Nothing",
      "/nothing.v1.Nothing/Nothing",
      "/",
      "/a?b",
    ]) {
      expect((await raw(port, framed(hello), { ":path": path })).status).toBe(grpc.status.UNIMPLEMENTED);
    }
  });
});

describe("a malformed gRPC request", () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const cases: [name: string, body: Buffer, headers: http2.OutgoingHttpHeaders, status: grpc.status][] = [
    ["has no message", Buffer.alloc(0), {}, grpc.status.INVALID_ARGUMENT],
    ["has half a head", Buffer.alloc(3), {}, grpc.status.INVALID_ARGUMENT],
    ["is shorter than it says", framed(hello).subarray(0, 9), {}, grpc.status.INVALID_ARGUMENT],
    ["has two messages", Buffer.concat([framed(hello), framed(hello)]), {}, grpc.status.INVALID_ARGUMENT],
    ["has an unknown flag", framed(hello, 2), {}, grpc.status.INVALID_ARGUMENT],
    ["says it has four gigabytes", Buffer.from([0, 255, 255, 255, 255, 1]), {}, grpc.status.INVALID_ARGUMENT],
    ["is compressed without saying how", framed(gzipSync(hello), 1), {}, grpc.status.INTERNAL],
    [
      "is compressed in an unknown way",
      framed(hello, 1),
      { "grpc-encoding": "br" },
      grpc.status.UNIMPLEMENTED,
    ],
    [
      "is not compressed as it says",
      framed(hello, 1),
      { "grpc-encoding": "gzip" },
      grpc.status.INVALID_ARGUMENT,
    ],
    ["is a bomb", framed(bomb, 1), { "grpc-encoding": "gzip" }, grpc.status.INVALID_ARGUMENT],
    ["is no message of the type", framed(Buffer.from([255, 255])), {}, grpc.status.INVALID_ARGUMENT],
    ["has a timeout of words", framed(hello), { "grpc-timeout": "soon" }, grpc.status.INVALID_ARGUMENT],
    [
      "has a timeout of nine digits",
      framed(hello),
      { "grpc-timeout": "123456789S" },
      grpc.status.INVALID_ARGUMENT,
    ],
    ["has a timeout without unit", framed(hello), { "grpc-timeout": "5" }, grpc.status.INVALID_ARGUMENT],
  ];
  test.each(cases)("is refused when it %s", async (_name, body, headers, status) => {
    const { port, faults } = await serveEcho(echoing().invoke);
    expect((await raw(port, body, headers)).status).toBe(status);
    expect(faults).toEqual([]);
  });

  test("gets a list of the supported compressions", async () => {
    const { port } = await serveEcho(echoing().invoke);
    const { head } = await raw(port, framed(hello), { "grpc-encoding": "br" });
    expect(head["grpc-accept-encoding"]).toBe("identity,gzip,deflate");
  });

  test("may name a compression without using it", async () => {
    const { port } = await serveEcho(echoing().invoke);
    expect((await raw(port, framed(hello), { "grpc-encoding": "gzip" })).answer).toContain("hello");
    expect((await raw(port, framed(deflateSync(hello), 1), { "grpc-encoding": "deflate" })).answer).toContain(
      "hello",
    );
  });

  test("always gets a status, whatever its bytes are", async () => {
    const { port, faults } = await serveEcho(echoing().invoke);
    const headers = fc.record({
      "grpc-timeout": fc.constantFrom("1S", "x", "", "-1S"),
      "grpc-encoding": fc.constantFrom("identity", "gzip", "x"),
    });
    const body = fc.oneof(
      fc.uint8Array(),
      fc.tuple(fc.uint8Array(), fc.nat(3)).map(([bytes, flag]) => framed(bytes, flag)),
    );
    await fc.assert(
      fc.asyncProperty(body, headers, async (bytes, sent) => {
        const { status, head } = await raw(port, bytes, sent);
        expect(head[":status"]).toBe(200);
        expect(status).toBeLessThan(17);
      }),
      { seed: 7, numRuns: 300 },
    );
    expect(faults).toEqual([]);
  });
});

test("takes and answers messages in JSON", async () => {
  const { port } = await serveEcho(echoing().invoke);
  const json = framed(Buffer.from('{"text":"hello"}'));
  const { answer, status } = await raw(port, json, { "content-type": "application/grpc+json" });
  expect(answer).toContain('{"text":"hello"}');
  expect(status).toBe(0);
});

test("reads the message only when the pipeline asks for it", async () => {
  const invoke = vi.fn<Invoke>(async () => ({
    ok: false,
    error: fail("UNAUTHENTICATED", "UNAUTHENTICATED", "no token"),
    headers: {},
  }));
  const { port } = await serveEcho(invoke);
  expect((await raw(port, framed(Buffer.from([255])))).status).toBe(grpc.status.UNAUTHENTICATED);
  expect(invoke).toHaveBeenCalledOnce();
});

test("is answered when its empty body has ended before the pipeline asks for it", async () => {
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { port } = await serveEcho(async (method, read, call) => {
    begun.resolve();
    await goOn.promise;
    return echoing().invoke(method, read, call);
  });
  const session = http2.connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/signpost.testing.v1.EchoService/Echo",
    "content-type": "application/grpc",
  });
  const response = once(stream, "response");
  stream.end();
  await begun.promise;
  // Frames are taken in order, so the request has ended.
  await new Promise((resolve) => session.ping(resolve));
  goOn.resolve();
  const [head] = await response;
  expect(head["grpc-message"]).toBe("the request holds no message");
});
