/** A clock in the hands of a test. */
export interface Clock {
  /** The time, 1 ms later than at the reading before: what is made in order sorts in order. */
  readonly now: () => Date;
  /** Lets time pass. */
  advance(ms: number): void;
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
