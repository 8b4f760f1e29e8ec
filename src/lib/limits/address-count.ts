import { networkOf } from "../client-address.ts";

/** How many things clients may hold at once. */
export interface AddressLimits {
  readonly total: number;
  /** The limit of one client address: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly perAddress: number;
}

/** Counts the things that clients hold open. */
export interface AddressCount {
  /** Counts one more and returns the function that counts it off; undefined when there are too many. */
  enter(address: string): (() => void) | undefined;
}

/** Makes a counter. */
export function createAddressCount({ total, perAddress }: AddressLimits): AddressCount {
  const networks = new Map<string, number>();
  let all = 0;
  return {
    enter(address) {
      const network = networkOf(address);
      const before = networks.get(network) ?? 0;
      if (all >= total || before >= perAddress) return undefined;
      all += 1;
      networks.set(network, before + 1);
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        all -= 1;
        const left = (networks.get(network) ?? 1) - 1;
        if (left === 0) networks.delete(network);
        else networks.set(network, left);
      };
    },
  };
}
