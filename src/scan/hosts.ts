import { hostsOf, normalHost } from "../lib/hosts.ts";

/** Tells which host a request is for, as plans are found by: a custom domain, or empty for the service's own short host. */
export type ShortHosts = (host: string | undefined) => string;

/** Beyond it somebody makes names up. */
const rememberedMax = 1_000;

/** Hosts are compared without case, final dot and implied port; custom domains are found whatever the port. */
export function shortHosts(shortUrl: string): ShortHosts {
  const own = hostsOf(new URL(shortUrl));
  const remembered = new Map<string, string>();

  function nameOf(host: string): string {
    const name = normalHost(host);
    return own.has(name) ? "" : name.replace(/:\d+$/, "");
  }

  return (host = "") => {
    const known = remembered.get(host);
    if (known !== undefined) return known;
    if (remembered.size >= rememberedMax) remembered.clear();
    const name = nameOf(host);
    remembered.set(host, name);
    return name;
  };
}
