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

type Choose = NonNullable<tls.TlsOptions["SNICallback"]>;
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
    const SNICallback: Choose = (_name, done) => done(null, context);
    // These are rare, and nothing comes after the handshake (RFC 8737, 3).
    return handshake(acceptSecurely({ SNICallback, ALPNProtocols }, limits, { http1: end, http2: end }));
  }

  return async (socket: net.Socket, { name, isChallenge }: ClientHello): Promise<void> => {
    const address = plainAddress(socket.remoteAddress ?? "") ?? "unknown";
    let shake: Handshake | undefined;
    if (name === undefined) shake = isChallenge ? undefined : await nameless();
    else if (isChallenge) shake = await challenged(name, address);
    else if (certificates.peek(name) !== undefined || (await certificates.find(name, address)) !== undefined)
      shake = named;
    if (shake === undefined || socket.destroyed) socket.destroy();
    else shake(socket);
  };
}

function namedHandshake(certificates: HostCertificates, limits: Limits, takers: Takers): Handshake {
  const SNICallback: Choose = (text, done) => {
    const name = text.toLowerCase().replace(/\.$/, "");
    const known = certificates.peek(name);
    if (known !== undefined) done(null, known);
    // What was found a moment ago is not kept when news of the name came meanwhile. It is looked up once more.
    else void Promise.resolve(certificates.find(name, "unknown")).then((found) => done(null, found));
  };
  const server = acceptSecurely({ SNICallback }, limits, takers);
  let keyUntil = 0;
  return (socket) => {
    if (performance.now() >= keyUntil) {
      keyUntil = performance.now() + ticketKeyMs;
      server.setTicketKeys(randomBytes(48));
    }
    server.emit("connection", socket);
  };
}

function handshake(server: tls.Server): Handshake {
  return (socket) => server.emit("connection", socket);
}

function end(socket: net.Socket): void {
  socket.end();
}
