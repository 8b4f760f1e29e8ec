import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { createAddressList } from "../lib/client-address.ts";
import type { OnStream } from "../server/http2-sessions.ts";
import { type Handler, listen } from "../server/listen.ts";
import type { Config } from "./config.ts";
import type { Addresses } from "./roles/parts.ts";

/** What a port serves once the roles have started. */
export interface PortHandlers {
  readonly handler: Handler;
  readonly onStream: OnStream | undefined;
}

const comeBack: Handler = (_req, res) => {
  res.writeHead(503, { "retry-after": "1", "content-type": "text/plain; charset=utf-8" });
  res.end("Starting\n");
};

/** Listens at once; the handler is given later. Until then, clients are asked to come back. */
export async function openPort(config: Config, log: Logger) {
  let handler: Handler = comeBack;
  let onStream: OnStream | undefined;
  const tls = config.tls && {
    cert: await readFile(config.tls.certFile),
    key: await readFile(config.tls.keyFile),
  };
  const listener = await listen({
    host: config.host,
    port: config.port,
    ...(tls === undefined ? {} : { tls }),
    handler: (req, res) => handler(req, res),
    onStream: (stream, headers) => onStream?.(stream, headers) ?? false,
    limits: {
      connections: config.maxConnections,
      connectionsPerAddress: config.maxConnectionsPerAddress,
    },
    isProxy: createAddressList(config.trustedProxies),
    log,
  });
  return {
    number: listener.port,
    serve: (handlers: PortHandlers) => {
      ({ handler, onStream } = handlers);
    },
    close: (graceMs: number) => listener.close(graceMs),
  };
}

/** When `PORT` is 0, puts the bound port in place of port 0 in the configured addresses. */
export function addressesAt(config: Config, port: number): Addresses {
  const { baseUrl, shortUrl, authUrl, mcpUrl } = config;
  const at = (address: string) => (config.port === 0 ? address.replace(/:0(?=\/|$)/, `:${port}`) : address);
  return { baseUrl: at(baseUrl), shortUrl: at(shortUrl), authUrl: at(authUrl), mcpUrl: at(mcpUrl) };
}
