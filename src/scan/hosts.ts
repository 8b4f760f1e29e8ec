/** Tells which host a request is for, as plans are found by: a custom domain, or empty for the service's own short host. */
export type ShortHosts = (host: string | undefined) => string;

/** Beyond it somebody makes names up. */
const rememberedMax = 1_000;
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** Hosts are compared without case, final dot and implied port; custom domains are found whatever the port. */
export function shortHosts(shortUrl: string): ShortHosts {
  const { hostname, port } = new URL(shortUrl);
  // Developers write any of the names of their own machine.
  const names = loopback.includes(hostname) ? loopback : [hostname];
  const own = new Set(names.map((name) => (port === "" ? name : `${name}:${port}`)));
  const remembered = new Map<string, string>();

  function nameOf(host: string): string {
    const name = host
      .toLowerCase()
      .replace(/:(?:80|443)$/, "")
      .replace(/\.(?=:\d+$|$)/, "");
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
