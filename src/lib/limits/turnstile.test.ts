import { expect, test } from "vitest";
import { createTurnstile, type Turnstile, type TurnstileSizes } from "./turnstile.ts";

const sizes: TurnstileSizes = { places: 4, share: 2, longPlaces: 2, longShare: 1 };

/** Lets owners in and records their order. */
function door(change: Partial<TurnstileSizes> = {}) {
  const turnstile = createTurnstile({ ...sizes, ...change });
  const inside: string[] = [];
  return {
    turnstile,
    inside,
    come(owner: string, name = owner, isLong = false, signal?: AbortSignal) {
      const entered = turnstile.enter({ owner, isLong }, signal && (() => signal));
      if (entered === undefined) inside.push(name);
      return entered?.then(() => void inside.push(name));
    },
    leave: (owner: string, isLong = false) => turnstile.leave({ owner, isLong }),
  };
}

/** Lets the handlers of settled promises run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("an owner gets at most a share, and the other places are for others", async () => {
  const { come, leave, inside } = door();
  for (const name of ["a1", "a2", "a3"]) void come("a", name);
  void come("b", "b1");
  expect(inside).toEqual(["a1", "a2", "b1"]);
  leave("b");
  await settled();
  expect(inside).toEqual(["a1", "a2", "b1"]);
  leave("a");
  await settled();
  expect(inside).toEqual(["a1", "a2", "b1", "a3"]);
});

test("free places go around among the waiting owners, first come first served within each", async () => {
  const { come, leave, inside } = door({ places: 1, share: 1 });
  void come("a", "a0");
  for (const name of ["a1", "a2"]) void come("a", name);
  for (const name of ["b1", "b2"]) void come("b", name);
  void come("c", "c1");
  for (const owner of ["a", "a", "b", "c", "a"]) {
    leave(owner);
    await settled();
  }
  expect(inside).toEqual(["a0", "a1", "b1", "c1", "a2", "b2"]);
});

test("long holders leave places to short ones, in all and within their owner's share", async () => {
  const { come, leave, inside, turnstile } = door();
  void come("a", "long a1", true);
  void come("a", "long a2", true);
  void come("b", "long b1", true);
  void come("c", "long c1", true);
  void come("a", "short a");
  void come("c", "short c");
  expect(inside).toEqual(["long a1", "long b1", "short a", "short c"]);
  expect([turnstile.waiting("a"), turnstile.waiting("c")]).toEqual([1, 1]);
  leave("b", true);
  await settled();
  expect(inside.at(-1)).toBe("long c1");
});

test("a comer whose patience ends leaves the line and takes no place", async () => {
  const { come, leave, inside, turnstile } = door({ places: 1, share: 1 });
  void come("a", "a0");
  const impatient = new AbortController();
  const gone = come("a", "a1", false, impatient.signal);
  void come("a", "a2");
  impatient.abort(new Error("too late"));
  await expect(gone).rejects.toThrow("too late");
  expect(turnstile.waiting("a")).toBe(1);
  leave("a");
  await settled();
  expect(inside).toEqual(["a0", "a2"]);
  await expect(come("a", "a3", false, AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
});

test("in any order of coming and going, no limit is exceeded and everybody gets in", async () => {
  const { places, share, longPlaces, longShare } = sizes;
  const turnstile: Turnstile = createTurnstile(sizes);
  const held = new Map<string, number>();
  const add = (key: string, change: number) => held.set(key, (held.get(key) ?? 0) + change);
  const count = (key: string) => held.get(key) ?? 0;
  let served = 0;
  const visit = async (owner: string, isLong: boolean, turns: number) => {
    await turnstile.enter({ owner, isLong });
    const kinds = isLong ? ["all", owner, "long", `long ${owner}`] : ["all", owner];
    for (const kind of kinds) add(kind, 1);
    expect(count("all")).toBeLessThanOrEqual(places);
    expect(count(owner)).toBeLessThanOrEqual(share);
    expect(count("long")).toBeLessThanOrEqual(longPlaces);
    expect(count(`long ${owner}`)).toBeLessThanOrEqual(longShare);
    for (let turn = 0; turn < turns; turn++) await settled();
    for (const kind of kinds) add(kind, -1);
    turnstile.leave({ owner, isLong });
    served += 1;
  };
  const visits = Array.from({ length: 600 }, (_, index) =>
    visit(`owner ${index % 7}`, index % 3 === 0, index % 4),
  );
  await Promise.all(visits);
  expect(served).toBe(600);
  expect(Array.from({ length: 7 }, (_, index) => turnstile.waiting(`owner ${index}`))).toEqual(
    Array(7).fill(0),
  );
});
