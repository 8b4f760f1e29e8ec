/** The names of the local machine, which developers use interchangeably. */
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** Whether a host without its port is the local machine. */
export function isLoopback(hostname: string): boolean {
  return loopback.includes(hostname);
}

/** A host in the form in which hosts are compared: lower case, no final dot, no default port. */
export function normalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/:(?:80|443)$/, "")
    .replace(/\.(?=:\d+$|$)/, "");
}

/**
 * The hosts of an address, in the form in which they are compared; any name of the local machine stands for all its
 * names.
 */
export function hostsOf({ host, hostname, port }: URL): Set<string> {
  if (!isLoopback(hostname)) return new Set([normalHost(host)]);
  return new Set(loopback.map((name) => normalHost(port === "" ? name : `${name}:${port}`)));
}
