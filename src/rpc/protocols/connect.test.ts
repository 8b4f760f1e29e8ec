import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { EchoService } from "../../../gen/signpost/testing/v1/echo_pb.js";
import { echoing, serveEcho } from "../../../test/support/echo-server.ts";
import { fail } from "../../lib/errors.ts";
import type { Invoke } from "../call.ts";

const transports: [name: string, protocol: string, open: (baseUrl: string) => Transport][] = [
  ["Connect over HTTP/1.1", "connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["Connect over HTTP/2", "connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  [
    "Connect with binary messages",
    "connect",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
  ],
  [
    "Connect with GET",
    "connect",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true }),
  ],
  [
    "gRPC-Web over HTTP/1.1",
    "grpc-web",
    (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  ],
  ["gRPC-Web over HTTP/2", "grpc-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
  ["gRPC with JSON", "grpc", (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false })],
];

describe.each(transports)("%s", (_name, protocol, open) => {
  test("carries message and metadata there and back", async () => {
    const { invoke, calls } = echoing();
    const { port } = await serveEcho(async (...args) => ({
      ...(await invoke(...args)),
      headers: { ratelimit: "r=1" },
    }));
    const client = createClient(EchoService, open(`http://127.0.0.1:${port}`));
    let received = new Headers();
    const headers = { authorization: "Bearer abc", "idempotency-key": "key-1", "x-request-id": "caller_1" };
    const answer = await client.echo(
      { text: "grüß dich" },
      {
        headers,
        timeoutMs: 20_000,
        onHeader: (header) => {
          received = header;
        },
      },
    );
    expect(answer.text).toBe("grüß dich");
    expect(received.get("ratelimit")).toBe("r=1");
    expect(received.get("x-request-id")).toBe("caller_1");
    expect(calls).toMatchObject([
      {
        protocol,
        requestId: "caller_1",
        authorization: "Bearer abc",
        idempotencyKey: "key-1",
        target: "POST /signpost.testing.v1.EchoService/Echo",
        clientAddress: "192.0.2.1",
      },
    ]);
    expect(calls[0]?.timeoutMs).toBeGreaterThan(10_000);
  });

  test("carries an error with its details", async () => {
    const error = fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", "zu schnell", {
      fields: [{ field: "text", description: "shorter" }],
      retryAfterSeconds: 3,
      metadata: { limit: "60" },
      headers: { "www-authenticate": "Bearer" },
      cause: new Error("secret"),
    });
    const { port } = await serveEcho(async () => ({ ok: false, error, headers: { ratelimit: "r=0" } }));
    const client = createClient(EchoService, open(`http://127.0.0.1:${port}`));
    const thrown = await client.echo({ text: "x" }).catch(ConnectError.from);
    if (!(thrown instanceof ConnectError)) throw new Error("the call succeeded");
    expect(thrown.code).toBe(Code.ResourceExhausted);
    expect(thrown.rawMessage).toBe("zu schnell");
    expect(thrown.metadata.get("www-authenticate")).toBe("Bearer");
    expect(thrown.metadata.get("retry-after")).toBe("3");
    expect(thrown.metadata.get("ratelimit")).toBe("r=0");
    expect(thrown.metadata.get("x-request-id")).toBe("made-here");
    const reason = { reason: "RATE_LIMITED", domain: "signpost", metadata: { limit: "60" } };
    expect(thrown.findDetails(ErrorInfoSchema)).toMatchObject([reason]);
    expect(thrown.findDetails(BadRequestSchema)).toMatchObject([
      { fieldViolations: [{ field: "text", description: "shorter" }] },
    ]);
    expect(thrown.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 3n } }]);
  });

  test("answers a bug of ours with INTERNAL and no details", async () => {
    const { port, faults } = await serveEcho(() => Promise.reject(new Error("secret")));
    const client = createClient(EchoService, open(`http://127.0.0.1:${port}`));
    const thrown = await client.echo({ text: "x" }).catch(ConnectError.from);
    expect(thrown).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
    expect(faults).toHaveLength(1);
  });

  test("refuses a message over the limit", async () => {
    const { invoke, calls } = echoing();
    const { port } = await serveEcho(invoke, { bytesMax: 1000 });
    const client = createClient(EchoService, open(`http://127.0.0.1:${port}`));
    const thrown = await client.echo({ text: "x".repeat(5000) }).catch(ConnectError.from);
    expect(thrown).toMatchObject({ code: Code.InvalidArgument });
    expect(calls).toEqual([]);
  });

  test("ends a call at its deadline and aborts it", async () => {
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    const invoke: Invoke = (_method, _read, { signal }) => {
      signal.addEventListener("abort", () => abort());
      return new Promise(() => {});
    };
    const { port } = await serveEcho(invoke);
    const client = createClient(EchoService, open(`http://127.0.0.1:${port}`));
    const thrown = await client.echo({ text: "x" }, { timeoutMs: 200 }).catch(ConnectError.from);
    expect(thrown).toMatchObject({ code: Code.DeadlineExceeded });
    await aborted;
  });
});

