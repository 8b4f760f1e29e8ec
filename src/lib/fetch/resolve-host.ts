import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Finds the addresses of a host name; addresses stand for themselves. Empty when it has none. */
export type ResolveHost = (host: string) => Promise<readonly HostAddress[]>;

/** How many addresses of a name are read; more would not help a connection. */
const addressesMax = 16;

/**
 * Asks the servers of the system, or those given (`127.0.0.1:5353`), by packets of its own: the system's `getaddrinfo`
 * would hold a thread of the few that also serve files. A name is never completed by search domains.
 */
export function createHostResolver(servers?: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (host) => {
    const family = isIP(host);
    if (family === 4 || family === 6) return [{ address: host, family }];
    // RFC 6761: these names never leave the machine.
    if (/(?:^|\.)localhost$/i.test(host)) {
      return [
        { address: "127.0.0.1", family: 4 },
        { address: "::1", family: 6 },
      ];
    }
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((answer, place): HostAddress[] => {
      if (answer.status === "rejected") return [];
      const kind = place === 0 ? 4 : 6;
      return answer.value.slice(0, addressesMax).map((address) => ({ address, family: kind }));
    });
  };
}
