import { networkOf } from "../client-address.ts";
import { type CallError, fail } from "../errors.ts";

/** How many bytes of request bodies the process may keep at once. */
export interface BodyLimits {
  /** The limit of all clients together. */
  readonly total: number;
  /** The limit of one client address; its only call may exceed it, within the total. */
  readonly perAddress: number;
}

/** The kept bytes of one call: the body as received, and the body after decompression. */
export interface BodyHold {
  /** Reserves room for more bytes; returns an error when there is none. */
  take(bytes: number): CallError | undefined;
  /** Releases all of it; calling it again does nothing. */
  release(): void;
}

/** Counts the bytes of request bodies that this process keeps, from arrival to the end of each call. */
export interface BodyBudget {
  open(address: string): BodyHold;
}

/**
 * A body up to this size, in bytes, may use the last quarter of the total, so that large bodies never block small ones.
 */
const smallBytes = 64 * 1024;
const shareOfLarge = 0.75;

/** Makes a budget. An address is an IPv4 address, or the /64 network of an IPv6 address. */
export function createBodyBudget({ total, perAddress }: BodyLimits): BodyBudget {
  const networks = new Map<string, number>();
  let kept = 0;

  function open(address: string): BodyHold {
    const network = networkOf(address);
    let held = 0;
    const count = (bytes: number) => {
      held += bytes;
      kept += bytes;
      const left = (networks.get(network) ?? 0) + bytes;
      if (left === 0) networks.delete(network);
      else networks.set(network, left);
    };
    return {
      take(bytes) {
        const room = held + bytes <= smallBytes ? total : total * shareOfLarge;
        if (kept + bytes > room) return tooMany();
        const ofOthers = (networks.get(network) ?? 0) - held;
        if (ofOthers > 0 && ofOthers + held + bytes > perAddress) return tooManyFromAddress();
        if (bytes > 0) count(bytes);
        return undefined;
      },
      release() {
        if (held > 0) count(-held);
      },
    };
  }

  return { open };
}

function tooMany(): CallError {
  return fail("UNAVAILABLE", "UNAVAILABLE", "too many request bodies at once; try again in a second", {
    retryAfterSeconds: 1,
  });
}

function tooManyFromAddress(): CallError {
  const message = "too many large request bodies at once from this address; send one after the other";
  return fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", message, { retryAfterSeconds: 1 });
}
