import type { BytesRow } from "./row.ts";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A frame of RFC 9113, section 4.1; `length` may be false. */
function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array,
  length = payload.length,
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const [data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
] as const;
const none = new Uint8Array();
const endHeaders = 4;

// `:method GET`, `:scheme http`, `:path /` from HPACK's static table.
const get = Uint8Array.of(0x82, 0x86, 0x84);

const afterSettings: Record<string, Buffer> = {
  "data on stream 0": frame(data, 0, 0, Buffer.from("x")),
  "data on a stream that was never opened": frame(data, 0, 1, Buffer.from("x")),
  "headers on stream 0": frame(headers, endHeaders, 0, get),
  "headers on a stream of the server": frame(headers, endHeaders, 2, get),
  "headers that HPACK cannot read": frame(headers, endHeaders, 1, Buffer.alloc(40, 0xff)),
  "an index beyond HPACK's table": frame(headers, endHeaders, 1, Uint8Array.of(0xff, 0xff, 0xff, 0x7f)),
  "padding longer than the frame": frame(headers, endHeaders | 8, 1, Uint8Array.of(200, 0x82)),
  "a frame between headers and their continuation": Buffer.concat([
    frame(headers, 0, 1, get),
    frame(ping, 0, 0, Buffer.alloc(8)),
  ]),
  "a continuation of nothing": frame(continuation, endHeaders, 1, get),
  "a priority of four bytes": frame(priority, 0, 1, Buffer.alloc(4)),
  "a reset of a stream that was never opened": frame(reset, 0, 1, Buffer.alloc(4)),
  "a reset of three bytes": frame(reset, 0, 1, Buffer.alloc(3)),
  "settings of five bytes": frame(settings, 0, 0, Buffer.alloc(5)),
  "settings on a stream": frame(settings, 0, 1, none),
  "an acknowledgement with settings": frame(settings, 1, 0, Buffer.alloc(6)),
  "a window beyond 31 bits in settings": frame(settings, 0, 0, Uint8Array.of(0, 4, 0xff, 0xff, 0xff, 0xff)),
  "a frame size of one byte in settings": frame(settings, 0, 0, Uint8Array.of(0, 5, 0, 0, 0, 1)),
  "a push from a client": frame(pushPromise, endHeaders, 1, Uint8Array.of(0, 0, 0, 2, ...get)),
  "a ping of seven bytes": frame(ping, 0, 0, Buffer.alloc(7)),
  "a ping on a stream": frame(ping, 0, 1, Buffer.alloc(8)),
  "a farewell of four bytes": frame(goAway, 0, 0, Buffer.alloc(4)),
  "a window that does not grow": frame(windowUpdate, 0, 0, Buffer.alloc(4)),
  "a window that grows over its limit": frame(windowUpdate, 0, 0, Uint8Array.of(0x7f, 0xff, 0xff, 0xff)),
  "a frame larger than agreed": frame(data, 0, 1, Buffer.alloc(17_000)),
};

function row(name: string, ...parts: Uint8Array[]): BytesRow {
  return {
    kind: "bytes",
    name: `HTTP/2: ${name}`,
    bytes: Buffer.concat([preface, ...parts]),
    expect: "cut off",
  };
}

/** Bytes that break HTTP/2: the server ends the connection. */
export const frameRows: readonly BytesRow[] = [
  row("no settings first", frame(ping, 0, 0, Buffer.alloc(8))),
  row("text after the preface", Buffer.from("GET / HTTP/1.1\r\n\r\n")),
  row("zero bytes after the preface", Buffer.alloc(64)),
  ...Object.entries(afterSettings).map(([name, bytes]) => row(name, frame(settings, 0, 0, none), bytes)),
];
