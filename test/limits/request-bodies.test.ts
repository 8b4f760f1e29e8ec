import { readFile } from "node:fs/promises";
import http, { type IncomingHttpHeaders } from "node:http";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/start-service.ts";

const mebibyte = 1024 * 1024;
const service: Service = await startService({ env: { MAX_BODIES_MB_PER_ADDRESS: "8" } });
afterAll(() => service.stop());
const token = service.credentials.accessToken;

/** A request whose body is sent by the test. */
interface Upload {
  /** Sends a part, and waits until the client can send more. */
  send(bytes: Uint8Array): Promise<void>;
  end(bytes?: Uint8Array): void;
  readonly answer: Promise<Reply>;
  abort(): void;
}

interface Reply {
  /** The HTTP status; the gRPC status where there is one. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Way {
  readonly name: string;
  readonly http: 1 | 2;
  readonly path: string;
  readonly contentType: string;
}

const rpc = "/signpost.v1.LinksService/CreateBulkJob";
const ways: readonly Way[] = [
  { name: "REST", http: 1, path: "/v1/links/bulk/jobs", contentType: "application/json" },
  { name: "REST over HTTP/2", http: 2, path: "/v1/links/bulk/jobs", contentType: "application/json" },
  { name: "Connect", http: 1, path: rpc, contentType: "application/json" },
  { name: "Connect over HTTP/2", http: 2, path: rpc, contentType: "application/proto" },
  { name: "gRPC-Web", http: 1, path: rpc, contentType: "application/grpc-web+proto" },
  { name: "gRPC", http: 2, path: rpc, contentType: "application/grpc" },
  { name: "gRPC with JSON", http: 2, path: rpc, contentType: "application/grpc+json" },
];

function open(way: Way, headers: Record<string, string>): Upload {
  const sent = { "content-type": way.contentType, te: "trailers", ...headers };
  return way.http === 1 ? openHttp1(way.path, sent) : openHttp2(way.path, sent);
}

/** Keeps connections open, so that no refusal waits for the rest of a body before it closes. */
const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
afterAll(() => agent.destroy());

function openHttp1(path: string, { te: _, ...headers }: Record<string, string>): Upload {
  const req = http.request({
    host: "127.0.0.1",
    port: service.port,
    method: "POST",
    path,
    headers,
    agent,
  });
  req.flushHeaders();
  const { promise: answer, resolve } = Promise.withResolvers<Reply>();
  const gone = () => resolve({ status: 0, headers: {}, text: "" });
  req.on("error", gone);
  req.on("response", (res) => {
    const { statusCode: status = 0, headers: received } = res;
    const grpcStatus = (body: string) => /grpc-status: (\d+)/.exec(body)?.[1];
    text(res).then(
      (body) => resolve({ status: Number(grpcStatus(body) ?? status), headers: received, text: body }),
      gone,
    );
  });
  return {
    send: (bytes) => sendOn(req, bytes, answer),
    end: (bytes) => void req.end(bytes),
    answer,
    abort: () => void req.destroy(),
  };
}

function openHttp2(path: string, headers: Record<string, string>): Upload {
  const session = http2.connect(`http://127.0.0.1:${service.port}`).on("error", () => {});
  const stream = session.request({ ":method": "POST", ":path": path, ...headers }).on("error", () => {});
  const { promise: answer, resolve } = Promise.withResolvers<Reply>();
  let head: IncomingHttpHeaders & { ":status"?: number | undefined } = {};
  let body = "";
  stream.on("response", (received) => {
    head = { ...head, ...received };
  });
  stream.on("trailers", (received) => {
    head = { ...head, ...received };
  });
  stream.setEncoding("utf8").on("data", (piece: string) => {
    body += piece;
  });
  const done = () => {
    const status = head["grpc-status"] ?? head[":status"] ?? 0;
    resolve({ status: Number(status), headers: head, text: body });
    session.destroy();
  };
  stream.on("end", done).on("close", done);
  return {
    send: (bytes) => sendOn(stream, bytes, answer),
    end: (bytes) => void stream.end(bytes),
    answer,
    abort: () => session.destroy(),
  };
}

/** Waits until the bytes are sent, or until an answer makes them pointless. */
async function sendOn(
  to: NodeJS.WritableStream & { readonly destroyed?: boolean },
  bytes: Uint8Array,
  answer: Promise<Reply>,
): Promise<void> {
  if (to.destroyed === true) return;
  const written = new Promise<void>((settle) => to.write(bytes, () => settle()));
  await Promise.race([written, answer]);
}

/** The first bytes of a body of `length` bytes. */
function beginning({ contentType }: Way, length: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return contentType.startsWith("application/grpc") ? head : Buffer.alloc(0);
}

/** A well-formed message of the given size that contains no link, and is refused when it is read. */
function emptyOrder({ contentType }: Way, length: number): Buffer {
  if (contentType.endsWith("json")) return Buffer.from(`{"links":[]${" ".repeat(length - 12)}}`);
  // An unknown field: number 15, of the length that follows.
  const head = Buffer.from([
    0x7a,
    0x80 | (length & 127),
    0x80 | ((length >> 7) & 127),
    0x80 | ((length >> 14) & 127),
    length >> 21,
  ]);
  return Buffer.concat([head, Buffer.alloc(length)]);
}

async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

const unauthenticated = (way: Way) => (isGrpc(way) ? 16 : 401);
const invalidArgument = (way: Way) => (isGrpc(way) ? 3 : 400);
const exhausted = (way: Way) => (isGrpc(way) ? 8 : 429);
const isGrpc = ({ contentType }: Way) => contentType.startsWith("application/grpc");

describe.each(ways)("over $name", (way) => {
  test.each([
    ["without a token", {}],
    ["with a bad token", { authorization: "Bearer nonsense" }],
  ])("a caller %s is answered before a byte of the body has come", async (_name, headers) => {
    const upload = open(way, { ...headers, ...announced(way, 30 * mebibyte) });
    expect((await upload.answer).status).toBe(unauthenticated(way));
    upload.abort();
  });

  test("the bodies of 60 callers without a good token are not kept", async () => {
    const before = await residentBytes();
    let most = before;
    let sending = true;
    const watching = (async () => {
      while (sending) {
        most = Math.max(most, await residentBytes());
        await pause(5);
      }
    })();
    const part = Buffer.alloc(mebibyte, 32);
    const uploads = Array.from({ length: 60 }, (_, index) =>
      open(way, { ...(index % 2 === 0 ? {} : { authorization: "Bearer nonsense" }) }),
    );
    await Promise.all(
      uploads.map(async (upload) => {
        await upload.send(beginning(way, 30 * mebibyte));
        for (let sent = 0; sent < 8; sent++) await upload.send(part);
      }),
    );
    sending = false;
    await watching;
    for (const upload of uploads) upload.abort();
    expect((most - before) / mebibyte).toBeLessThan(64);
  });

  test("large bodies of one address take turns, and small bodies are accepted meanwhile", async () => {
    const headers = { authorization: `Bearer ${token}` };
    const large = emptyOrder(way, 6 * mebibyte);
    const first = open(way, { ...headers, ...announced(way, large.length) });
    await first.send(Buffer.concat([beginning(way, large.length), large.subarray(0, -1)]));
    const second = open(way, { ...headers });
    // A little over the limit: the server drops the rest that is on its way, so that the answer arrives.
    await second.send(Buffer.concat([beginning(way, large.length), large.subarray(0, 2.25 * mebibyte)]));
    const refused = await second.answer;
    expect(refused.status).toBe(exhausted(way));
    if (!isGrpc(way)) expect(refused.headers["retry-after"]).toBe("1");
    const small = open(way, { ...headers });
    const order = emptyOrder(way, 1000);
    small.end(Buffer.concat([beginning(way, order.length), order]));
    expect((await small.answer).status).toBe(invalidArgument(way));
    first.end(large.subarray(-1));
    expect((await first.answer).status).toBe(invalidArgument(way));
    const third = open(way, { ...headers });
    third.end(Buffer.concat([beginning(way, large.length), large]));
    expect((await third.answer).status).toBe(invalidArgument(way));
  });
});

function announced(way: Way, length: number): Record<string, string> {
  return { "content-length": String(beginning(way, length).length + length) };
}

test("a body counts again after decompression", async () => {
  const headers = { authorization: `Bearer ${token}`, "content-encoding": "gzip" };
  const way = { http: 1 as const, name: "Connect", path: rpc, contentType: "application/json" };
  const first = open(way, { authorization: `Bearer ${token}` });
  await first.send(emptyOrder(way, 4 * mebibyte).subarray(0, -1));
  const zipped = open(way, headers);
  zipped.end(gzipSync(emptyOrder(way, 6 * mebibyte)));
  expect((await zipped.answer).status).toBe(429);
  first.abort();
});

test("a body in pieces of one byte costs no more than its bytes", async () => {
  const before = await residentBytes();
  const pieces = Buffer.from("1\r\n \r\n".repeat(mebibyte));
  const req = http
    .request({
      host: "127.0.0.1",
      port: service.port,
      method: "POST",
      path: "/v1/links/bulk/jobs",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "transfer-encoding": "chunked",
      },
    })
    .on("error", () => {});
  const socket = await new Promise<import("node:net").Socket>((settle) => req.on("socket", settle));
  req.flushHeaders();
  await new Promise<void>((settle) => socket.write(pieces, () => settle()));
  const most = await residentBytes();
  req.destroy();
  // A list of pieces took over 100.
  expect((most - before) / mebibyte).toBeLessThan(90);
});
