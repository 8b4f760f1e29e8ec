import { fail } from "../lib/errors.ts";
import { createTurnstile } from "../lib/limits/turnstile.ts";

/** The characters of a password (behaviour 8.15). */
export const passwordLengths = { min: 12, max: 1_024 };

/**
 * Makes the Argon2id hash of a password that the database keeps, with the library's default of 19 MiB and 2 passes. It takes
 * 15 ms of another thread.
 */
export async function hashPassword(password: string): Promise<string> {
  // The library is loaded here, because most starts hash no password.
  const { hash } = await import("@node-rs/argon2");
  return hash(password);
}

/** Whether a password is the one of a hash. It costs as much as `hashPassword`. */
export async function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  const { verify } = await import("@node-rs/argon2");
  return verify(passwordHash, password);
}

/** The hash of a password that nobody has: checking it costs as much as a member's. */
export const nobodysHash =
  "$argon2id$v=19$m=19456,t=2,p=1$mVsK4yOME8C7O8oZzmZE3Q$7C9vl9AkzGfo5ojIohNu0ISmYB3eaHBO03QoWxgOrxE";

/** Hashes the passwords that people send, a few at a time in the whole process. */
export interface PasswordGate {
  /** Makes the hash of a new password. Throws RESOURCE_EXHAUSTED when too many wait. */
  hash(password: string, network: string): Promise<string>;
  /** Whether the password is that of the hash; without one it is not, and takes as long. Throws RESOURCE_EXHAUSTED. */
  isRight(passwordHash: string | null | undefined, password: string, network: string): Promise<boolean>;
}

export interface PasswordGateDeps {
  readonly hash?: typeof hashPassword;
  readonly verify?: typeof verifyPassword;
}

/** Hashing takes threads that files and name look-ups need too: two of the four that Node has by default. */
const places = { places: 2, share: 2, longPlaces: 2, longShare: 2 };

/** At 15 ms for each, the last in line waits half a second. */
const waitingMax = { inAll: 64, ofNetwork: 16 };

// The threads are the process's, so all its gates share the places.
const turnstile = createTurnstile(places);

export function createPasswordGate({
  hash = hashPassword,
  verify = verifyPassword,
}: PasswordGateDeps = {}): PasswordGate {
  async function inTurn<Result>(network: string, work: () => Promise<Result>): Promise<Result> {
    if (turnstile.waitingInAll() >= waitingMax.inAll || turnstile.waiting(network) >= waitingMax.ofNetwork) {
      throw fail(
        "RESOURCE_EXHAUSTED",
        "RATE_LIMITED",
        "too many passwords wait to be hashed; try again in a second",
        {
          retryAfterSeconds: 1,
        },
      );
    }
    const comer = { owner: network, isLong: false };
    await turnstile.enter(comer);
    try {
      return await work();
    } finally {
      turnstile.leave(comer);
    }
  }

  return {
    hash: (password, network) => inTurn(network, () => hash(password)),
    isRight: (passwordHash, password, network) =>
      inTurn(network, async () => {
        const isRight = await verify(passwordHash ?? nobodysHash, password);
        return isRight && passwordHash != null;
      }),
  };
}
