import type { LookupFunction, Socket } from "node:net";
import { buildConnector } from "undici";
import { type AddressRules, allowedAddresses, type FetchPolicy } from "./address-rules.ts";
import { openTunnel, type ProxySettings, proxyFor } from "./proxies.ts";
import { hostOf } from "./read-address.ts";
import type { HostAddress } from "./resolve-host.ts";

/** How connections are opened. */
export interface ConnectionRules extends AddressRules {
  readonly proxies: ProxySettings;
  readonly connectMs: number;
}

/**
 * Opens connections for undici. A host is resolved once for a connection, and the connection goes to exactly the
 * addresses that were judged; there is no second look-up that could answer otherwise.
 */
export function createPinnedConnector(rules: ConnectionRules, policy: FetchPolicy): buildConnector.connector {
  const { proxies, connectMs } = rules;
  return (options, callback) => {
    const open = async () => {
      const addresses = await allowedAddresses(rules, policy, options);
      const [first] = addresses;
      if (first === undefined) throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
      const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
      const proxy = proxyFor(proxies, { protocol: options.protocol, host: hostOf(options), port });
      const connect = buildConnector({ allowH2: false, timeout: connectMs, lookup: pinned(addresses) });
      // A literal address makes no look-up; it is the one that was judged.
      if (proxy === undefined) return connect(options, callback);
      const { address, family } = first;
      const target = `${family === 6 ? `[${address}]` : address}:${port}`;
      const socket = await openTunnel(proxy, target, connectMs);
      return options.protocol === "https:"
        ? connect({ ...options, httpSocket: socket }, callback)
        : callback(null, keptAlive(socket));
    };
    open().catch((error: Error) => callback(error, null));
  };
}

/** Answers the look-up of a connection with the addresses that were judged. */
function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family);
  };
}

function keptAlive(socket: Socket): Socket {
  return socket.setKeepAlive(true, 60_000).setNoDelay(true);
}
