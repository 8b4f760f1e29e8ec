/** The names of one's own machine, which developers write for one another. */
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** Whether a host without its port is the machine itself. */
export function isLoopback(hostname: string): boolean {
  return loopback.includes(hostname);
}

/** A host in the one form in which hosts are compared: lower case, no final dot, no port that the scheme implies. */
export function normalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/:(?:80|443)$/, "")
    .replace(/\.(?=:\d+$|$)/, "");
}

/** The hosts that an address goes by, in the form in which they are compared: any name of the machine itself stands for all. */
export function hostsOf({ host, hostname, port }: URL): Set<string> {
  if (!isLoopback(hostname)) return new Set([normalHost(host)]);
  return new Set(loopback.map((name) => normalHost(port === "" ? name : `${name}:${port}`)));
}