test("takes a call made with curl", async () => {
  const { port } = await serveEcho(echoing().invoke);
  const response = await fetch(`http://127.0.0.1:${port}/signpost.testing.v1.EchoService/Echo`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"text":"hello","later":1}',
  });
  expect(await response.json()).toEqual({ text: "hello" });
  expect(response.headers.get("x-request-id")).toBe("made-here");
});

test.each([
  [
    "an unknown method",
    "/signpost.testing.v1.EchoService/Nothing",
    { "content-type": "application/json" },
    "{}",
    404,
  ],
  [
    "another media type",
    "/signpost.testing.v1.EchoService/Echo",
    { "content-type": "text/plain" },
    "{}",
    415,
  ],
  ["broken JSON", "/signpost.testing.v1.EchoService/Echo", { "content-type": "application/json" }, "{", 400],
  [
    "a broken message",
    "/signpost.testing.v1.EchoService/Echo",
    { "content-type": "application/proto" },
    "{",
    400,
  ],
  [
    "a message that is not compressed as it says",
    "/signpost.testing.v1.EchoService/Echo",
    { "content-type": "application/json", "content-encoding": "gzip" },
    "{}",
    400,
  ],
  [
    "a timeout of words",
    "/signpost.testing.v1.EchoService/Echo",
    { "content-type": "application/json", "connect-timeout-ms": "soon" },
    "{}",
    400,
  ],
])("refuses %s, under a request id", async (_name, path, headers, body, status) => {
  const { port, faults } = await serveEcho(echoing().invoke);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body });
  expect(response.status).toBe(status);
  expect(response.headers.get("x-request-id")).toBe("made-here");
  await response.text();
  expect(faults).toEqual([]);
});

test("reads the message only when the pipeline asks for it", async () => {
  const error = fail("UNAUTHENTICATED", "UNAUTHENTICATED", "no token");
  const { port } = await serveEcho(async () => ({ ok: false, error, headers: {} }));
  const response = await fetch(`http://127.0.0.1:${port}/signpost.testing.v1.EchoService/Echo`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{",
  });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ code: "unauthenticated", message: "no token" });
});

test("blames malformed bytes on the client, whatever they are", async () => {
  const { port, faults } = await serveEcho(echoing().invoke);
  const types = [
    "application/json",
    "application/proto",
    "application/grpc-web+proto",
    "application/grpc-web+json",
  ];
  const headers = fc.record(
    {
      "content-type": fc.constantFrom(...types),
      "content-encoding": fc.constantFrom("identity", "gzip"),
      "grpc-encoding": fc.constantFrom("identity", "gzip"),
      "connect-timeout-ms": fc.constantFrom("5000", "-1"),
    },
    { requiredKeys: ["content-type"] },
  );
  const json = fc.json().map((text) => new TextEncoder().encode(text));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array(), json), headers, async (body, sent) => {
      const url = `http://127.0.0.1:${port}/signpost.testing.v1.EchoService/Echo`;
      const response = await fetch(url, { method: "POST", body: Buffer.from(body), headers: sent });
      expect([200, 400, 501]).toContain(response.status);
      expect(await response.text()).not.toContain("grpc-status: 13");
    }),
    { seed: 7, numRuns: 500 },
  );
  expect(faults).toEqual([]);
});
