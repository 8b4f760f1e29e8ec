/** A clock that a test controls. */
export interface Clock {
  /** The time, 1 ms later on each read, so that records sort in the order they are made. */
  readonly now: () => Date;
  /** Lets time pass. */
  advance(ms: number): void;
}

/** The present, never the same millisecond twice, so that records sort in the order they are made. */
export function orderedClock(): () => Date {
  let lastMs = 0;
  return () => {
    lastMs = Math.max(lastMs + 1, Date.now());
    return new Date(lastMs);
  };
}

/** The same month as the present, far from its ends, so that no run of a test meets two cycles. */
export function middleOfMonth(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 15, 12));
}

/** Starts at the present, for which the events have partitions. */
export function tickingClock(start = new Date()): Clock {
  let time = start.getTime();
  return {
    now: () => {
      time += 1;
      return new Date(time);
    },
    advance(ms) {
      time += ms;
    },
  };
}
