import { plainAddress } from "../../lib/client-address.ts";
import { normalHost } from "../../lib/hosts.ts";
import type { Handler } from "../listen.ts";

export interface PlainHandlerDeps {
  /** The service's own https addresses, which may have ports. */
  readonly ownAddresses: readonly string[];
  /** The answer to an authority's challenge of a name (RFC 8555, 8.3). */
  readonly findAuthorization: (name: string, token: string, address: string) => Promise<string | undefined>;
  /** Whether a name is served over TLS. */
  readonly isServed: (name: string, address: string) => Promise<boolean>;
}

const challengePath = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,200})$/;
const nameForm = /^[a-z0-9._-]{1,253}$/;
const plainText = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

/** Answers in cleartext: the challenges of authorities, and for all else where the name is served over TLS. */
export function plainHandler(deps: PlainHandlerDeps): (...request: Parameters<Handler>) => Promise<void> {
  const own = new Map(
    deps.ownAddresses.map((address) => {
      const { hostname, origin } = new URL(address);
      return [hostname, origin];
    }),
  );
  return async (req, res) => {
    const name = normalHost(req.headers.host ?? "").replace(/:\d+$/, "");
    const address = plainAddress(req.socket.remoteAddress ?? "") ?? "unknown";
    const path = req.url ?? "";
    if (!nameForm.test(name) || !path.startsWith("/")) {
      res.writeHead(404, plainText).end("Not found\n");
      return;
    }
    const [, token] = challengePath.exec(path) ?? [];
    const authorization =
      token === undefined ? undefined : await deps.findAuthorization(name, token, address);
    if (authorization !== undefined) {
      res.writeHead(200, { ...plainText, "cache-control": "no-store" }).end(authorization);
      return;
    }
    const origin = own.get(name) ?? ((await deps.isServed(name, address)) ? `https://${name}` : undefined);
    if (origin === undefined) res.writeHead(404, plainText).end("Not found\n");
    else res.writeHead(308, { ...plainText, location: `${origin}${path}` }).end();
  };
}
