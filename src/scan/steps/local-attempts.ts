import { ofNetwork, ofVisit, pauses, type Trier, windowMs } from "../../db/password-attempts.ts";
import { networkOf } from "../../lib/client-address.ts";
import { lruCache } from "../../lib/lru-cache.ts";

/** The password tries that this process has seen. They decide while the database does not answer. */
export interface LocalAttempts {
  /** Returns 0 when a try is free, or else the seconds until the next one. */
  secondsTo(trier: Trier, now: Date): number;
  count(trier: Trier, now: Date): void;
  giveBack(trier: Trier, now: Date): void;
}

interface Try {
  readonly atMs: number;
  readonly visit: string;
  readonly network: string;
}

/**
 * The number of steps whose tries are remembered, and of tries for each: more than the pauses let through in an hour.
 */
const stepsMax = 1_000;
const triesMax = 500;

/** Keeps the same budgets as `takePasswordAttempt`, for one process. */
export function createLocalAttempts(): LocalAttempts {
  const steps = lruCache<readonly Try[]>(stepsMax);
  const keyOf = ({ workspaceId, linkId, stepId }: Trier) => `${workspaceId}/${linkId}/${stepId}`;
  const triesOf = (trier: Trier, now: Date) =>
    (steps.get(keyOf(trier)) ?? []).filter(({ atMs }) => atMs > now.getTime() - windowMs);

  return {
    secondsTo(trier, now) {
      const freeAtMs = freeAtOf(triesOf(trier, now), tryOf(trier, now));
      return Math.max(0, Math.ceil((freeAtMs - now.getTime()) / 1_000));
    },
    count(trier, now) {
      steps.set(keyOf(trier), [...triesOf(trier, now), tryOf(trier, now)].slice(-triesMax));
    },
    giveBack(trier, now) {
      const { visit } = tryOf(trier, now);
      const left = triesOf(trier, now).filter((one) => one.atMs !== now.getTime() || one.visit !== visit);
      steps.set(keyOf(trier), left);
    },
  };
}

function tryOf({ eventId, address }: Trier, now: Date): Try {
  return { atMs: now.getTime(), visit: `${eventId} ${address}`, network: networkOf(address) };
}

/** The time from which the next try is free, in milliseconds. The tries must be in the order of their times. */
function freeAtOf(tries: readonly Try[], next: Try): number {
  const ownOf = tries.filter(({ visit }) => visit === next.visit).at(-ofVisit.max);
  const ownNetwork = tries.filter(({ network }) => network === next.network).at(-ofNetwork.max);
  const last = tries.at(-1);
  const doublings = Math.min(pauses.doublingsMax, Math.floor((tries.length - pauses.from) / pauses.step));
  const pauseMs = Math.min(pauses.secondsMax, 2 ** doublings) * 1_000;
  return Math.max(
    ownOf === undefined ? 0 : ownOf.atMs + ofVisit.windowMs,
    ownNetwork === undefined ? 0 : ownNetwork.atMs + ofNetwork.windowMs,
    last === undefined || tries.length < pauses.from ? 0 : last.atMs + pauseMs,
  );
}
