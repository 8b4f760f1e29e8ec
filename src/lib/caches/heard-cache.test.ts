import { expect, test } from "vitest";
import { createCache } from "./heard-cache.ts";

type Thing = { name: string };

function setup() {
  const state = { nowMs: 0, hears: true, loads: 0, value: { name: "a" } as Thing | undefined, isDown: false };
  const gates: (() => void)[] = [];
  let isGated = false;
  const cache = createCache<Thing>({
    load: async () => {
      state.loads += 1;
      const { value } = state;
      if (isGated) await new Promise<void>((resolve) => gates.push(resolve));
      if (state.isDown) throw new Error("away");
      return value;
    },
    hearsChanges: () => state.hears,
    nowMs: () => state.nowMs,
    size: 2,
    missSize: 2,
    ttlMs: 60_000,
    missTtlMs: 5_000,
    patienceMs: 20,
  });
  return {
    state,
    cache,
    gate: () => {
      isGated = true;
    },
    open: () => {
      isGated = false;
      for (const resolve of gates.splice(0)) resolve();
    },
  };
}

test("asks once for all who ask at the same time, and not again while the answer is fresh", async () => {
  const { cache, state } = setup();
  const found = await Promise.all([cache.find("k"), cache.find("k"), cache.find("k")]);
  expect(found.map(({ value }) => value?.name)).toEqual(["a", "a", "a"]);
  expect(cache.peek("k")?.value?.name).toBe("a");
  expect(state.loads).toBe(1);
});

test("remembers for a short time that there is nothing", async () => {
  const { cache, state } = setup();
  state.value = undefined;
  await cache.find("k");
  expect(cache.peek("k")).toEqual({ value: undefined });
  state.nowMs = 5_000;
  expect(cache.peek("k")).toBeUndefined();
});

test("keeps what exists however much does not", async () => {
  const { cache, state } = setup();
  await cache.find("k");
  state.value = undefined;
  for (let guess = 0; guess < 100; guess++) await cache.find(`guess ${guess}`);
  expect(cache.peek("k")?.value?.name).toBe("a");
});

test("asks again after a change, and drops what was looked up while it happened", async () => {
  const { cache, state, gate, open } = setup();
  gate();
  const early = cache.find("k");
  cache.drop("k");
  state.value = { name: "b" };
  open();
  expect((await early).value?.name).toBe("a");
  expect(cache.peek("k")).toBeUndefined();
  expect((await cache.find("k")).value?.name).toBe("b");
});

test("asks again when the time is over, and when changes went unheard", async () => {
  const { cache, state } = setup();
  await cache.find("k");
  state.nowMs = 60_000;
  expect(cache.peek("k")).toBeUndefined();
  await cache.find("k");
  cache.distrustAll();
  expect(cache.peek("k")).toBeUndefined();
  expect(state.loads).toBe(2);
});

test("serves what is old without asking while changes cannot be heard", async () => {
  const { cache, state } = setup();
  await cache.find("k");
  state.hears = false;
  state.nowMs = 3_600_000;
  expect(cache.peek("k")?.value?.name).toBe("a");
});

test("serves what is old when looking up fails or hangs, and does not try again at once", async () => {
  const { cache, state, gate, open } = setup();
  await cache.find("k");
  state.nowMs = 60_000;
  state.isDown = true;
  expect((await cache.find("k")).value?.name).toBe("a");
  expect(cache.peek("k")?.value?.name).toBe("a");
  state.nowMs = 62_000;
  gate();
  expect((await cache.find("k")).value?.name).toBe("a");
  open();
});

test("rejects when nothing is known and nothing can be looked up", async () => {
  const { cache, state } = setup();
  state.isDown = true;
  await expect(cache.find("k")).rejects.toThrow("away");
  state.isDown = false;
  expect((await cache.find("k")).value?.name).toBe("a");
});
