/** How many may be served at once, and how many may wait. */
export interface LineLimits {
  readonly atOnce: number;
  readonly atOncePerParty: number;
  readonly waiting: number;
  readonly waitingPerParty: number;
}

/** A line in which parties take turns: who sends many waits for its own, and not everybody else with it. */
export interface FairLine {
  /**
   * Gives the way to leave once it is this one's turn; says nothing where too many wait. Rejects with the signal's reason
   * when that aborts first.
   */
  enter(party: string, signal: AbortSignal): Promise<Leave> | Leave | undefined;
}

export type Leave = () => void;

interface Waiter {
  readonly admit: (leave: Leave) => void;
}

/** Opens a line. */
export function createFairLine(limits: LineLimits): FairLine {
  /** In the order in which parties are looked at next. */
  const lines = new Map<string, Set<Waiter>>();
  const served = new Map<string, number>();
  let running = 0;
  let waiting = 0;

  const hasRoom = (party: string) =>
    running < limits.atOnce && (served.get(party) ?? 0) < limits.atOncePerParty;

  function serve(party: string): Leave {
    running += 1;
    served.set(party, (served.get(party) ?? 0) + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      running -= 1;
      const left = (served.get(party) ?? 1) - 1;
      if (left === 0) served.delete(party);
      else served.set(party, left);
      callNext();
    };
  }

  function callNext(): void {
    for (const [party, line] of lines) {
      if (!hasRoom(party)) continue;
      const [next] = line;
      lines.delete(party);
      if (next === undefined) continue;
      remove(party, line, next);
      // The party goes to the end.
      if (line.size > 0) lines.set(party, line);
      next.admit(serve(party));
      return;
    }
  }

  function remove(party: string, line: Set<Waiter>, waiter: Waiter): void {
    if (!line.delete(waiter)) return;
    waiting -= 1;
    if (line.size === 0) lines.delete(party);
  }

  function wait(party: string, signal: AbortSignal): Promise<Leave> {
    const line = lines.get(party) ?? new Set<Waiter>();
    lines.set(party, line);
    waiting += 1;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        remove(party, line, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        admit: (leave) => {
          signal.removeEventListener("abort", giveUp);
          resolve(leave);
        },
      };
      line.add(waiter);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  return {
    enter(party, signal) {
      if (hasRoom(party)) return serve(party);
      const ofParty = lines.get(party)?.size ?? 0;
      if (waiting >= limits.waiting || ofParty >= limits.waitingPerParty) return undefined;
      return wait(party, signal);
    },
  };
}
