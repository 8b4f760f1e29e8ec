import type { Hours, Intervals, Leading, Summary } from "../question.ts";
import { firstOf, occurring } from "./ranking.ts";
import { eachHour, eachInterval, timeOf } from "./slices.ts";
import { held, type Kernel, type NumberedTexts, type TextsOf } from "./span.ts";
import { grown } from "./tally.ts";

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
  const leaders = leadingNames.map((name) => ({ name, leader: createLeader() }));
  let [total, scored, scoreSum] = [0, 0, 0];
  let firstAt: Date | undefined;
  let lastAt: Date | undefined;
  return {
    columns: [...leadingNames, "times", "scores"],
    add(span) {
      const { rows } = span;
      if (rows.length === 0) return;
      firstAt ??= new Date(timeOf(span, 0));
      lastAt = new Date(timeOf(span, rows.length - 1));
      for (const { name, leader } of leaders) leader.add(held(span, name), rows, total);
      const scores = held(span, "scores");
      for (let row = 0; row < rows.length; row++) {
        const score = scores[rows[row] ?? 0] ?? noScore;
        if (score === noScore) continue;
        scored += 1;
        scoreSum += score;
      }
      total += rows.length;
    },
    finish() {
      const [country, city, deviceType] = leaders.map(({ name, leader }) => leader.leading(textsOf(name)));
      if (country === undefined || city === undefined || deviceType === undefined)
        throw new Error("a leader of each column was made");
      return { total, firstAt, lastAt, scored, scoreSum, country, city, deviceType };
    },
  };
}

/** Finds the most frequent text, and of equally frequent ones the one that occurred last. */
function createLeader() {
  let counts = new Float64Array(64);
  let lasts = new Float64Array(64);
  return {
    /** `before` rows were added earlier. */
    add({ codes, numbers }: NumberedTexts, rows: Uint32Array, before: number): void {
      const own = new Uint32Array(numbers.length);
      const last = new Uint32Array(numbers.length);
      for (let row = 0; row < rows.length; row++) {
        const code = codes[rows[row] ?? 0] ?? 0;
        own[code] = (own[code] ?? 0) + 1;
        last[code] = row;
      }
      counts = grown(counts, numbers);
      lasts = grown(lasts, numbers);
      for (let code = 0; code < own.length; code++) {
        if (own[code] === 0) continue;
        const number = numbers[code] ?? 0;
        counts[number] = (counts[number] ?? 0) + (own[code] ?? 0);
        lasts[number] = before + (last[code] ?? 0);
      }
    },
    leading(texts: readonly string[]): Leading {
      const known = occurring(counts).filter((number) => texts[number] !== "");
      const [top] = firstOf(known, 1, (a, b) => {
        return (counts[b] ?? 0) - (counts[a] ?? 0) || (lasts[b] ?? 0) - (lasts[a] ?? 0);
      });
      return { top: top === undefined ? "" : (texts[top] ?? ""), values: known.length };
    },
  };
}
