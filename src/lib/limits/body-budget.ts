import { networkOf } from "../client-address.ts";
import { type CallError, fail } from "../errors.ts";

/** How many bytes of request bodies may be kept at once. */
export interface BodyLimits {
  /** Of all clients together. */
  readonly total: number;
  /** Of one client address; what is alone there may have more, as far as the total goes. */
  readonly perAddress: number;
}

/** The bytes of one call that are kept: as they come, and again without their compression. */
export interface BodyHold {
  /** Takes room for more bytes, or says why there is none. */
  take(bytes: number): CallError | undefined;
  /** Gives all of it back; further times change nothing. */
  release(): void;
}

/** Counts the bytes of request bodies that this process keeps, from their arrival to the end of their calls. */
export interface BodyBudget {
  open(address: string): BodyHold;
}

/** Up to this size a body may use the last quarter of the total, so that large ones never shut out all others. */
const smallBytes = 64 * 1024;
const shareOfLarge = 0.75;

/** Keeps the count. An address is an IPv4 one, or the /64 network of an IPv6 one. */
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
