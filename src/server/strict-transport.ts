import { normalHost } from "../lib/hosts.ts";

/** The hosts that browsers should contact over TLS only, and the `Strict-Transport-Security` header that says so. */
export interface StrictTransport {
  readonly hosts: ReadonlySet<string>;
  readonly header: string;
}

/**
 * Makes the header for the service's own https hosts. The owner of a custom domain decides whether the domain keeps
 * TLS.
 */
export function strictTransport(addresses: readonly string[], seconds: number): StrictTransport | undefined {
  const own = addresses.map((address) => new URL(address)).filter(({ protocol }) => protocol === "https:");
  if (seconds === 0 || own.length === 0) return undefined;
  return { hosts: new Set(own.map(({ host }) => normalHost(host))), header: `max-age=${seconds}` };
}
