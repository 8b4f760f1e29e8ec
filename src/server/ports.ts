import net from "node:net";
import tls from "node:tls";
import type { Limits } from "./limits.ts";

/** Certificate chain and key as PEM. */
export interface KeyPair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Takes a connection once its HTTP version is known. */
export interface Takers {
  readonly http1: (socket: net.Socket) => void;
  readonly http2: (socket: net.Socket) => void;
}

/** A port that tells HTTP versions apart. */
export interface VersionedPort {
  readonly server: net.Server;
  /** Ends the connections whose version is not known yet. */
  endUnknown(): void;
}

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A port that tells HTTP versions apart by the client's first bytes. */
export function cleartextPort({ headersMs }: Limits, takers: Takers): VersionedPort {
  const unknown = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: false, noDelay: true, keepAlive: true }, (socket) => {
    unknown.add(socket);
    sniff(socket, headersMs, (isHttp2) => {
      unknown.delete(socket);
      if (isHttp2 === true) takers.http2(socket);
      else if (isHttp2 === false) takers.http1(socket);
    });
  });
  return {
    server,
    endUnknown() {
      for (const socket of unknown) socket.destroy();
    },
  };
}

/** A port that speaks TLS only, and tells HTTP versions apart by ALPN. */
export function securePort(pair: KeyPair, { headersMs }: Limits, takers: Takers): VersionedPort {
  const ALPNProtocols = ["h2", "http/1.1"];
  const options = { ...pair, ALPNProtocols, handshakeTimeout: headersMs, noDelay: true };
  const server = tls.createServer(options, (socket) => {
    socket.on("error", () => {});
    if (socket.alpnProtocol === "h2") takers.http2(socket);
    else takers.http1(socket);
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return { server, endUnknown() {} };
}

/** Says whether the first bytes are HTTP/2, or nothing at all when the socket ends or stays silent before it is clear. */
function sniff(socket: net.Socket, timeoutMs: number, done: (isHttp2: boolean | undefined) => void): void {
  let seen: Buffer | undefined;
  // What came in time may still be unread, where this process has been busy: reading comes between the two.
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
    // HTTP/2 takes what was read from the paused socket by itself.
    if (isHttp2 === false) socket.resume();
  };
  socket.on("data", onData).on("close", onClose);
}
