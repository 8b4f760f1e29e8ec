import { existsSync, readFileSync } from "node:fs";
import http2 from "node:http2";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/start-service.ts";

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

const unpackedPiece = 64 * 1024 * 1024;

/** 1 MB that decompresses to 1 GB: a gzip file may consist of several in a row. */
const bomb = Buffer.concat(Array<Buffer>(16).fill(gzipSync(Buffer.alloc(unpackedPiece))));

/** Small enough to pass every limit as sent, and a thousand times as large once decompressed. */
const smallBomb = gzipSync(Buffer.alloc(15_000_000));

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 1;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The status, headers, body and trailers of an answer, as one text. */
function answerOf(path: string, headers: http2.OutgoingHttpHeaders, body: Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const session = http2.connect(`http://127.0.0.1:${service.port}`);
  session.on("error", () => undefined);
  const stream = session.request({ ":method": "POST", ":path": path, te: "trailers", ...headers });
  let answer = "";
  const note = (received: http2.IncomingHttpHeaders) => {
    answer += JSON.stringify(received);
  };
  stream.on("response", note).on("trailers", note);
  stream.on("data", (chunk: Buffer) => {
    answer += chunk.toString("latin1");
  });
  // A server that refuses early resets the stream after its answer.
  stream.on("error", (error) => (answer === "" ? reject(error) : undefined));
  stream.on("close", () => {
    session.destroy();
    resolve(answer);
  });
  stream.end(body);
  return promise;
}

const health = "/grpc.health.v1.Health/Check";
const watch = "/grpc.health.v1.Health/Watch";
const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const open = "/signpost.v1.ApiScopesService/List";

const grpc = (codec: string) => ({ "content-type": `application/grpc${codec}`, "grpc-encoding": "gzip" });
const connect = (codec: string) => ({ "content-type": `application/${codec}`, "content-encoding": "gzip" });
const stream = { "content-type": "application/connect+json", "connect-content-encoding": "gzip" };

// gRPC's number of RESOURCE_EXHAUSTED is 8, and Connect writes its name. The library answers so for health and
// reflection.
const exhausted = /"?grpc-status"?: ?"?8|resource_exhausted/;
// gRPC's number of INVALID_ARGUMENT is 3. Every protocol of calls refuses in the same way.
const tooLarge = /"?grpc-status"?: ?"?3|invalid_argument|REQUEST_TOO_LARGE/;

const rows: [
  name: string,
  path: string,
  headers: http2.OutgoingHttpHeaders,
  isFramed: boolean,
  refusal: RegExp,
][] = [
  ["health by gRPC", health, grpc(""), true, exhausted],
  ["health by gRPC with JSON", health, grpc("+json"), true, exhausted],
  ["health by Connect", health, connect("json"), false, exhausted],
  ["health by Connect with protobuf", health, connect("proto"), false, exhausted],
  ["health by gRPC-Web", health, grpc("-web+proto"), true, exhausted],
  ["a watch of health by gRPC", watch, grpc(""), true, exhausted],
  ["a watch of health by Connect", watch, stream, true, exhausted],
  ["reflection by gRPC", reflection, grpc(""), true, exhausted],
  ["reflection by Connect", reflection, stream, true, exhausted],
  ["a call by gRPC", open, grpc(""), true, tooLarge],
  ["a call by gRPC with JSON", open, grpc("+json"), true, tooLarge],
  ["a call by gRPC-Web", open, grpc("-web+proto"), true, tooLarge],
  ["a call by gRPC-Web with JSON", open, grpc("-web+json"), true, tooLarge],
  ["a call by Connect", open, connect("json"), false, tooLarge],
  ["a call by Connect with protobuf", open, connect("proto"), false, tooLarge],
  ["a call by REST", "/v1/public/qrcode-designs", connect("json"), false, tooLarge],
];

/** The service's peak memory in bytes; undefined where the system does not report it. */
function peakBytes(): number | undefined {
  const path = `/proc/${service.pid}/status`;
  const line = existsSync(path) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(path, "utf8"))?.[1] : undefined;
  return line === undefined ? undefined : Number(line) * 1024;
}

test.each(rows)(
  "a message that unpacks to a gigabyte is refused: %s",
  async (_name, path, headers, isFramed, refusal) => {
    const before = peakBytes() ?? 0;
    for (const message of [smallBomb, bomb]) {
      const answer = await answerOf(path, headers, isFramed ? framed(message) : message);
      expect(answer).toMatch(refusal);
    }
    expect(service.alive()).toBe(true);
    // Ten times the limit of the largest of these messages.
    expect((peakBytes() ?? 0) - before).toBeLessThan(100_000_000);
  },
);
