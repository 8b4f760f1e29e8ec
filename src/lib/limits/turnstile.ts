/** How many may be inside a turnstile at the same time. */
export interface TurnstileSizes {
  /** All places. */
  readonly places: number;
  /** The most places of one owner. */
  readonly share: number;
  /** The most places of long holders: of all together, and of one owner. */
  readonly longPlaces: number;
  readonly longShare: number;
}

/** A claim to a place. Each owner has two lines, one for short holders and one for long holders. */
export interface Comer {
  readonly owner: string;
  readonly isLong: boolean;
}

/** Gives the signal that ends a wait; called only when the comer has to wait. */
export type Patience = () => AbortSignal;

/** Shares places among owners, so that no owner waits because another one wants many. */
export interface Turnstile {
  /**
   * Takes a place, at once (undefined) or by a promise. Only a wait calls `patience`: the promise rejects with the
   * reason of its signal if that aborts first. Whoever got a place leaves it once.
   */
  enter(comer: Comer, patience?: Patience): Promise<void> | undefined;
  leave(comer: Comer): void;
  /** How many comers of an owner wait. */
  waiting(owner: string): number;
  /** How many comers wait in all. */
  waitingInAll(): number;
}

interface Owner {
  readonly name: string;
  held: number;
  longHeld: number;
  readonly short: Line;
  readonly long: Line;
}

/** The waiting comers of a line, first come first served. */
type Line = Set<() => void>;

/** Makes a turnstile. A free place goes to the line that was served longest ago. */
export function createTurnstile({ places, share, longPlaces, longShare }: TurnstileSizes): Turnstile {
  // The owners that hold a place or wait for one.
  const owners = new Map<string, Owner>();
  // The lines that are not empty; the one served last stands at the end.
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
      // Moves the line to the end, where this loop meets it again.
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
