import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import tls from "node:tls";
import type { Logger } from "pino";
import { plainAddress } from "../lib/client-address.ts";
import { createAddressCount } from "../lib/limits/address-count.ts";
import { createHttp2Sessions, type OnStream } from "./http2-sessions.ts";
import { defaultLimits, type Limits } from "./limits.ts";

/**
 * Answers a request of either HTTP version; for HTTP/2 it gets the objects that imitate those of HTTP/1.1. When a
 * client expects 100-continue, the handler calls `res.writeContinue()` or answers at once.
 */
export type Handler = (req: http.IncomingMessage, res: http.ServerResponse) => void;

export interface ListenOptions {
  readonly host: string;
  /** The port to listen on; 0 takes any free one. */
  readonly port: number;
  /** Certificate chain and key as PEM; the port then speaks TLS only. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
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

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/**
 * Opens one port for HTTP/1.1 and HTTP/2. In cleartext the client's first bytes decide, with TLS the ALPN protocol
 * does.
 */
export async function listen(options: ListenOptions): Promise<PortListener> {
  const limits = { ...defaultLimits, ...options.limits };
  const guarded = guard(options.handler, options.log);
  const http1 = createHttp1(limits, guarded);
  const sessions = createHttp2Sessions(limits, (stream, headers, rawHeaders) => {
    if (options.onStream?.(stream, headers) === true) return;
    answerStream(guarded, stream, headers, rawHeaders);
  });
  const sockets = new Set<net.Socket>();
  const sniffing = new Set<net.Socket>();
  const port = options.tls === undefined ? cleartextPort() : securePort(options.tls);
  port.maxConnections = limits.connections;
  const perAddress = createAddressCount({
    total: limits.connections,
    perAddress: limits.connectionsPerAddress,
  });
  port.on("connection", (socket: net.Socket) => {
    const address = plainAddress(socket.remoteAddress ?? "");
    if (address === undefined || options.isProxy?.(address) !== true) {
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

  function cleartextPort(): net.Server {
    const server = net.createServer({ allowHalfOpen: false, noDelay: true, keepAlive: true });
    return server.on("connection", (socket) => {
      sniffing.add(socket);
      sniff(socket, limits.headersMs, (isHttp2) => {
        sniffing.delete(socket);
        if (isHttp2 === true) sessions.accept(socket);
        else if (isHttp2 === false) http1.server.emit("connection", socket);
      });
    });
  }

  function securePort(pair: NonNullable<ListenOptions["tls"]>): tls.Server {
    const ALPNProtocols = ["h2", "http/1.1"];
    const server = tls.createServer({
      ...pair,
      ALPNProtocols,
      handshakeTimeout: limits.headersMs,
      noDelay: true,
    });
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    return server.on("secureConnection", (socket) => {
      socket.on("error", () => {});
      if (socket.alpnProtocol === "h2") sessions.accept(socket);
      else http1.server.emit("connection", socket);
    });
  }

  port.listen(options.port, options.host);
  await once(port, "listening");
  const checks = setInterval(sessions.check, limits.checkMs).unref();
  return {
    port: boundPort(port),
    close: async (graceMs) => {
      let open = true;
      const closed = new Promise<void>((settle) => {
        port.close(() => {
          open = false;
          settle();
        });
      });
      for (const socket of sniffing) socket.destroy();
      sessions.drain();
      http1.drain();
      const deadline = performance.now() + graceMs;
      while (open && performance.now() < deadline) {
        // A connection becomes idle when its request ends, but no event says so.
        http1.server.closeIdleConnections();
        await Promise.race([closed, pause(20)]);
      }
      for (const socket of sockets) socket.destroy();
      clearInterval(checks);
      await closed;
    },
  };
}

/**
 * Tells `done` whether the first bytes are HTTP/2; undefined when the socket closes before that is clear. Cuts a silent
 * socket after the timeout.
 */
function sniff(socket: net.Socket, timeoutMs: number, done: (isHttp2: boolean | undefined) => void): void {
  let seen: Buffer | undefined;
  // A busy process may not have read bytes that came in time: setImmediate lets it read them before the cut.
  const timer = setTimeout(() => {
    overdue = setImmediate(() => socket.destroy());
  }, timeoutMs);
  let overdue: NodeJS.Immediate | undefined;
  const onData = (chunk: Buffer) => {
    seen = seen === undefined ? chunk : Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, preface.length);
    const matches = seen.compare(preface, 0, length, 0, length) === 0;
    if (matches && length < preface.length) return;
    finish(matches);
  };
  const onClose = () => finish(undefined);
  const finish = (isHttp2: boolean | undefined) => {
    clearTimeout(timer);
    clearImmediate(overdue);
    socket.off("data", onData).off("close", onClose);
    if (isHttp2 !== undefined) {
      socket.pause();
      socket.unshift(seen);
    }
    done(isHttp2);
    // HTTP/2 reads from the paused socket by itself.
    if (isHttp2 === false) socket.resume();
  };
  socket.on("data", onData).on("close", onClose);
}

function createHttp1(limits: Limits, handler: Handler) {
  const running = new Set<http.ServerResponse>();
  let draining = false;
  const onRequest = (req: http.IncomingMessage, res: http.ServerResponse) => {
    running.add(res);
    res.on("close", () => running.delete(res));
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
  server.maxHeadersCount = limits.headerCount;
  // A client that stops reading its answer is cut off.
  server.timeout = limits.requestMs;
  // The server starts to check its timeouts when it listens. It never listens itself, so the event is emitted for it.
  server.emit("listening");
  return {
    server,
    drain: () => {
      draining = true;
      for (const res of running) if (!res.headersSent) res.setHeader("connection", "close");
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
