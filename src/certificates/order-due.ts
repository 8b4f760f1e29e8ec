import type { CertificateDeps, LookAfter } from "./deps.ts";
import { beginTurn, wantOwnCertificates } from "./queries.ts";

/** How many names are looked after at the same time. */
const places = 8;

/**
 * Looks after every name whose turn it is: asks about renewals, and orders certificates. It may run in several processes
 * at once.
 */
export function createOrdering(deps: CertificateDeps): (signal: AbortSignal) => Promise<void> {
  const { db, now, ownNames, log } = deps;
  let loading: Promise<LookAfter> | undefined;
  // What speaks with authorities takes time and memory, and is loaded with the first name.
  const load = async () => {
    const { createLookAfter } = await import("./look-after.ts");
    return createLookAfter(deps);
  };

  async function takeTurns(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const turn = await beginTurn(db, now());
      if (turn === undefined) return;
      loading ??= load();
      const lookAfter = await loading;
      try {
        await lookAfter(turn, signal);
      } catch (error) {
        // The name comes again when its run is over.
        log.error({ err: error, name: turn.name }, "a certificate could not be looked after");
      }
    }
  }

  return async (signal) => {
    if (ownNames.length > 0) await wantOwnCertificates(db, ownNames, now());
    await Promise.all(Array.from({ length: places }, () => takeTurns(signal)));
  };
}
