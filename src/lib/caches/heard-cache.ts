import { lruCache } from "../lru-cache.ts";

/** What is known of a key: a value, or that there is none; `undefined` in `peek` means that nothing is known. */
export type Known<Value> = { readonly value: Value | undefined };

export interface CacheDeps<Value> {
  /** Looks a key up; undefined when nothing is there. Rejects when it cannot be known. */
  readonly load: (key: string) => Promise<Value | undefined>;
  /**
   * Whether changes are heard of at this moment. While they are not, known values are served without another look-up.
   */
  readonly hearsChanges: () => boolean;
  readonly nowMs: () => number;
  /**
   * How many entries with a value are kept, and how many without. The two are separate, so that a stranger who guesses
   * keys cannot push values out.
   */
  readonly size: number;
  readonly missSize: number;
  /** How many entries a large value stands for; 1 for every value by default. */
  readonly weigh?: (value: Value) => number;
  /** How long entries are trusted, in milliseconds. A change that is heard of ends that sooner. */
  readonly ttlMs: number;
  readonly missTtlMs: number;
  /** How long an old value may keep a visitor waiting for a new one, in milliseconds. */
  readonly patienceMs: number;
}

/** Values by key in bounded memory, looked up once for all who ask at the same time. */
export interface Cache<Value> {
  /** What can be answered without waiting. */
  peek(key: string): Known<Value> | undefined;
  /** Whether a value is in memory, even one that is not trusted any more. */
  keeps(key: string): boolean;
  /**
   * Looks the key up, or gives an old value when that fails or takes too long. Rejects when the look-up fails and there
   * is no old value.
   */
  find(key: string): Promise<Known<Value>>;
  /** Forgets one key. The result of a look-up that is on its way is not kept. */
  drop(key: string): void;
  /** Forgets the keys of all values that the test is true for. */
  dropWhere(test: (value: Value) => boolean): void;
  /** Trusts nothing any more. Old values still stand in while nothing can be looked up. */
  distrustAll(): void;
}

type Entry<Value> = { value: Value; freshUntil: number; epoch: number };
type Look<Value> = { result: Promise<Known<Value>>; counts: boolean };

/** After a look-up failed or took too long, an old value is served for this long without another look-up. */
const retryMs = 1_000;

/** A cache in front of the database that goes on while the database is away. */
export function createCache<Value extends object>(deps: CacheDeps<Value>): Cache<Value> {
  const { load, hearsChanges, nowMs, ttlMs, missTtlMs, patienceMs, weigh = () => 1 } = deps;
  const values = lruCache<Entry<Value>>(deps.size, ({ value }) => weigh(value));
  const misses = lruCache<number>(deps.missSize);
  const looks = new Map<string, Look<Value>>();
  let epoch = 0;

  function isFresh(entry: Entry<Value>): boolean {
    return (entry.epoch === epoch && nowMs() < entry.freshUntil) || !hearsChanges();
  }

  function keep(key: string, value: Value | undefined): void {
    if (value === undefined) {
      values.delete(key);
      misses.set(key, nowMs() + missTtlMs);
    } else {
      misses.delete(key);
      values.set(key, { value, freshUntil: nowMs() + ttlMs, epoch });
    }
  }

  function lookOnce(key: string): Promise<Known<Value>> {
    const running = looks.get(key);
    if (running !== undefined) return running.result;
    const run = async (): Promise<Known<Value>> => {
      try {
        const value = await load(key);
        if (look.counts) keep(key, value);
        return { value };
      } finally {
        if (look.counts) looks.delete(key);
      }
    };
    const look: Look<Value> = { counts: true, result: Promise.resolve(nothing) };
    looks.set(key, look);
    look.result = run();
    return look.result;
  }

  // Callers who asked before the change still get the result. It is not kept.
  function disown(key: string): void {
    const look = looks.get(key);
    if (look !== undefined) look.counts = false;
    looks.delete(key);
  }

  return {
    peek(key) {
      const entry = values.get(key);
      if (entry !== undefined && isFresh(entry)) return entry;
      const missUntil = misses.get(key);
      return missUntil !== undefined && nowMs() < missUntil ? nothing : undefined;
    },
    keeps: (key) => values.has(key),
    find(key) {
      const old = values.get(key);
      if (old === undefined) return lookOnce(key);
      return within(patienceMs, lookOnce(key), () => {
        old.freshUntil = nowMs() + retryMs;
        old.epoch = epoch;
        return old;
      });
    },
    drop(key) {
      values.delete(key);
      misses.delete(key);
      disown(key);
    },
    dropWhere(test) {
      for (const [key, entry] of values.entries()) if (test(entry.value)) values.delete(key);
      // A look-up on its way may give such a value too.
      for (const key of looks.keys()) disown(key);
    },
    distrustAll() {
      epoch += 1;
      misses.clear();
      for (const key of looks.keys()) disown(key);
    },
  };
}

const nothing = Object.freeze({ value: undefined });

function within<Result>(
  milliseconds: number,
  awaited: Promise<Result>,
  instead: () => Result,
): Promise<Result> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(instead()), milliseconds);
    awaited.then(resolve, () => resolve(instead())).finally(() => clearTimeout(timer));
  });
}
