import { defaultPostClaimScope, preClaimScope } from "../agents/scopes.ts";
import { connectionOf, type Received } from "../server/connection.ts";
import { discoveryHandler } from "../server/discovery.ts";
import { dispatch, dispatchStreams } from "../server/dispatch.ts";
import { toolsMetadataHandler } from "../server/documents/tools-metadata.ts";
import { faultlessly } from "../server/faultless.ts";
import { filesHandler } from "../server/files.ts";
import { fontsHandler } from "../server/fonts.ts";
import type { Handler } from "../server/listen.ts";
import { operationsHandler } from "../server/operations.ts";
import { createRoute } from "../server/route.ts";
import { strictTransport } from "../server/strict-transport.ts";
import { whenLoaded } from "../server/when-loaded.ts";
import type { PortHandlers } from "./port.ts";
import type { ApiRole } from "./roles/api.ts";
import type { Parts } from "./roles/parts.ts";
import type { ScanRole } from "./roles/scan.ts";

interface PortRoles {
  readonly api: ApiRole | undefined;
  readonly scan: ScanRole | undefined;
  readonly ready: () => Promise<boolean>;
  readonly draining: () => boolean;
}

/** Puts together what the port serves. A role that does not run here has nothing at its addresses. */
export function portHandlers(parts: Parts, { api, scan, ready, draining }: PortRoles): PortHandlers {
  const { addresses, config, keyFor, log, now, readOrigin, storage } = parts;
  const operations = operationsHandler({
    // Visits go on without the database. A process that serves them is then degraded, and must stay in the load
    // balancer.
    checks:
      api === undefined && scan === undefined
        ? []
        : [{ name: "database", works: ready, isNeeded: scan === undefined }],
    draining,
  });
  const files = filesHandler({ storage, signingKey: keyFor("file-urls"), now, log });
  const door = {
    route: createRoute({
      baseUrl: new URL(addresses.baseUrl),
      shortUrl: new URL(addresses.shortUrl),
      authUrl: new URL(addresses.authUrl),
      mcpUrl: new URL(addresses.mcpUrl),
      services: api?.serviceNames ?? [],
    }),
    originOf: (received: Received) => readOrigin(connectionOf(received)),
  };
  const faultless = faultlessly(log);
  const handler = dispatch({
    ...door,
    strict: strictTransport(
      [addresses.baseUrl, addresses.shortUrl, addresses.authUrl, addresses.mcpUrl],
      config.strictTransportSeconds,
    ),
    handlers: {
      rpc: api?.rpc ?? notHere,
      rest: api?.rest ?? notHere,
      discovery:
        api === undefined
          ? notHere
          : faultless(
              discoveryHandler({
                ...addresses,
                scopes: api.scopes,
                agents: {
                  mcpUrl: addresses.mcpUrl,
                  preClaimScope,
                  postClaimScope: defaultPostClaimScope(api.scopes),
                },
              }),
            ),
      mcp: api === undefined ? notHere : whenLoaded(async () => faultless(await api.openMcp())),
      "mcp-metadata":
        api === undefined
          ? notHere
          : faultless(toolsMetadataHandler(addresses.mcpUrl, { ...addresses, scopes: api.scopes })),
      auth: api === undefined ? notHere : whenLoaded(async () => faultless(await api.openAuth())),
      operation: faultless(operations),
      file: faultless(files),
      font: faultless(fontsHandler()),
      scan: scan?.handler ?? notHere,
    },
  });
  return { handler, onStream: api && dispatchStreams(door, api.onStream) };
}

const notHere: Handler = (_req, res) => {
  res.writeHead(404, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  res.end("Not found\n");
};
