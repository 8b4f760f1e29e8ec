import { expect, test } from "vitest";
import { createRecorder } from "./record.ts";

type Append = { resolve: () => void; reject: (error: Error) => void };

function setup(overrides: { patienceMs?: number; retryMs?: number; bufferBytesMax?: number } = {}) {
  const appends: Append[] = [];
  const troubles: unknown[] = [];
  const recorder = createRecorder({
    spool: {
      add: (_id, _text, done) => appends.push({ resolve: () => done(), reject: done }),
      append: () => new Promise((resolve, reject) => appends.push({ resolve, reject })),
    },
    onTrouble: (error) => troubles.push(error),
    patienceMs: 60_000,
    retryMs: 60_000,
    ...overrides,
  });
  const record = () =>
    new Promise<void>((resolve) =>
      recorder.record(Buffer.alloc(16), { own: "x".repeat(76), shared: "" }, resolve),
    );
  return { recorder, record, appends, troubles };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

test("answers a visitor when the visit is on disk, and not before", async () => {
  const { recorder, record, appends } = setup();
  let isAnswered = false;
  const answered = record().then(() => {
    isAnswered = true;
  });
  await new Promise(setImmediate);
  expect(isAnswered).toBe(false);
  appends[0]?.resolve();
  await answered;
  expect(recorder.counts).toMatchObject({ recorded: 1, failed: 0, late: 0, buffered: 0, lost: 0 });
});

test("answers at once when the disk refuses, keeps the visit, and tries again", async () => {
  const { recorder, record, appends, troubles } = setup({ retryMs: 1 });
  const answered = [record(), record()];
  for (const append of appends) append.reject(new Error("disk full"));
  await Promise.all(answered);
  expect(recorder.counts).toMatchObject({ recorded: 0, failed: 2, buffered: 2 });
  expect(troubles).toHaveLength(1);

  await until(() => appends.length === 3);
  appends[2]?.reject(new Error("still full"));
  await until(() => appends.length === 4);
  appends[3]?.resolve();
  await until(() => appends.length === 5);
  appends[4]?.resolve();
  await until(() => recorder.counts.buffered === 0);
  expect(recorder.counts).toMatchObject({ recorded: 2, lost: 0 });
});

test("answers a visitor for whom the disk takes too long, once, and the visit still counts", async () => {
  const { recorder, record, appends } = setup({ patienceMs: 4 });
  await record();
  expect(recorder.counts.late).toBe(1);
  appends[0]?.resolve();
  await until(() => recorder.counts.recorded === 1);
});

test("gives visits up, and says so, only when its memory is full", async () => {
  const { recorder, record, appends } = setup({ bufferBytesMax: 250 });
  const answered = [record(), record(), record()];
  for (const append of appends) append.reject(new Error("disk full"));
  await Promise.all(answered);
  expect(recorder.counts).toMatchObject({ failed: 3, buffered: 2, lost: 1 });
});
