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
export function createTurnstile(sizes: TurnstileSizes): Turnstile {
  // Those who hold a place or wait for one.
  const owners = new Map<string, Owner>();
  const places = createPlaces(sizes);
  const lines = createLines();

  function ownerOf(name: string): Owner {
    let owner = owners.get(name);
    if (owner === undefined) {
      owner = { name, held: 0, longHeld: 0, short: new Set(), long: new Set() };
      owners.set(name, owner);
    }
    return owner;
  }

  function forgetIdle(owner: Owner): void {
    if (owner.held === 0 && owner.short.size === 0 && owner.long.size === 0) owners.delete(owner.name);
  }

  function callNext(): void {
    for (const [line, owner] of lines.inTurn()) {
      if (places.areTaken()) return;
      const isLong = line === owner.long;
      if (!places.hasOneFor(owner, isLong)) continue;
      const enter = lines.serve(line, owner);
      places.count(owner, isLong, 1);
      enter();
    }
  }

  function wait(owner: Owner, isLong: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) {
      forgetIdle(owner);
      return Promise.reject(signal.reason);
    }
    return lines.join(isLong ? owner.long : owner.short, owner, signal, () => forgetIdle(owner));
  }

  return {
    enter({ owner: name, isLong }, patience) {
      const owner = ownerOf(name);
      const isNext = (isLong ? owner.long : owner.short).size === 0;
      if (!isNext || !places.hasOneFor(owner, isLong)) return wait(owner, isLong, patience?.());
      places.count(owner, isLong, 1);
      return undefined;
    },
    leave({ owner: name, isLong }) {
      const owner = ownerOf(name);
      places.count(owner, isLong, -1);
      if (lines.inAll() > 0) callNext();
      forgetIdle(owner);
    },
    waiting(name) {
      const owner = owners.get(name);
      return owner === undefined ? 0 : owner.short.size + owner.long.size;
    },
    waitingInAll: lines.inAll,
  };
}

/** Counts the places that are free, in all and for one owner. */
function createPlaces({ places, share, longPlaces, longShare }: TurnstileSizes) {
  let free = places;
  let longFree = longPlaces;
  return {
    areTaken: () => free === 0,
    hasOneFor({ held, longHeld }: Owner, isLong: boolean): boolean {
      return free > 0 && held < share && (!isLong || (longFree > 0 && longHeld < longShare));
    },
    /** Counts a place as taken (1) or as free again (-1). */
    count(owner: Owner, isLong: boolean, change: 1 | -1): void {
      free -= change;
      owner.held += change;
      if (!isLong) return;
      longFree -= change;
      owner.longHeld += change;
    },
  };
}

/** Keeps the lines of all owners in the order in which they get places. */
function createLines() {
  // Lines that are not empty. The one that was served last stands at the end.
  const lines = new Map<Line, Owner>();
  let inLine = 0;

  function remove(line: Line, enter: () => void): void {
    if (line.delete(enter)) inLine -= 1;
    if (line.size === 0) lines.delete(line);
  }

  return {
    /** The lines with their owners. A line that is served meanwhile comes up again at the end. */
    inTurn: (): Iterable<[Line, Owner]> => lines,
    inAll: () => inLine,
    /** Resolves when a place is given. When the signal aborts first, calls `onGiveUp` and rejects with the signal's reason. */
    join(line: Line, owner: Owner, signal: AbortSignal | undefined, onGiveUp: () => void): Promise<void> {
      return new Promise((resolve, reject) => {
        const enter = () => {
          signal?.removeEventListener("abort", giveUp);
          resolve();
        };
        const giveUp = () => {
          remove(line, enter);
          onGiveUp();
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", giveUp, { once: true });
        line.add(enter);
        inLine += 1;
        lines.set(line, owner);
      });
    },
    /** Takes the first one out of a line, and puts the line at the end. */
    serve(line: Line, owner: Owner): () => void {
      const [enter] = line;
      if (enter === undefined) throw new Error("an empty line was kept");
      remove(line, enter);
      if (lines.delete(line)) lines.set(line, owner);
      return enter;
    },
  };
}
