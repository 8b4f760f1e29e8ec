import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { plainAddress } from "../lib/client-address.ts";
import { createAddressCount } from "../lib/limits/address-count.ts";
import { createHttp2Sessions, type OnStream } from "./http2-sessions.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import type { HostCertificates } from "./names/host-certificates.ts";
import { namedPort } from "./names/named-port.ts";
import { cleartextPort, type KeyPair, securePort, type Takers, type VersionedPort } from "./ports.ts";

/**
 * Answers a request of either HTTP version; for HTTP/2 it gets the objects that imitate those of HTTP/1.1. When a
 * client expects 100-continue, the handler calls `res.writeContinue()` or answers at once.
 */
export type Handler = (req: http.IncomingMessage, res: http.ServerResponse) => void;

export interface ListenOptions {
  readonly host: string;
  /** The port to listen on; 0 takes any free one. */
  readonly port: number;
  /** With it, the port speaks TLS only: with one certificate, or with one for each name. */
  readonly tls?: KeyPair | HostCertificates;
  readonly handler: Handler;
  readonly onStream?: OnStream;
  readonly limits?: Partial<Limits>;
  /** Whether an address is a trusted proxy, which connects for many clients. */
  readonly isProxy?: (address: string) => boolean;
  readonly log: Logger;
}

export interface PortListener {
  readonly port: number;
  /** Accepts no more connections, lets running requests end for at most `graceMs`, then cuts the remaining ones. */
  close(graceMs: number): Promise<void>;
}

/** Opens one port for HTTP/1.1 and HTTP/2: by the client's first bytes in cleartext, by ALPN with TLS. */
export async function listen(options: ListenOptions): Promise<PortListener> {
  const limits = { ...defaultLimits, ...options.limits };
  const guarded = guard(options.handler, options.log);
  const http1 = createHttp1(limits, guarded);
  const sessions = createHttp2Sessions(limits, (stream, headers, rawHeaders) => {
    if (options.onStream?.(stream, headers) === true) return;
    answerStream(guarded, stream, headers, rawHeaders);
  });
  const takers = {
    http1: (socket: net.Socket) => http1.server.emit("connection", socket),
    http2: sessions.accept,
  };
  const port = openPort(options.tls, limits, takers);
  const sockets = admitSockets(port.server, limits, options.isProxy);
  port.server.listen(options.port, options.host);
  await once(port.server, "listening");
  const checks = setInterval(sessions.check, limits.checkMs).unref();
  return {
    port: boundPort(port.server),
    close: async (graceMs) => {
      const closed = new Promise<void>((settle) => port.server.close(() => settle()));
      port.endUnknown();
      sessions.drain();
      http1.drain();
      await idleOrLate(http1.server, closed, graceMs);
      for (const socket of sockets) socket.destroy();
      clearInterval(checks);
      await closed;
    },
  };
}

function openPort(tls: ListenOptions["tls"], limits: Limits, takers: Takers): VersionedPort {
  if (tls === undefined) return cleartextPort(limits, takers);
  return "find" in tls ? namedPort(tls, limits, takers) : securePort(tls, limits, takers);
}

/** Refuses connections beyond the limits, and gives the set of those that are open. */
function admitSockets(
  port: net.Server,
  limits: Limits,
  isProxy: ListenOptions["isProxy"],
): ReadonlySet<net.Socket> {
  const sockets = new Set<net.Socket>();
  const perAddress = createAddressCount({
    total: limits.connections,
    perAddress: limits.connectionsPerAddress,
  });
  port.maxConnections = limits.connections;
  port.on("connection", (socket: net.Socket) => {
    const address = plainAddress(socket.remoteAddress ?? "");
    if (address === undefined || isProxy?.(address) !== true) {
      const leave = perAddress.enter(address ?? "unknown");
      if (leave === undefined) {
        socket.destroy();
        return;
      }
      socket.on("close", leave);
    }
    sockets.add(socket);
    // Errors are ignored here: every reader of the socket sees its end.
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  return sockets;
}

/** Waits until the port has closed with its last connection, for at most `graceMs`. */
async function idleOrLate(http1: http.Server, closed: Promise<void>, graceMs: number): Promise<void> {
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  const deadline = performance.now() + graceMs;
  while (!isClosed && performance.now() < deadline) {
    // A connection becomes idle with the end of its request; nobody tells.
    http1.closeIdleConnections();
    await Promise.race([closed, pause(20)]);
  }
}

function createHttp1(limits: Limits, handler: Handler) {
  // The last answer of each connection that is still running. Not a Set of answers: a Set leaves dead tables behind that
  // keep each other and their answers alive, which made garbage collection a seventh of a redirect (measured on Node 24).
  const running = new Map<net.Socket, http.ServerResponse | undefined>();
  let draining = false;
  const onRequest = (req: http.IncomingMessage, res: http.ServerResponse) => {
    const { socket } = req;
    running.set(socket, res);
    res.on("close", () => {
      if (running.get(socket) === res) running.set(socket, undefined);
    });
    if (draining) res.setHeader("connection", "close");
    if (isWellFormed(req)) handler(req, res);
    else res.writeHead(400, { connection: "close" }).end();
  };
  const server = http.createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
  });
  server.on("request", onRequest).on("checkContinue", onRequest);
  server.on("connection", (socket) => socket.on("close", () => running.delete(socket)));
  server.maxHeadersCount = limits.headerCount;
  // A client that stops reading its answer is cut off.
  server.timeout = limits.requestMs;
  // The server starts to check its timeouts when it listens. It never listens itself, so the event is emitted for it.
  server.emit("listening");
  return {
    server,
    drain: () => {
      draining = true;
      for (const res of running.values())
        if (res?.headersSent === false) res.setHeader("connection", "close");
      server.close();
    },
  };
}

// Refuses two kinds of requests that Node accepts and that a proxy in front may read differently: HTTP/0.9 and a second
// Host.
function isWellFormed(req: http.IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts <= 1 && req.httpVersionMajor === 1;
}

// Makes a request and an answer of a stream, as node:http2 does for its own request event. That event cannot be limited
// to some streams.
function answerStream(
  handler: Handler,
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  rawHeaders: string[],
): void {
  const req = new http2.Http2ServerRequest(stream, headers, {}, rawHeaders);
  const res = new http2.Http2ServerResponse(stream);
  if (headers[":method"] === "CONNECT") {
    res.statusCode = 405;
    res.end();
    return;
  }
  // These classes imitate the types of HTTP/1.1; only their declarations are unrelated.
  handler(req as unknown as http.IncomingMessage, res as unknown as http.ServerResponse);
}

// Handlers deal with their own errors; this keeps an uncaught one from ending the process.
function guard(handler: Handler, log: Logger): Handler {
  return (req, res) => {
    try {
      handler(req, res);
    } catch (error) {
      log.error({ err: error, path: req.url }, "a request handler threw");
      if (!res.headersSent) res.writeHead(500);
      res.end();
    }
  };
}

function boundPort(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server listens on no port");
  return address.port;
}
