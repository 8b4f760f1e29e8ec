import { normalHost } from "../lib/hosts.ts";

/** The hosts that browsers shall ask with TLS alone, and the `Strict-Transport-Security` that tells them so. */
export interface StrictTransport {
  readonly hosts: ReadonlySet<string>;
  readonly header: string;
}

/** The service's own hosts tell so where their addresses are https; whether a custom domain keeps TLS is for its owner to say. */
export function strictTransport(addresses: readonly string[], seconds: number): StrictTransport | undefined {
  const own = addresses.map((address) => new URL(address)).filter(({ protocol }) => protocol === "https:");
  if (seconds === 0 || own.length === 0) return undefined;
  return { hosts: new Set(own.map(({ host }) => normalHost(host))), header: `max-age=${seconds}` };
}
