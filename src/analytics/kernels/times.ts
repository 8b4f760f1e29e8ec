import type { Hours, Intervals, Leading, Summary } from "../question.ts";
import { occurring, sumOf } from "./ranking.ts";
import { eachHour, eachInterval, timeOf } from "./slices.ts";
import { held, type Kernel, type NumberedTexts, type TextsOf } from "./span.ts";
import { countCodes, createTally } from "./tally.ts";

export function intervalsKernel(question: Intervals): Kernel<readonly number[]> {
  const starts = question.starts.map((start) => start.getTime());
  const counts = new Array<number>(starts.length).fill(0);
  return {
    columns: ["times"],
    add(span) {
      eachInterval(span, starts, (place, from, to) => {
        counts[place] = (counts[place] ?? 0) + to - from;
      });
    },
    finish: () => counts,
  };
}

export function hoursKernel({ clock }: Hours): Kernel<readonly number[]> {
  const counts = new Array<number>(24).fill(0);
  return {
    columns: ["times"],
    add(span) {
      eachHour(span, clock, (hour, from, to) => {
        counts[hour] = (counts[hour] ?? 0) + to - from;
      });
    },
    finish: () => counts,
  };
}

const leadingNames = ["country", "city", "deviceType"] as const;

/** The score of a visit without one. */
const noScore = 255;

export function summaryKernel(textsOf: TextsOf): Kernel<Summary> {
  const leaders = leadingNames.map((name) => ({ name, leader: createLeader(() => textsOf(name)) }));
  const byScore = new Float64Array(256);
  let total = 0;
  let firstAt: Date | undefined;
  let lastAt: Date | undefined;
  return {
    columns: [...leadingNames, "times", "scores"],
    add(span) {
      const { rows } = span;
      if (rows.length === 0) return;
      firstAt ??= new Date(timeOf(span, 0));
      lastAt = new Date(timeOf(span, rows.length - 1));
      for (const { name, leader } of leaders) leader.add(held(span, name), rows);
      const counts = countCodes(held(span, "scores"), byScore.length, rows, 0, rows.length);
      for (let score = 0; score < counts.length; score++)
        byScore[score] = (byScore[score] ?? 0) + (counts[score] ?? 0);
      total += rows.length;
    },
    addAgain(span) {
      for (const { name, leader } of leaders) leader.addAgain(held(span, name), span.rows);
    },
    finish() {
      const [country, city, deviceType] = leaders.map(({ leader }) => leader.leading());
      if (country === undefined || city === undefined || deviceType === undefined)
        throw new Error("a leader of each column was made");
      const given = byScore.subarray(0, noScore);
      const scoreSum = given.reduce((sum, count, score) => sum + count * score, 0);
      return { total, firstAt, lastAt, scored: sumOf(given), scoreSum, country, city, deviceType };
    },
  };
}

/** Finds the most frequent text, and of equally frequent ones the one that occurred last. */
function createLeader(textsOf: () => readonly string[]) {
  const tally = createTally();
  let top: number | undefined;
  let tied: Uint8Array | undefined;

  function judge(): Uint8Array {
    const counts = tally.counts();
    const texts = textsOf();
    const most = occurring(counts).reduce(
      (greatest, number) => (texts[number] === "" ? greatest : Math.max(greatest, counts[number] ?? 0)),
      0,
    );
    const all = Uint8Array.from(counts, (count, number) => (count === most && texts[number] !== "" ? 1 : 0));
    const first = most === 0 ? -1 : all.indexOf(1);
    top = first === -1 ? undefined : first;
    return all.indexOf(1, first + 1) === -1 ? new Uint8Array(0) : all;
  }

  return {
    add: tally.add,
    /** Takes the same rows again: whichever of equally frequent texts comes last leads. */
    addAgain({ codes, numbers }: NumberedTexts, rows: Uint32Array): void {
      tied ??= judge();
      if (tied.length === 0) return;
      for (let row = rows.length - 1; row >= 0; row--) {
        const number = numbers[codes[rows[row] ?? 0] ?? 0] ?? 0;
        if (tied[number] !== 1) continue;
        top = number;
        return;
      }
    },
    leading(): Leading {
      tied ??= judge();
      const texts = textsOf();
      const values = occurring(tally.counts()).filter((number) => texts[number] !== "").length;
      return { top: top === undefined ? "" : (texts[top] ?? ""), values };
    },
  };
}
