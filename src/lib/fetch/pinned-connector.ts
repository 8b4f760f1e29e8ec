import type { LookupFunction, Socket } from "node:net";
import { buildConnector } from "undici";
import { openTunnel, type ProxySettings, proxyFor } from "./proxies.ts";
import { type AddressFault, hostOf } from "./read-address.ts";
import type { HostAddress, ResolveHost } from "./resolve-host.ts";
import type { AddressClass } from "./special-addresses.ts";

/** A connection that the rules of addresses refuse. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  readonly fault: AddressFault;

  constructor(fault: AddressFault) {
    super(fault);
    this.fault = fault;
  }
}

/** How a host's addresses are found and judged. */
export interface AddressRules {
  readonly resolve: ResolveHost;
  readonly judge: (address: string) => AddressClass;
  readonly proxies: ProxySettings;
  readonly connectMs: number;
}

/** What the caller lets customers do. */
export interface FetchPolicy {
  /** Whether requests to the public Internet may go without TLS. */
  readonly cleartext: boolean;
}

/**
 * The addresses of a host that a request may go to, of all that the host has. Throws RefusedAddress when it has some and
 * none is allowed; empty when it has none.
 */
export async function allowedAddresses(
  { resolve, judge }: Pick<AddressRules, "resolve" | "judge">,
  { cleartext }: FetchPolicy,
  url: Pick<URL, "hostname" | "protocol">,
): Promise<readonly HostAddress[]> {
  const found = await resolve(hostOf(url));
  const reachable = found.filter(({ address }) => judge(address) !== "refused");
  if (found.length > 0 && reachable.length === 0) throw new RefusedAddress("private");
  if (cleartext || url.protocol === "https:") return reachable;
  // Inside networks that the operator allows, TLS is the operator's affair.
  const inside = reachable.filter(({ address }) => judge(address) === "private");
  if (reachable.length > 0 && inside.length === 0) throw new RefusedAddress("cleartext");
  return inside;
}

/**
 * Opens connections for undici. A host is resolved once for a connection, and the connection goes to exactly the
 * addresses that were judged; there is no second look-up that could answer otherwise.
 */
export function createPinnedConnector(rules: AddressRules, policy: FetchPolicy): buildConnector.connector {
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
