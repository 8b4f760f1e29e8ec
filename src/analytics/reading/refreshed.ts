/** A value with the time at which reading it began. */
export interface Aged<Value> {
  readonly value: Value;
  /** As `performance.now` has it. */
  readonly beganAt: number;
}

/** Gives a value that is at most `maxAgeMs` old. */
export type Refreshed<Value> = (maxAgeMs: number) => Promise<Aged<Value>>;

/** What is read within this time is read anew for every question, in milliseconds. */
const cheapMs = 20;

/** Between two readings at least so many times passes as a reading took. */
const pauses = 10;

/**
 * Keeps a value that is costly to read. Whoever asks gets the last one while a newer one is read, as long as the last one
 * is not too old. A value that is read quickly is always read anew.
 */
export function refreshed<Value>(
  read: () => Promise<Value>,
  clock = () => performance.now(),
): Refreshed<Value> {
  let last: (Aged<Value> & { readonly tookMs: number }) | undefined;
  let running: Promise<Aged<Value>> | undefined;
  let next: Promise<Aged<Value>> | undefined;

  async function start(): Promise<Aged<Value>> {
    const beganAt = clock();
    try {
      const value = await read();
      last = { value, beganAt, tookMs: clock() - beganAt };
      return last;
    } finally {
      running = undefined;
    }
  }

  function readAnew(): Promise<Aged<Value>> {
    if (running === undefined) {
      running = start();
      return running;
    }
    // What is being read already may not hold what was written before the question.
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return readAnew();
      });
    return next;
  }

  return async (maxAgeMs) => {
    if (last === undefined || last.tookMs <= cheapMs) return readAnew();
    const ageMs = clock() - last.beganAt;
    if (ageMs > maxAgeMs) return readAnew();
    // Whoever asks next hears of a failure.
    if (ageMs > pauses * last.tookMs && running === undefined) readAnew().catch(() => {});
    return last;
  };
}
