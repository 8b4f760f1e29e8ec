import net from "node:net";
import tls from "node:tls";
import { readFirst } from "./first-bytes.ts";
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
    readFirst(socket, headersMs, isPreface, (isHttp2) => {
      unknown.delete(socket);
      if (isHttp2 === true) takers.http2(socket);
      else if (isHttp2 === false) {
        takers.http1(socket);
        // HTTP/2 takes what was read from the paused socket by itself.
        socket.resume();
      }
    });
  });
  return {
    server,
    endUnknown() {
      for (const socket of unknown) socket.destroy();
    },
  };
}

/** A port that speaks TLS only, with one certificate, and tells HTTP versions apart by ALPN. */
export function securePort(pair: KeyPair, limits: Limits, takers: Takers): VersionedPort {
  return { server: acceptSecurely(pair, limits, takers), endUnknown() {} };
}

/** Speaks TLS 1.2 or 1.3 with the sockets that it is given, and hands them on by ALPN. */
export function acceptSecurely(options: tls.TlsOptions, { headersMs }: Limits, takers: Takers): tls.Server {
  const server = tls.createServer(
    {
      ALPNProtocols: ["h2", "http/1.1"],
      minVersion: "TLSv1.2",
      handshakeTimeout: headersMs,
      noDelay: true,
      ...options,
    },
    (socket) => {
      socket.on("error", () => {});
      if (socket.alpnProtocol === "h2") takers.http2(socket);
      else takers.http1(socket);
    },
  );
  return server.on("tlsClientError", (_error, socket) => socket.destroy());
}

/** Whether the first bytes are HTTP/2; undefined when there are too few to say. */
function isPreface(seen: Buffer): boolean | undefined {
  const length = Math.min(seen.length, preface.length);
  const matches = seen.compare(preface, 0, length, 0, length) === 0;
  return matches && length < preface.length ? undefined : matches;
}
