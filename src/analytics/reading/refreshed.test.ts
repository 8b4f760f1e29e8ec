import { expect, test } from "vitest";
import { refreshed } from "./refreshed.ts";

/** Readings that end when the test says so, by a clock that stands still. */
function slowReadings() {
  let nowMs = 1_000;
  const ends: ((value: string) => void)[] = [];
  const read = refreshed(
    () => new Promise<string>((resolve) => ends.push(resolve)),
    () => nowMs,
  );
  return {
    read,
    readings: () => ends.length,
    pass: (ms: number) => {
      nowMs += ms;
    },
    end: (value: string) => ends.at(-1)?.(value),
  };
}

/** The first reading began at 1,000 and took so long. */
async function afterFirst(tookMs: number) {
  const readings = slowReadings();
  const first = readings.read(30_000);
  readings.pass(tookMs);
  readings.end("first");
  expect(await first).toMatchObject({ value: "first", beganAt: 1_000 });
  return readings;
}

test("what took long to read serves while it is young, with the time at which its reading began", async () => {
  const { read, readings, pass } = await afterFirst(100);
  pass(800);
  expect(await read(30_000)).toMatchObject({ value: "first", beganAt: 1_000 });
  expect(readings()).toBe(1);
});

test("what took long to read serves while it is read anew, once ten times as long has passed", async () => {
  const { read, readings, pass, end } = await afterFirst(100);
  pass(1_000);
  expect((await read(30_000)).value).toBe("first");
  expect((await read(30_000)).value).toBe("first");
  expect(readings()).toBe(2);
  pass(100);
  end("second");
  await expect.poll(async () => (await read(30_000)).value).toBe("second");
  expect(await read(30_000)).toMatchObject({ value: "second", beganAt: 2_100 });
});

test("what is older than it may be is not served", async () => {
  const { read, readings, pass, end } = await afterFirst(100);
  pass(29_900);
  expect((await read(30_000)).value).toBe("first");
  expect(readings()).toBe(2);
  pass(1);
  let served: string | undefined;
  const asked = read(30_000).then(({ value }) => {
    served = value;
  });
  end("second");
  await expect.poll(readings).toBe(3);
  expect(served).toBeUndefined();
  end("third");
  await asked;
  expect(served).toBe("third");
});

test("what is read quickly is read anew for every question", async () => {
  const { read, readings, end } = await afterFirst(20);
  const asked = read(30_000);
  expect(readings()).toBe(2);
  end("second");
  expect((await asked).value).toBe("second");
});

test("a reading that began before a question does not answer one that may not be late", async () => {
  const { read, readings, pass, end } = await afterFirst(100);
  pass(1_000);
  await read(30_000);
  const asked = [read(0), read(0)];
  end("before");
  await expect.poll(readings).toBe(3);
  end("after");
  expect((await Promise.all(asked)).map(({ value }) => value)).toEqual(["after", "after"]);
});

test("a reading that fails fails who asked, and the next one begins again", async () => {
  let readings = 0;
  const read = refreshed(async () => {
    readings += 1;
    if (readings === 1) throw new Error("away");
    return readings;
  });
  await expect(read(30_000)).rejects.toThrow("away");
  expect((await read(30_000)).value).toBe(2);
});
