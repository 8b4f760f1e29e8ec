import { randomBytes } from "node:crypto";
import net from "node:net";
import type tls from "node:tls";
import { plainAddress } from "../../lib/client-address.ts";
import { readFirst } from "../first-bytes.ts";
import type { Limits } from "../limits.ts";
import { acceptSecurely, type KeyPair, type Takers, type VersionedPort } from "../ports.ts";
import { type ClientHello, readClientHello } from "./client-hello.ts";
import type { HostCertificates } from "./host-certificates.ts";

/** How long tickets of sessions are sealed with the same key, in milliseconds. Every process has keys of its own. */
const ticketKeyMs = 24 * 60 * 60 * 1000;

/**
 * A port that speaks TLS only, with a certificate for each name. The name is read from the client's first message, so
 * that a client that asks for an unknown name is sent away before anything is made for it.
 */
export function namedPort(certificates: HostCertificates, limits: Limits, takers: Takers): VersionedPort {
  const unknown = new Set<net.Socket>();
  const greet = createGreeting(certificates, limits, takers);
  const server = net.createServer({ allowHalfOpen: false, noDelay: true, keepAlive: true }, (socket) => {
    unknown.add(socket);
    readFirst(socket, limits.headersMs, judge, (hello) => {
      unknown.delete(socket);
      if (hello === "refused") socket.destroy();
      else if (hello !== undefined) void greet(socket, hello);
    });
  });
  return {
    server,
    endUnknown() {
      for (const socket of unknown) socket.destroy();
    },
  };
}

function judge(seen: Buffer): ClientHello | "refused" | undefined {
  const read = readClientHello(seen);
  return read === "more" ? undefined : read;
}

type Handshake = (socket: net.Socket) => void;

/** Goes on with a client whose wish is known. */
function createGreeting(certificates: HostCertificates, limits: Limits, takers: Takers) {
  const named = namedHandshake(certificates, limits, takers);
  let own: { readonly pair: KeyPair; readonly shake: Handshake } | undefined;

  async function nameless(): Promise<Handshake | undefined> {
    const pair = await certificates.findOwn();
    if (pair === undefined) return undefined;
    if (own?.pair !== pair) own = { pair, shake: handshake(acceptSecurely(pair, limits, takers)) };
    return own.shake;
  }

  async function challenged(name: string, address: string): Promise<Handshake | undefined> {
    const context = await certificates.findChallenge(name, address);
    if (context === undefined) return undefined;
    const ALPNProtocols = ["acme-tls/1"];
    const SNICallback = chooser(() => context);
    // These are rare, and nothing comes after the handshake (RFC 8737, 3).
    return handshake(acceptSecurely({ SNICallback, ALPNProtocols }, limits, { http1: end, http2: end }));
  }

  return async (socket: net.Socket, { name, isChallenge }: ClientHello): Promise<void> => {
    const address = plainAddress(socket.remoteAddress ?? "") ?? "unknown";
    let shake: Handshake | undefined;
    if (name === undefined) shake = isChallenge ? undefined : await nameless();
    else if (isChallenge) shake = await challenged(name, address);
    else {
      const context = certificates.peek(name) ?? (await certificates.find(name, address));
      shake = context && named(name, context);
    }
    if (shake === undefined || socket.destroyed) socket.destroy();
    else shake(socket);
  };
}

function namedHandshake(certificates: HostCertificates, limits: Limits, takers: Takers) {
  // What open connections were greeted with, by name. A change that comes during a handshake makes the certificate unknown,
  // and the handshake goes on all the same.
  const greeted = new Map<string, tls.SecureContext>();
  const SNICallback = chooser((given) => {
    const name = given.toLowerCase().replace(/\.$/, "");
    return certificates.peek(name) ?? greeted.get(name);
  });
  const server = acceptSecurely({ SNICallback }, limits, takers);
  let keyUntil = 0;
  return (name: string, context: tls.SecureContext): Handshake =>
    (socket) => {
      if (performance.now() >= keyUntil) {
        keyUntil = performance.now() + ticketKeyMs;
        server.setTicketKeys(randomBytes(48));
      }
      greeted.set(name, context);
      socket.once("close", () => {
        if (greeted.get(name) === context) greeted.delete(name);
      });
      server.emit("connection", socket);
    };
}

function chooser(choose: (name: string) => tls.SecureContext | undefined): tls.TlsOptions["SNICallback"] {
  return (name, done) => done(null, choose(name));
}

function handshake(server: tls.Server): Handshake {
  return (socket) => server.emit("connection", socket);
}

function end(socket: net.Socket): void {
  socket.end();
}
