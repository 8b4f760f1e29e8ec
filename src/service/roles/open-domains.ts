import { type Domains, openDomains as open } from "../../domains/domains.ts";
import { openCertificateDesk, ownAddresses } from "./certificates.ts";
import type { Parts } from "./parts.ts";

/** What judges custom domains. No name server is asked before the first one. */
export function openDomains(parts: Parts): Domains {
  const { config, addresses, keyFor, now } = parts;
  return open({
    servers: config.dnsServers,
    target: config.domainsHost,
    ownHosts: ownAddresses(addresses).map((address) => new URL(address).hostname),
    key: keyFor("domain-ownership"),
    certificates: openCertificateDesk(parts),
    nowMs: () => now().getTime(),
  });
}
