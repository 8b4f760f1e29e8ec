import { expect, test } from "vitest";
import { answerBytesMax, fillPage } from "./fill-page.ts";
import { readPage } from "./page.ts";

const id = (index: number) => `0190f0c0-0000-7000-8000-${String(index).padStart(12, "0")}`;
const sized = (...sizes: number[]) => sizes.map((size, index) => ({ id: id(index), size }));
const rules = { key: "none", sort: "things", filters: {} } as const;

interface Row {
  readonly id: string;
  readonly size: number;
}

function fill(rows: readonly Row[], pageSize: bigint, more: { bytesOf?: (row: Row) => number } = {}) {
  return fillPage(readPage({ pageSize, pageToken: "" }, rules), {
    rows,
    edgeOf: (row) => ({ key: undefined, id: row.id }),
    recordOf: (row): Row | undefined => (row.size < 0 ? undefined : row),
    write: ({ size }) => size,
    ...more,
  });
}

const half = answerBytesMax / 2;

test("a page has no token when no row follows it", async () => {
  expect(await fill([], 2n)).toEqual({ records: [], nextPageToken: "", hasMore: false });
  expect(await fill(sized(1, 1), 2n)).toMatchObject({ nextPageToken: "", hasMore: false });
  const { records, nextPageToken, hasMore } = await fill(sized(1, 2, 3), 2n);
  expect(records.map(({ size }) => size)).toEqual([1, 2]);
  expect(hasMore).toBe(true);
  expect(readPage({ pageSize: 2n, pageToken: nextPageToken }, rules).after?.id).toBe(id(1));
});

test.each<[sizes: number[], kept: number, why: string]>([
  [[half, half - 100_000, 1], 3, "all fit"],
  [[half, half, 1], 1, "the second leaves no room for a token"],
  [[1, answerBytesMax, 1], 1, "the second is too large beside another one"],
  [[3 * answerBytesMax, 1, 1], 1, "the first is too large, and alone"],
  [[1, -1, 1], 1, "of the second nothing was read"],
])("records of %j bytes fill a page with %i: %s", async (sizes, kept) => {
  const { records, hasMore } = await fill(sized(...sizes), 100n);
  expect(records).toHaveLength(kept);
  expect(hasMore).toBe(kept < sizes.length);
});

test("a page ends at the bytes that its statement counted, even when it wrote fewer", async () => {
  const { records, hasMore } = await fill(sized(1, 1, 1), 100n, { bytesOf: () => half });
  expect(records).toHaveLength(1);
  expect(hasMore).toBe(true);
});

test("other work gets its turn while a long page is written", async () => {
  let turns = 0;
  const count = setInterval(() => {
    turns += 1;
  }, 1);
  const busy = () => {
    const until = performance.now() + 5;
    while (performance.now() < until);
    return 1;
  };
  const rows = sized(...Array(40).fill(1));
  const page = readPage({ pageSize: 100n, pageToken: "" }, rules);
  await fillPage(page, {
    rows,
    edgeOf: ({ id }) => ({ key: undefined, id }),
    recordOf: (row) => row,
    write: busy,
  });
  clearInterval(count);
  expect(turns).toBeGreaterThan(5);
});

test("pages that are written at the same time take turns, one in each round of the event loop", async () => {
  let rounds = 0;
  let isOver = false;
  const count = () => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  let slices = 0;
  const busy = () => {
    const until = performance.now() + 6;
    while (performance.now() < until);
    slices += 1;
    return 1;
  };
  const rows = sized(...Array(5).fill(1));
  const page = readPage({ pageSize: 100n, pageToken: "" }, rules);
  const edgeOf = ({ id }: Row) => ({ key: undefined, id });
  await Promise.all(
    Array.from({ length: 8 }, () => fillPage(page, { rows, edgeOf, recordOf: (row) => row, write: busy })),
  );
  isOver = true;
  expect(slices).toBe(40);
  // Each slice but the first of each page had a round of its own.
  expect(rounds).toBeGreaterThanOrEqual(32);
});
