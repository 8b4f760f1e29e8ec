import { expect, test } from "vitest";
import { framedLength, idLength, unframe } from "./framed-records.ts";
import { groupCommit } from "./group-commit.ts";
import { createHandover, taker } from "./handover.js";

const id = new Uint8Array(idLength);

/** Both sides in one thread. `take` begins a commit of the disk and returns the texts in it. */
function setup({ groupBytesMax = 1_000, waitingBytesMax = 10_000 } = {}) {
  const handover = createHandover(groupBytesMax);
  const takeGroup = taker(handover);
  const wakes: number[] = [];
  const commits = groupCommit(handover, () => wakes.push(1), { groupBytesMax, waitingBytesMax });
  const ends: string[] = [];
  return {
    commits,
    wakes,
    /** What became of the records, in order. */
    ends,
    add(own: string) {
      const text = { own, shared: "" };
      commits.add(id, text, framedLength(text), (error) =>
        ends.push(`${own[0]} ${error?.message ?? "done"}`),
      );
    },
    take() {
      const group = takeGroup();
      if (group === undefined) return undefined;
      const texts = unframe(Uint8Array.from(group.bytes)).map(({ own }) => Buffer.from(own).toString()[0]);
      expect(texts).toHaveLength(group.records);
      group.release();
      return texts.join("");
    },
  };
}

const endOfTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test("the disk takes all that has come in one group, and what comes meanwhile in the next", () => {
  const { add, take, commits, ends } = setup();
  for (const own of ["a", "b", "c"]) add(own);
  expect(take()).toBe("abc");
  for (const own of ["d", "e"]) add(own);
  expect(ends).toEqual([]);
  commits.end();
  expect(ends).toEqual(["a done", "b done", "c done"]);
  expect(take()).toBe("de");
  expect(take()).toBeUndefined();
});

test("the disk may be two groups ahead of the thread that hears of it", () => {
  const { add, take, commits, ends } = setup();
  for (const own of ["a", "b", "c"]) {
    add(own);
    expect(take()).toBe(own);
  }
  add("d");
  for (let group = 0; group < 3; group++) commits.end();
  expect(ends).toEqual(["a done", "b done", "c done"]);
  expect(take()).toBe("d");
});

test("a sleeping disk is woken once, at the end of the turn; a disk at work is not", async () => {
  const { add, take, wakes } = setup();
  add("a");
  await endOfTurn();
  expect(wakes).toHaveLength(0);
  expect(take()).toBe("a");
  expect(take()).toBeUndefined();
  for (const own of ["b", "c"]) add(own);
  expect(wakes).toHaveLength(0);
  await endOfTurn();
  expect(wakes).toHaveLength(1);
  add("d");
  await endOfTurn();
  expect(wakes).toHaveLength(1);
  expect(take()).toBe("bcd");
});

test("groups are of bounded size, and records keep their order", () => {
  const { add, take, commits } = setup();
  for (const own of ["a", "b", "c", "d"]) add(own.repeat(400));
  add("e");
  const taken = [];
  for (let group = 0; group < 2; group++) {
    taken.push(take());
    commits.end();
  }
  expect(taken).toEqual(["ab", "cde"]);
});

test("a failed commit rejects its own records only", () => {
  const { add, take, commits, ends } = setup();
  add("a");
  take();
  add("b");
  commits.end(new Error("disk full"));
  expect(take()).toBe("b");
  commits.end();
  expect(ends).toEqual(["a disk full", "b done"]);
});

test("a record is refused at once when too much waits", async () => {
  const { add, take, commits, ends } = setup({ groupBytesMax: 100, waitingBytesMax: 200 });
  for (const own of ["a", "b", "c"]) add(own.repeat(70));
  expect(ends).toEqual(["c 188 bytes already wait to be committed"]);
  for (const own of ["a", "b"]) {
    expect(take()).toBe(own);
    commits.end();
  }
  await commits.idle();
  expect(ends.slice(1)).toEqual(["a done", "b done"]);
});

test("every record ends with an error when the thread of the disk ends", () => {
  const { add, take, commits, ends } = setup({ groupBytesMax: 100 });
  add("a".repeat(70));
  take();
  for (const own of ["b", "c"]) add(own.repeat(70));
  commits.endAll(new Error("the thread ended"));
  expect(ends).toEqual(["a the thread ended", "b the thread ended", "c the thread ended"]);
});
