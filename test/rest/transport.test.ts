import { createServer } from "node:http";
import { connect as connectHttp2, constants, createServer as createHttp2Server } from "node:http2";
import { connect as connectTcp } from "node:net";
import type { Message } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { SpecimensService } from "../../gen/signpost/testing/v1/specimens_service_pb.js";
import { restHandler } from "../../src/rest/handler.ts";
import type { Call } from "../../src/rpc/call.ts";
import { echo, errorOf, listen, serveSpecimens, specimenOptions } from "./serve.ts";

const { ask, port } = await serveSpecimens(echo);

test("a body over the limit is 413, announced or not, and a method may have its own limit", async () => {
  const small = await serveSpecimens(echo, {
    bodyBytesMaxOf: (method) => (method === SpecimensService.method.create ? 10 : undefined),
  });
  const body = '{"id":"12345"}';
  const announced = await small.ask("/v1/specimens", { method: "POST", body });
  expect(errorOf(announced.json)).toMatchObject({ code: 413, codeType: "REQUEST_TOO_LARGE" });
  const streamed = await small.ask("/v1/specimens", {
    method: "POST",
    body,
    headers: { "transfer-encoding": "chunked" },
  });
  expect(streamed.status).toBe(413);
  expect((await small.ask("/v1/specimens", { method: "POST", body: '{"id":"1"}' })).status).toBe(200);
  expect((await small.ask("/v1/specimens/images:resolve", { method: "POST", body })).status).toBe(200);
  const huge = await ask("/v1/specimens", { method: "POST", body: Buffer.alloc(9 * 1024 * 1024, 32) });
  expect(huge.status).toBe(413);
  const justRight = Buffer.alloc(8 * 1024 * 1024, 32);
  justRight.write("{}");
  expect((await ask("/v1/specimens", { method: "POST", body: justRight })).status).toBe(200);
});

/** Sends bytes over TCP and returns the received text, up to `until` or the end of the connection. */
function sendRaw(text: string, until: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let received = "";
  const socket = connectTcp(port, "127.0.0.1", () => socket.write(text));
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString();
    if (until.test(received)) socket.destroy();
  });
  socket.on("close", () => resolve(received));
  socket.on("error", reject);
  return promise;
}

test("a client that waits for 100 Continue gets it only when its headers are accepted", async () => {
  const head = (length: number) =>
    `POST /v1/specimens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;
  expect(await sendRaw(head(2), /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 /);
  const refused = await sendRaw(head(9_000_000), /never/);
  expect(refused).toMatch(/^HTTP\/1\.1 413 /);
  expect(refused).toMatch(/connection: close/i);
});

test("a client that closes after its answer receives the refusal of a too large body", async () => {
  const body = " ".repeat(12 * 1024 * 1024);
  const head = `POST /v1/specimens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  for (let time = 0; time < 5; time++) {
    expect(await sendRaw(head + body, /never/)).toMatch(/^HTTP\/1\.1 413 /);
  }
});

test("the request line may contain the whole URL", async () => {
  const answer = await sendRaw(
    "GET http://example.com/v1/specimens/7?x=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    /never/,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

/** A handler that answers only after its caller has gone, with the facts that the test checks. */
function slowHandler() {
  const started = Promise.withResolvers<Call>();
  const aborted = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const faults: unknown[] = [];
  const handler = restHandler(
    specimenOptions(echo, {
      onFault: (error) => faults.push(error),
      invoke: async (_, read, call) => {
        call.signal.addEventListener("abort", () => aborted.resolve());
        started.resolve(call);
        await aborted.promise;
        // Resolves before the answer is written; setImmediate lets the write come first.
        queueMicrotask(() => setImmediate(answered.resolve));
        return { ok: true, message: echo(await read(async () => {}), "Get", call) as Message, headers: {} };
      },
    }),
  );
  return { handler, started: started.promise, answered: answered.promise, faults };
}

test("the signal aborts when the client goes away, and the late answer is dropped", async () => {
  const { handler, started, answered, faults } = slowHandler();
  const socket = connectTcp(await listen(createServer(handler)), "127.0.0.1");
  socket.write("GET /v1/specimens/7 HTTP/1.1\r\nHost: x\r\n\r\n");
  const { signal } = await started;
  expect(signal.aborted).toBe(false);
  socket.destroy();
  await answered;
  expect([signal.aborted, faults]).toEqual([true, []]);
});

test("over HTTP/2 the signal aborts with the stream, and the late answer is dropped", async () => {
  const { handler, started, answered, faults } = slowHandler();
  const session = connectHttp2(`http://127.0.0.1:${await listen(createHttp2Server(handler))}`);
  const stream = session.request({ ":path": "/v1/specimens/7" });
  stream.on("error", () => undefined);
  const { signal } = await started;
  stream.close(constants.NGHTTP2_CANCEL);
  await answered;
  expect([signal.aborted, faults]).toEqual([true, []]);
  session.close();
});

test("HTTP/2 is served the same way", async () => {
  const calls: Call[] = [];
  const handler = restHandler(
    specimenOptions((request, rpc, call) => {
      calls.push(call);
      return echo(request, rpc, call);
    }),
  );
  const session = connectHttp2(`http://127.0.0.1:${await listen(createHttp2Server(handler))}`);
  const ask2 = (headers: Record<string, string>, body?: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<[status: number | undefined, text: string]>();
    const stream = session.request(headers, { endStream: body === undefined });
    let status: number | undefined;
    let text = "";
    stream.on("response", (answer) => (status = answer[":status"]));
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    stream.on("end", () => resolve([status, text]));
    stream.on("error", reject);
    if (body !== undefined) stream.end(body);
    return promise;
  };
  const post = { ":method": "POST", ":path": "/v1/specimens", "content-type": "application/json" };
  expect((await ask2({ ":path": "/v1/specimens/7" }))[0]).toBe(200);
  expect(await ask2({ ":method": "HEAD", ":path": "/v1/specimens/7" })).toEqual([200, ""]);
  expect((await ask2(post, '{"id":"7"}'))[1]).toContain('"id":"7"');
  expect((await ask2(post))[0]).toBe(200);
  expect((await ask2(post, "{"))[0]).toBe(400);
  expect((await ask2({ ...post, "content-type": "text/plain" }, "{}"))[0]).toBe(415);
  expect((await ask2({ ":path": "/v1/nobody" }))[0]).toBe(404);
  expect((await ask2(post, " ".repeat(9_000_000)))[0]).toBe(413);
  expect(calls.map(({ signal }) => signal.aborted)).toEqual(calls.map(() => false));
  session.close();
});
