import { hostLengthMax } from "../../lib/client-address.ts";
import { hostsOf, normalHost } from "../../lib/hosts.ts";
import { ownText } from "../../lib/own-text.ts";

/**
 * Tells which host a request is for, as plans are found by: a custom domain, or empty for the service's own short host.
 * Undefined for what is no name of a host, which nothing needs to be looked up for.
 */
export type ShortHosts = (host: string | undefined) => string | undefined;

/** Beyond it somebody makes names up. */
const rememberedMax = 1_000;
/** International names arrive in ASCII, and addresses are nobody's domain. */
const nameForm = /^[a-z0-9._-]{1,253}$/;

/** Hosts are compared without case, final dot and implied port; custom domains are found whatever the port. */
export function shortHosts(shortUrl: string): ShortHosts {
  const own = hostsOf(new URL(shortUrl));
  const remembered = new Map<string, string>();

  function nameOf(host: string): string | undefined {
    const name = normalHost(host);
    if (own.has(name)) return "";
    const domain = name.replace(/:\d+$/, "");
    return nameForm.test(domain) ? domain : undefined;
  }

  return (host = "") => {
    const known = remembered.get(host);
    if (known !== undefined) return known;
    if (host.length > hostLengthMax) return undefined;
    const written = ownText(host);
    const name = nameOf(written);
    if (name === undefined) return undefined;
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(written, name);
    return name;
  };
}
