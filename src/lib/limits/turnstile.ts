/** What a turnstile lets through at the same time. */
export interface TurnstileSizes {
  /** Places there are. */
  readonly places: number;
  /** Places that one owner may hold. */
  readonly share: number;
  /** Places that long holders may hold, all together, and those of one owner. */
  readonly longPlaces: number;
  readonly longShare: number;
}

/** Who wants a place: owners stand in lines of their own, and those who hold a place for long beside the others. */
export interface Comer {
  readonly owner: string;
  readonly isLong: boolean;
}

/** How long somebody waits. */
export type Patience = () => AbortSignal;

/** Shares places among owners, so that no owner waits because another one wants many. */
export interface Turnstile {
  /**
   * Takes a place, at once or by a promise. Only for the latter `patience` is asked: the promise rejects with the reason of
   * its signal when that aborts first. Whoever got a place leaves it once.
   */
  enter(comer: Comer, patience?: Patience): Promise<void> | undefined;
  leave(comer: Comer): void;
  /** How many of an owner wait. */
  waiting(owner: string): number;
  /** How many wait in all. */
  waitingInAll(): number;
}

interface Owner {
  readonly name: string;
  held: number;
  longHeld: number;
  readonly short: Line;
  readonly long: Line;
}

/** Those who wait, first come first. */
type Line = Set<() => void>;

/** Makes a turnstile. A place that gets free goes to the owner who has waited longest since it was given one. */
export function createTurnstile({ places, share, longPlaces, longShare }: TurnstileSizes): Turnstile {
  // Those who hold a place or wait for one.
  const owners = new Map<string, Owner>();
  // Lines that are not empty; who was served last stands at the end.
  const lines = new Map<Line, Owner>();
  let free = places;
  let longFree = longPlaces;
  let inLine = 0;

  function ownerOf(name: string): Owner {
    let owner = owners.get(name);
    if (owner === undefined) {
      owner = { name, held: 0, longHeld: 0, short: new Set(), long: new Set() };
      owners.set(name, owner);
    }
    return owner;
  }

  function mayEnter({ held, longHeld }: Owner, isLong: boolean): boolean {
    return free > 0 && held < share && (!isLong || (longFree > 0 && longHeld < longShare));
  }

  /** Counts a place as taken (1) or as free again (-1). */
  function count(owner: Owner, isLong: boolean, change: 1 | -1): void {
    free -= change;
    owner.held += change;
    if (!isLong) return;
    longFree -= change;
    owner.longHeld += change;
  }

  function forgetIdle(owner: Owner): void {
    if (owner.held === 0 && owner.short.size === 0 && owner.long.size === 0) owners.delete(owner.name);
  }

  function callNext(): void {
    for (const [line, owner] of lines) {
      if (free === 0) return;
      const isLong = line === owner.long;
      if (!mayEnter(owner, isLong)) continue;
      const [enter] = line;
      if (enter === undefined) throw new Error("an empty line was kept");
      removeFrom(line, enter);
      // At the end, where this loop comes by again.
      if (lines.delete(line)) lines.set(line, owner);
      count(owner, isLong, 1);
      enter();
    }
  }

  function removeFrom(line: Line, enter: () => void): void {
    if (line.delete(enter)) inLine -= 1;
    if (line.size === 0) lines.delete(line);
  }

  function wait(owner: Owner, isLong: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) {
      forgetIdle(owner);
      return Promise.reject(signal.reason);
    }
    const line = isLong ? owner.long : owner.short;
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        removeFrom(line, enter);
        forgetIdle(owner);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      line.add(enter);
      inLine += 1;
      lines.set(line, owner);
    });
  }

  return {
    enter({ owner: name, isLong }, patience) {
      const owner = ownerOf(name);
      const isNext = (isLong ? owner.long : owner.short).size === 0;
      if (!isNext || !mayEnter(owner, isLong)) return wait(owner, isLong, patience?.());
      count(owner, isLong, 1);
      return undefined;
    },
    leave({ owner: name, isLong }) {
      const owner = ownerOf(name);
      count(owner, isLong, -1);
      if (lines.size > 0) callNext();
      forgetIdle(owner);
    },
    waiting(name) {
      const owner = owners.get(name);
      return owner === undefined ? 0 : owner.short.size + owner.long.size;
    },
    waitingInAll: () => inLine,
  };
}
