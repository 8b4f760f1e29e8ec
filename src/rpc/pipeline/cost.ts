import { availableParallelism } from "node:os";
import { Cost } from "../../../gen/signpost/options/v1/handling_pb.js";
import { createTurnstile } from "../../lib/limits/turnstile.ts";

/** How many calls of a class a process serves at once, and how many may wait: of all callers together, and of one. */
interface LineLimits {
  readonly atOnce: number;
  readonly atOncePerCaller: number;
  readonly waiting: number;
  readonly waitingPerCaller: number;
}

const halfOfProcessors = Math.max(1, Math.floor(availableParallelism() / 2));

/**
 * The limits of each class in one process. Light calls have no line, because the rate limit already covers their cost.
 * Pictures are drawn and read on this process's own thread, in steps of some 20 ms. Two such calls at a time keep the
 * thread busy, and other work gets a turn between their steps. A search keeps a processor of PostgreSQL busy, often on
 * the same machine. On two processors, four searches of one workspace at a time answered no more calls than one at a
 * time, and visitors waited ten times as long. A call of the model waits for another machine; its files and texts take up to
 * 100 MB meanwhile, and mostly a few kB.
 */
const lineLimits: ReadonlyMap<Cost, LineLimits> = new Map([
  [
    Cost.QUERY,
    {
      atOnce: 2 * halfOfProcessors,
      atOncePerCaller: halfOfProcessors,
      waiting: 2_000,
      waitingPerCaller: 250,
    },
  ],
  [Cost.MODEL, { atOnce: 32, atOncePerCaller: 4, waiting: 64, waitingPerCaller: 8 }],
  [Cost.RENDER, { atOnce: 2, atOncePerCaller: 1, waiting: 200, waitingPerCaller: 50 }],
]);

/** Ends a call's turn. */
export type Leave = () => void;

/**
 * A line in which callers take turns: a caller of many calls waits for its own calls and does not hold up other
 * callers.
 */
export interface CostLine {
  /**
   * Waits for the caller's turn and returns the function that ends it; undefined when too many wait. Rejects when the
   * signal aborts.
   */
  enter(caller: string, signal: AbortSignal): Promise<Leave> | Leave | undefined;
}

/** The line of every class that has one. */
export type CostLines = ReadonlyMap<Cost, CostLine>;

export function openLines(): CostLines {
  return new Map([...lineLimits].map(([cost, limits]) => [cost, openLine(limits)]));
}

function openLine({ atOnce, atOncePerCaller, waiting, waitingPerCaller }: LineLimits): CostLine {
  const turnstile = createTurnstile({
    ...{ places: atOnce, share: atOncePerCaller },
    ...{ longPlaces: atOnce, longShare: atOncePerCaller },
  });
  return {
    enter(caller, signal) {
      if (turnstile.waiting(caller) >= waitingPerCaller || turnstile.waitingInAll() >= waiting)
        return undefined;
      const comer = { owner: caller, isLong: false };
      const leave = () => turnstile.leave(comer);
      return turnstile.enter(comer, () => signal)?.then(() => leave) ?? leave;
    },
  };
}
