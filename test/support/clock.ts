/** A clock in the hands of a test. */
export interface Clock {
  /** The time, 1 ms later than at the reading before: what is made in order sorts in order. */
  readonly now: () => Date;
  /** Lets time pass. */
  advance(ms: number): void;
}

/** The present, but never the same millisecond twice: what is made in order sorts in order. */
export function orderedClock(): () => Date {
  let lastMs = 0;
  return () => {
    lastMs = Math.max(lastMs + 1, Date.now());
    return new Date(lastMs);
  };
}

/** Starts at the present, where the partitions of the events are. */
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
