import { hostLengthMax } from "../../lib/client-address.ts";
import { hostsOf, normalHost } from "../../lib/hosts.ts";
import { remembered } from "../../lib/remembered.ts";

/**
 * Gives the host that a request is for, as plans are found by it: a custom domain, or empty for the service's own short
 * host. Undefined for text that cannot be the name of a host, so that nothing is looked up for it.
 */
export type ShortHosts = (host: string | undefined) => string | undefined;

const rememberedMax = 1_000;
/** International names arrive in ASCII. IPv6 addresses do not fit: no address is a custom domain. */
const nameForm = /^[a-z0-9._-]{1,253}$/;

/** Compares hosts without case, final dot and implied port. Custom domains are found on any port. */
export function shortHosts(shortUrl: string): ShortHosts {
  const own = hostsOf(new URL(shortUrl));
  const nameOf = remembered(rememberedMax, (host) => {
    const name = normalHost(host);
    if (own.has(name)) return "";
    const domain = name.replace(/:\d+$/, "");
    return nameForm.test(domain) ? domain : undefined;
  });
  return (host = "") => (host.length > hostLengthMax ? undefined : nameOf(host));
}
