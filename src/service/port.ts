import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { createAddressList } from "../lib/client-address.ts";
import type { OnStream } from "../server/http2-sessions.ts";
import { type Handler, listen } from "../server/listen.ts";
import type { HostCertificates } from "../server/names/host-certificates.ts";
import type { Config } from "./config.ts";
import type { Addresses } from "./roles/parts.ts";

/** What a port serves once the roles have started. */
export interface PortHandlers {
  readonly handler: Handler;
  readonly onStream: OnStream | undefined;
  /** The certificates of all names; undefined for a port that has one, or none. */
  readonly certificates?: HostCertificates | undefined;
}

const comeBack: Handler = (_req, res) => {
  res.writeHead(503, { "retry-after": "1", "content-type": "text/plain; charset=utf-8" });
  res.end("Starting\n");
};

/** Listens at once; the handler is given later. Until then, clients are asked to come back. */
export async function openPort(config: Config, log: Logger) {
  let handler: Handler = comeBack;
  let onStream: OnStream | undefined;
  const pair = config.tls && {
    cert: await readFile(config.tls.certFile),
    key: await readFile(config.tls.keyFile),
  };
  const late = lateCertificates();
  const tls = config.acme === undefined ? pair : late.certificates;
  const shared = {
    host: config.host,
    limits: {
      connections: config.maxConnections,
      connectionsPerAddress: config.maxConnectionsPerAddress,
    },
    isProxy: createAddressList(config.trustedProxies),
    log,
  };
  const listener = await listen({
    ...shared,
    port: config.port,
    ...(tls === undefined ? {} : { tls }),
    handler: (req, res) => handler(req, res),
    onStream: (stream, headers) => onStream?.(stream, headers) ?? false,
  });
  return {
    number: listener.port,
    /** The operator's certificate for the service's own hosts. */
    pair,
    serve: (handlers: PortHandlers) => {
      ({ handler, onStream } = handlers);
      late.use(handlers.certificates);
    },
    /** Opens the port that answers in cleartext, beside this one. */
    openPlain: (port: number, plain: Handler) => listen({ ...shared, port, handler: plain }),
    close: (graceMs: number) => listener.close(graceMs),
  };
}

/** Certificates that are given later. Until then no name is known. */
function lateCertificates() {
  let known: HostCertificates | undefined;
  const certificates: HostCertificates = {
    peek: (name) => known?.peek(name),
    find: (name, address) => known?.find(name, address),
    findOwn: async () => known?.findOwn(),
    findChallenge: async (name, address) => known?.findChallenge(name, address),
  };
  const use = (given: HostCertificates | undefined) => {
    known = given;
  };
  return { certificates, use };
}

/** When `PORT` is 0, puts the bound port in place of port 0 in the configured addresses. */
export function addressesAt(config: Config, port: number): Addresses {
  const { baseUrl, shortUrl, authUrl, mcpUrl } = config;
  const at = (address: string) => (config.port === 0 ? address.replace(/:0(?=\/|$)/, `:${port}`) : address);
  return { baseUrl: at(baseUrl), shortUrl: at(shortUrl), authUrl: at(authUrl), mcpUrl: at(mcpUrl) };
}
