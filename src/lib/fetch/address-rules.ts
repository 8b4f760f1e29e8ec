import { type AddressFault, hostOf, readAddress } from "./read-address.ts";
import type { HostAddress, ResolveHost } from "./resolve-host.ts";
import type { AddressClass } from "./special-addresses.ts";

/** A connection that the rules of addresses refuse. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  readonly fault: AddressFault;

  constructor(fault: AddressFault) {
    super(fault);
    this.fault = fault;
  }
}

/** How a host's addresses are found and judged. */
export interface AddressRules {
  readonly resolve: ResolveHost;
  readonly judge: (address: string) => AddressClass;
}

/** What the caller lets customers do. */
export interface FetchPolicy {
  /** Whether requests to the public Internet may go without TLS. */
  readonly cleartext: boolean;
}

/**
 * The addresses of a host that a request may go to, of all that the host has. Throws RefusedAddress when it has some and
 * none is allowed; empty when it has none.
 */
export async function allowedAddresses(
  { resolve, judge }: AddressRules,
  { cleartext }: FetchPolicy,
  url: Pick<URL, "hostname" | "protocol">,
): Promise<readonly HostAddress[]> {
  const found = await resolve(hostOf(url));
  const reachable = found.filter(({ address }) => judge(address) !== "refused");
  if (found.length > 0 && reachable.length === 0) throw new RefusedAddress("private");
  if (cleartext || url.protocol === "https:") return reachable;
  // Inside networks that the operator allows, TLS is the operator's affair.
  const inside = reachable.filter(({ address }) => judge(address) === "private");
  if (reachable.length > 0 && inside.length === 0) throw new RefusedAddress("cleartext");
  return inside;
}

/**
 * Why a request to an address would be refused now. Undefined when it would be sent, also to a host that has no address
 * yet.
 */
export type FindAddressFault = (address: string, policy: FetchPolicy) => Promise<AddressFault | undefined>;

export function createFaultFinder(rules: AddressRules): FindAddressFault {
  return async (address, policy) => {
    const read = readAddress(address);
    if ("fault" in read) return read.fault;
    try {
      await allowedAddresses(rules, policy, read.url);
      return undefined;
    } catch (error) {
      if (error instanceof RefusedAddress) return error.fault;
      throw error;
    }
  };
}
