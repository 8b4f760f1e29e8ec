import { gzipSync } from "node:zlib";
import { bearer, type ConnectRow, type GrpcRow, type Headers, type RpcRefusal } from "./row.ts";

const create = "/signpost.v1.LinksService/Create";
const grpc: Headers = [["content-type", "application/grpc"], ["te", "trailers"], ...bearer];

/** Field 1, `destination`, of CreateLinkRequest. */
const destination = Buffer.from("\x0a\x14https://example.com/", "latin1");
const invalid: RpcRefusal = { code: "INVALID_ARGUMENT", reason: "INVALID_ARGUMENT" };
const tooLarge: RpcRefusal = { code: "INVALID_ARGUMENT", reason: "REQUEST_TOO_LARGE" };

/** A message with its head of five bytes. */
function frame(message: Uint8Array, flag = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

function grpcRow(
  name: string,
  body: Uint8Array,
  expect: RpcRefusal,
  more: Headers = [],
  path = create,
): GrpcRow {
  const replaced = new Set(more.map(([header]) => header));
  return {
    kind: "grpc",
    name: `gRPC: ${name}`,
    path,
    headers: [...grpc.filter(([header]) => !replaced.has(header)), ...more],
    body,
    expect,
  };
}

/** Bytes that are no CreateLinkRequest. */
const brokenMessages: Record<string, Uint8Array> = {
  "a tag without value": Uint8Array.of(0x0a),
  "a length beyond the end": Uint8Array.of(0x0a, 0x7f, 0x61),
  "a length of eleven bytes": Uint8Array.of(0x0a, ...Buffer.alloc(10, 0xff), 0x01),
  "a number cut short": Uint8Array.of(0x38, 0x80),
  "a number of eleven bytes": Uint8Array.of(0x38, ...Buffer.alloc(10, 0xff), 0x01),
  "field number zero": Uint8Array.of(0x00, 0x00),
  "wire type 6": Uint8Array.of(0x0e),
  "wire type 7": Uint8Array.of(0x0f),
  "the end of a group that never began": Uint8Array.of(0x0c),
  "a group that never ends": Uint8Array.of(0xa3, 0x06),
  "groups a hundred thousand deep": Buffer.alloc(100_000, 0x0b),
  "eight bytes cut short": Uint8Array.of(0x09, 1, 2, 3),
  "four bytes cut short": Uint8Array.of(0x0d, 1, 2),
  "a text that is no UTF-8": Uint8Array.of(0x0a, 0x02, 0xc3, 0x28),
  "a text with an overlong slash": Uint8Array.of(...destination, 0x12, 0x03, 0xe0, 0x80, 0xaf),
  "a text with half of a surrogate pair": Uint8Array.of(...destination, 0x12, 0x03, 0xed, 0xa0, 0x80),
  "a map entry that ends early": Uint8Array.of(...destination, 0x52, 0x04, 0x0a, 0x05, 0x61, 0x62),
  "all bytes set": Buffer.alloc(64, 0xff),
  JSON: Buffer.from('{"destination":"https://example.com/"}'),
};

export const grpcRows: readonly GrpcRow[] = [
  grpcRow("no message", Buffer.alloc(0), invalid),
  grpcRow("a message's head cut short", Buffer.alloc(4), invalid),
  grpcRow("a message shorter than it says", frame(destination, 0, 100), invalid),
  grpcRow("a message of four gigabytes, as it says", frame(destination, 0, 0xffffffff), invalid),
  grpcRow("a message longer than it says", frame(destination, 0, 5), invalid),
  grpcRow("two messages", Buffer.concat([frame(destination), frame(destination)]), invalid),
  grpcRow("a byte after the message", Buffer.concat([frame(destination), Buffer.alloc(1)]), invalid),
  ...[2, 4, 0x80, 0xff].map((flag) => grpcRow(`flag ${flag}`, frame(destination, flag), invalid)),
  grpcRow("no frame around the message", destination, invalid),
  // gRPC's description of compression requires this code.
  grpcRow("a compressed message without compression", frame(gzipSync(destination), 1), {
    code: "INTERNAL",
    reason: "INVALID_ARGUMENT",
  }),
  grpcRow("a compressed message that is not", frame(destination, 1), invalid, [["grpc-encoding", "gzip"]]),
  grpcRow("a compressed message cut short", frame(gzipSync(destination).subarray(0, 12), 1), invalid, [
    ["grpc-encoding", "gzip"],
  ]),
  grpcRow("a compressed message of another compression", frame(gzipSync(destination), 1), invalid, [
    ["grpc-encoding", "deflate"],
  ]),
  grpcRow(
    "a compression nobody knows",
    frame(destination, 1),
    { code: "UNIMPLEMENTED", reason: "UNIMPLEMENTED" },
    [["grpc-encoding", "pigeon"]],
  ),
  grpcRow("64 MiB in 64 KiB", frame(gzipSync(Buffer.alloc(64 * 1024 * 1024)), 1), tooLarge, [
    ["grpc-encoding", "gzip"],
  ]),
  grpcRow("a message over 8 MiB", frame(Buffer.alloc(8 * 1024 * 1024 + 1)), tooLarge),
  ...["", "5", "S", "5s", "-5S", "5.5S", "123456789S", "5 S", "fiveS"].map((timeout) =>
    grpcRow(`timeout "${timeout}"`, frame(destination), invalid, [["grpc-timeout", timeout]]),
  ),
  ...Object.entries(brokenMessages).map(([name, bytes]) => grpcRow(name, frame(bytes), invalid)),
  ...["k".repeat(256), "a\tb"].map((key) =>
    grpcRow(
      `idempotency key ${key.slice(0, 10)}`,
      frame(destination),
      { code: "INVALID_ARGUMENT", reason: "INVALID_IDEMPOTENCY_KEY" },
      [["idempotency-key", key]],
    ),
  ),
  grpcRow(
    "a method nobody has",
    frame(destination),
    { code: "UNIMPLEMENTED", reason: "UNIMPLEMENTED" },
    [],
    "/signpost.v1.LinksService/Frobnicate",
  ),
  grpcRow(
    "a method in lower case",
    frame(destination),
    { code: "UNIMPLEMENTED", reason: "UNIMPLEMENTED" },
    [],
    "/signpost.v1.LinksService/create",
  ),
  grpcRow(
    "a method with a slash more",
    frame(destination),
    { code: "UNIMPLEMENTED", reason: "UNIMPLEMENTED" },
    [],
    "/signpost.v1.LinksService/Create/",
  ),
];

function connectRow(
  name: string,
  headers: Headers,
  body: string | Uint8Array,
  status: number,
  expect: RpcRefusal,
  method = "POST",
  target = create,
): ConnectRow {
  return {
    kind: "connect",
    name: `Connect: ${name}`,
    request: { method, target, headers: [...bearer, ...headers], body },
    expect: { ...expect, status },
  };
}

const json: Headers = [["content-type", "application/json"]];
const proto: Headers = [["content-type", "application/proto"]];
const link = '{"destination":"https://example.com/"}';

const brokenJson: Record<string, string | Uint8Array> = {
  "a body that is an opening brace": "{",
  "a body that is a list": "[]",
  "a body that is a text": '"https://example.com/"',
  "a body that is white space": "  ",
  "a body that is no UTF-8": Uint8Array.of(0x7b, 0xff, 0x7d),
  "a number as destination": '{"destination":5}',
  "an object as name": `{"destination":"https://example.com/","name":{}}`,
  "a text as tags": `{"destination":"https://example.com/","tags":"a"}`,
  "null among the tags": `{"destination":"https://example.com/","tags":[null]}`,
  "a word as truth": `{"destination":"https://example.com/","waitForQrcode":"yes"}`,
  "half of a surrogate pair": `{"destination":"https://example.com/","name":"\\ud800"}`,
  "a list of lists of lists": `{"destination":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
};

export const connectRows: readonly ConnectRow[] = [
  ...Object.entries(brokenJson).map(([name, body]) => connectRow(name, json, body, 400, invalid)),
  ...Object.entries(brokenMessages).map(([name, body]) => connectRow(name, proto, body, 400, invalid)),
  connectRow(
    "a body that is not compressed as it says",
    [...json, ["content-encoding", "gzip"]],
    link,
    400,
    invalid,
  ),
  connectRow("a message over 8 MiB", json, Buffer.alloc(8 * 1024 * 1024 + 1, " "), 400, tooLarge),
  connectRow(
    "64 MiB in 64 KiB",
    [...proto, ["content-encoding", "gzip"]],
    gzipSync(Buffer.alloc(64 * 1024 * 1024)),
    400,
    tooLarge,
  ),
];
