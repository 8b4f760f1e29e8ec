import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import type { Limits } from "./limits.ts";
import { type Handler, listen } from "./listen.ts";

const log = pino({ level: "silent" });
const quick: Partial<Limits> = { headersMs: 100, requestMs: 150, idleMs: 100, checkMs: 20 };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  limits: Partial<Limits>,
  handler: Handler = (_req, res) => res.end("ok"),
): Promise<number> {
  const listener = await listen({ host: "127.0.0.1", port: 0, log, handler, limits });
  cleanups.push(() => listener.close(0));
  return listener.port;
}

function dial(port: number): net.Socket {
  const socket = net.connect(port, "127.0.0.1").on("error", () => {});
  cleanups.push(() => socket.destroy());
  return socket;
}

/** Resolves when the server has ended the connection; if it never does, the test's own time limit fails the test. */
async function cut(socket: net.Socket): Promise<void> {
  socket.resume();
  if (!socket.destroyed) await new Promise((settle) => socket.once("close", settle));
}

/**
 * Everything the server sent until the connection ended. The connection ends with a reset when the server left bytes
 * unread.
 */
async function heard(socket: net.Socket): Promise<string> {
  let said = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    said += piece;
  });
  await cut(socket);
  return said;
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const types = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
};

function frame(
  type: keyof typeof types,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(types[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Opens a connection and sends the HTTP/2 preface. */
function dialHttp2(port: number): net.Socket {
  const socket = dial(port);
  socket.write(Buffer.concat([Buffer.from(preface), frame("settings", 0, 0)]));
  return socket;
}

// :method GET, :scheme http, :path /, all from the static table, and an authority.
const get = Buffer.concat([Buffer.from([0x82, 0x86, 0x84, 0x41, 1]), Buffer.from("x")]);
const endStream = 1;
const endHeaders = 4;

/** Sends pieces until the server has ended the connection. */
async function flood(socket: net.Socket, piece: (round: number) => Buffer): Promise<void> {
  const ended = cut(socket);
  for (let round = 0; !socket.destroyed && socket.writable; round += 1) {
    if (!socket.write(piece(round))) await Promise.race([once(socket, "drain").catch(() => {}), ended]);
    if (round % 50 === 0) await new Promise(setImmediate);
  }
  await ended;
}

describe("cuts off a client that", () => {
  test("says nothing", async () => {
    await cut(dial(await start(quick)));
  });

  test("never completes the preface of HTTP/2", async () => {
    const socket = dial(await start(quick));
    socket.write(preface.slice(0, 20));
    await cut(socket);
  });

  test("says nothing after the preface of HTTP/2", async () => {
    const socket = dial(await start(quick));
    socket.write(preface);
    await cut(socket);
  });

  // Only this limit is set low: on a busy machine any other low limit might end the connection first.
  test("sends its headers too slowly", async () => {
    const socket = dial(await start({ headersMs: 100, checkMs: 20 }));
    const drip = setInterval(() => socket.write("a"), 20);
    cleanups.push(() => clearInterval(drip));
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nx-slow: ");
    expect(await heard(socket)).toContain("408");
  });

  test("sends its body too slowly", async () => {
    const limits = { headersMs: 500, requestMs: 500, checkMs: 20 };
    const socket = dial(await start(limits, (req, res) => req.on("end", () => res.end()).resume()));
    const drip = setInterval(() => socket.write("a"), 20);
    cleanups.push(() => clearInterval(drip));
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    expect(await heard(socket)).toContain("408");
  });

  test("never ends its request over HTTP/2", async () => {
    const limits = { headersMs: 150, requestMs: 150, checkMs: 20 };
    const port = await start(limits, (req, res) => req.on("end", () => res.end()).resume());
    const client = http2.connect(`http://127.0.0.1:${port}`).on("error", () => {});
    cleanups.push(() => client.destroy());
    const request = client.request({ ":method": "POST" }).on("error", () => {});
    await once(request, "close");
    expect(request.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
  });

  test("never ends its headers over HTTP/2", async () => {
    const socket = dialHttp2(await start(quick));
    socket.write(frame("headers", endStream, 1, get));
    await cut(socket);
  });

  test("keeps an idle connection, over HTTP/1.1", async () => {
    // Node gives a client one second more than the limit, for a request that is already under way.
    const socket = dial(await start(quick));
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await cut(socket);
  });

  test("keeps an idle connection, over HTTP/2", async () => {
    const socket = dialHttp2(await start(quick));
    socket.write(frame("headers", endStream | endHeaders, 1, get));
    await cut(socket);
  });

  test("closes its half of a connection and waits", async () => {
    const port = await start({ checkMs: 20 });
    for (const said of ["", "GET /", preface]) {
      const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => {});
      cleanups.push(() => socket.destroy());
      socket.end(said);
      socket.resume();
      await once(socket, "end");
    }
  });

  test("never reads its answer", async () => {
    let answered: (finished: boolean) => void = () => {};
    const outcome = new Promise<boolean>((settle) => {
      answered = settle;
    });
    const port = await start(quick, (_req, res) => {
      res.on("close", () => answered(res.writableFinished));
      res.end(Buffer.alloc(20_000_000));
    });
    dial(port).pause().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await outcome).toBe(false);
  });

  test("sends headers beyond the limit", async () => {
    const port = await start({ headerBytes: 8192 });
    const socket = dial(port);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nx-long: ${"a".repeat(9000)}\r\n\r\n`);
    expect(await heard(socket)).toContain("431");
    const client = http2.connect(`http://127.0.0.1:${port}`).on("error", () => {});
    cleanups.push(() => client.destroy());
    const [headers] = await once(client.request({ "x-long": "a".repeat(9000) }), "response");
    expect(headers[":status"]).toBe(431);
  });

  test("sends more headers than the limit", async () => {
    const port = await start({ headerCount: 20 });
    const client = http2.connect(`http://127.0.0.1:${port}`).on("error", () => {});
    cleanups.push(() => client.destroy());
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x-${index}`, "a"]));
    await expect(text(client.request(many))).rejects.toThrow();
  });

  test("opens and resets streams in a flood", async () => {
    const socket = dialHttp2(await start({ resetBurst: 50, resetsPerSecond: 1 }));
    await flood(socket, (round) => {
      const stream = round * 2 + 1;
      return Buffer.concat([
        frame("headers", endStream | endHeaders, stream, get),
        frame("reset", 0, stream, Buffer.from([0, 0, 0, 8])),
      ]);
    });
  });

  test("sends a flood of pings", async () => {
    await flood(dialHttp2(await start({ controlFrames: 100 })), () => frame("ping", 0, 0, Buffer.alloc(8)));
  });

  test("sends a flood of settings", async () => {
    await flood(dialHttp2(await start({ controlFrames: 100 })), () => frame("settings", 0, 0));
  });

  test("sends a flood of continuations", async () => {
    const socket = dialHttp2(await start({}));
    socket.write(frame("headers", endStream, 1, get));
    await flood(socket, () => frame("continuation", 0, 1, Buffer.concat([Buffer.from([0, 1, 97, 1, 97])])));
  });

  test("sends a flood of empty data", async () => {
    const port = await start(quick, (req, res) => req.on("end", () => res.end()).resume());
    const socket = dialHttp2(port);
    socket.write(frame("headers", endHeaders, 1, Buffer.concat([Buffer.from([0x83]), get.subarray(1)])));
    await flood(socket, () => frame("data", 0, 1));
  });

  test.each<[string, Buffer]>([
    ["a frame of unknown length", Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1])],
    ["data on stream 0", frame("data", 0, 0, Buffer.from("x"))],
    ["a pushed stream", frame("push", endHeaders, 1, Buffer.from([0, 0, 0, 2]))],
    ["headers on an even stream", frame("headers", endStream | endHeaders, 2, get)],
    [
      "a broken header block",
      frame("headers", endStream | endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])),
    ],
    ["a window of zero", frame("window", 0, 0, Buffer.alloc(4))],
    ["settings of an odd length", frame("settings", 0, 0, Buffer.alloc(5))],
    ["a short ping", frame("ping", 0, 0, Buffer.alloc(3))],
    ["a continuation of nothing", frame("continuation", endHeaders, 1, get)],
  ])("sends %s", async (_name, bytes) => {
    const socket = dialHttp2(await start(quick));
    socket.write(bytes);
    await cut(socket);
  });

  test.each([
    "\0\0\0\0\0\0\0\0",
    "GET / HTTP/9.9\r\n\r\n",
    "GET /\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n\0",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nbad header: y\r\n\r\n",
  ])("sends %j", async (bytes) => {
    const socket = dial(await start(quick));
    socket.write(bytes);
    const answer = await heard(socket);
    expect(answer === "" || / 400 | 505 /.test(answer)).toBe(true);
  });
});

test("a client whose request came in time is answered, even if the process was too busy to read it in time", async () => {
  const socket = dial(await start({ headersMs: 100, checkMs: 20 }));
  await once(socket, "connect");
  for (let round = 0; round < 3; round += 1) await new Promise(setImmediate);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const until = performance.now() + 200;
  while (performance.now() < until);
  expect(await heard(socket)).toContain("200 OK");
});

test("closes connections over the limit of one address at once, but never those of a proxy", async () => {
  const port = await start({ connectionsPerAddress: 2 });
  const [first, second] = [dialHttp2(port), dialHttp2(port)];
  await Promise.all([once(first, "data"), once(second, "data")]);
  await cut(dial(port));
  first.destroy();
  const status = (of: number) => fetch(`http://127.0.0.1:${of}/`).then((answer) => answer.status, String);
  await expect.poll(() => status(port), { timeout: 20_000 }).toBe(200);
  const proxied = await listen({
    host: "127.0.0.1",
    port: 0,
    log,
    handler: (_req, res) => res.end("ok"),
    limits: { connectionsPerAddress: 2 },
    isProxy: (address) => address === "127.0.0.1",
  });
  cleanups.push(() => proxied.close(0));
  const sockets = [1, 2, 3].map(() => dialHttp2(proxied.port));
  await Promise.all(sockets.map((socket) => once(socket, "data")));
  expect(await status(proxied.port)).toBe(200);
});

test("closes connections over the limit at once, and accepts new ones when one has ended", async () => {
  const port = await start({ connections: 2 });
  const first = dialHttp2(port);
  const second = dialHttp2(port);
  await Promise.all([once(first, "data"), once(second, "data")]);
  await cut(dial(port));
  first.destroy();
  const status = () => fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.status, String);
  await expect.poll(status, { timeout: 20_000 }).toBe(200);
});

test("refuses requests of one connection over the limit of running requests", async () => {
  const port = await start({ streams: 2 }, () => {});
  const socket = dialHttp2(port);
  const refused = new Promise<number>((settle) => {
    socket.on("data", (bytes: Buffer) => {
      for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
        if (bytes[at + 3] === types.reset) settle(bytes.readUInt32BE(at + 5));
      }
    });
  });
  for (const stream of [1, 3, 5]) socket.write(frame("headers", endStream | endHeaders, stream, get));
  expect(await refused).toBe(5);
});
