import type { WidgetAnswer, WidgetRow } from "./ask-widget.ts";
import { amount, listed, momentFormat, named, percent, rounded } from "./plain-words.ts";

/** What a summary is about. */
export interface Numbers extends WidgetAnswer {
  readonly chartType: string;
  /** The rows of the same question about the period before. Undefined where they are unknown, or mean nothing. */
  readonly before: readonly WidgetRow[] | undefined;
  /** The length of both periods. */
  readonly days: number;
  /** The zone in which intervals begin. */
  readonly timezone: string;
}

/** Writes what people should know of a widget's numbers, in a few sentences. */
export type WriteSummary = (numbers: Numbers) => Promise<string>;

/**
 * Writes a summary by rules: how much there is and how it changed, what is largest, and when. Every number in it is one of the
 * rows, or calculated from them.
 */
export function plainSummary(numbers: Numbers): string {
  const { rows, chartType } = numbers;
  if (rows.length === 0) return "There is nothing to summarize: the widget has no rows.";
  if (rows.every(({ value }) => value === undefined)) return withoutValues(numbers);
  if (chartType === "funnel") return joined([...funnel(numbers)]);
  const isOne = rows.length === 1 && rows[0]?.timestamp === undefined;
  return joined([
    total(numbers, "value"),
    total(numbers, "value2"),
    ...(isOne ? [] : [peak(numbers), largest(numbers), mostChanged(numbers)]),
  ]);
}

function joined(sentences: readonly (string | undefined)[]): string {
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}

function withoutValues({ rows, names }: Numbers): string {
  const [first] = rows;
  if (names.value !== undefined) return `${named(names.value)}: no value yet.`;
  const what = first?.label === undefined ? "" : ` The first is ${named(first.label)}.`;
  return `There ${rows.length === 1 ? "is 1 row" : `are ${amount(rows.length)} rows`}.${what}`;
}

type Measured = "value" | "value2";

function valuesOf(rows: readonly WidgetRow[], role: Measured): number[] {
  return rows.flatMap((row) => row[role] ?? []);
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** How much there is in all, and how it changed. Means are not added up: only a single one is told. */
function total(numbers: Numbers, role: Measured): string | undefined {
  const { rows, before, counts, names } = numbers;
  const values = valuesOf(rows, role);
  const isCount = counts.has(role);
  if (values.length === 0 || (!isCount && rows.length > 1)) return undefined;
  const earlier = before && valuesOf(before, role);
  const now = sum(values);
  const isNone = isCount && values.every((value) => value === 0);
  // Without rows before, a count was 0, and a mean had no value.
  const hasEarlier = earlier !== undefined && (isCount || earlier.length > 0);
  const isList = rows.length > 1 && rows[0]?.timestamp === undefined;
  const period = isList ? `the rows of the ${numbers.days} days before` : `the ${numbers.days} days before`;
  const change = hasEarlier ? `, ${difference(now, sum(earlier), { period, isCount })}` : "";
  const times = new Set(rows.map(({ timestamp }) => timestamp?.getTime())).size;
  // A list may be cut, and whoever comes in two intervals counts in both: neither sum is the whole.
  const where = isList
    ? ` in ${amount(rows.length)} rows`
    : times > 1
      ? ` added up over ${amount(times)} intervals`
      : "";
  return `${named(names[role] ?? "Value")}: ${isNone ? "none" : `${amount(now)}${where}`}${change}.`;
}

/** `20 more (25%) than in the 30 days before`. Differences that would be shown as 0 are none. */
function difference(
  now: number,
  earlier: number,
  { period, isCount }: { readonly period: string; readonly isCount: boolean },
): string {
  const by = now - earlier;
  if (isCount && now === 0)
    return earlier === 0 ? `and none in ${period}` : `after ${amount(earlier)} in ${period}`;
  if (by === 0) return `as much as in ${period}`;
  if (isCount && earlier === 0) return `after none in ${period}`;
  if (rounded(by) === 0) return `nearly as much as in ${period}`;
  const share = earlier > 0 ? ` (${percent(Math.abs(by), earlier)})` : "";
  return `${amount(Math.abs(by))} ${by > 0 ? "more" : "less"}${share} than in ${period}`;
}

/** The intervals with the greatest values. */
function peak({ rows, counts, timezone }: Numbers): string | undefined {
  const byTime = new Map<number, number>();
  for (const { timestamp, value } of rows) {
    if (timestamp === undefined || value === undefined) continue;
    const at = timestamp.getTime();
    byTime.set(at, (byTime.get(at) ?? 0) + value);
  }
  // Means of one interval are not added up either.
  if (byTime.size < 2 || (byTime.size < rows.length && !counts.has("value"))) return undefined;
  const highest = Math.max(...byTime.values());
  const times = [...byTime.keys()].filter((at) => byTime.get(at) === highest).sort((a, b) => a - b);
  if (times.length === byTime.size)
    return highest === 0
      ? undefined
      : `Each of the ${amount(times.length)} intervals has ${amount(highest)}.`;
  const moments = [...byTime.keys()].sort((a, b) => a - b);
  const isShort = (moments[1] ?? 0) - (moments[0] ?? 0) < 20 * 3_600_000;
  const first = momentFormat(timezone, isShort).format(times[0]);
  return times.length === 1
    ? `The peak is ${amount(highest)} on ${first}.`
    : `The peak of ${amount(highest)} comes ${amount(times.length)} times, first on ${first}.`;
}

/** The values by what people call them; those of rows with the same name and category are added up. */
function groups(rows: readonly WidgetRow[]): Map<string, { readonly name: string; readonly value: number }> {
  const found = new Map<string, { name: string; value: number }>();
  for (const { label, category, value, timestamp } of rows) {
    const name = timestamp === undefined ? label : category;
    if (name === undefined || value === undefined) continue;
    const key = JSON.stringify(timestamp === undefined ? [label, category] : [category]);
    found.set(key, { name, value: value + (found.get(key)?.value ?? 0) });
  }
  return found;
}

/** How many names one sentence has at most. */
const namesMax = 3;

function largest({ rows, counts }: Numbers): string | undefined {
  const found = [...groups(rows).values()];
  const isCount = counts.has("value");
  const isRepeated = found.length < rows.length;
  if (found.length < 2 || (isRepeated && !isCount)) return undefined;
  const highest = Math.max(...found.map(({ value }) => value));
  const leaders = found.filter(({ value }) => value === highest);
  const names = listed(leaders.slice(0, namesMax).map(({ name }) => named(name)));
  if (leaders.length === found.length)
    return highest === 0 ? undefined : `All ${amount(found.length)} have ${amount(highest)} each.`;
  if (leaders.length > namesMax)
    return `${amount(leaders.length)} lead with ${amount(highest)} each, among them ${names}.`;
  if (leaders.length > 1) return `${names} lead with ${amount(highest)} each.`;
  const all = sum(found.map(({ value }) => value));
  const isShare = isCount && all > 0 && found.every(({ value }) => value >= 0);
  const share = isShare ? ` of the ${amount(all)} listed (${percent(highest, all)})` : "";
  return `${names} leads with ${amount(highest)}${share}.`;
}

/** Groups that are listed in one period only may have been too small for the other list, so they are not compared. */
function mostChanged(numbers: Numbers): string | undefined {
  const { rows, before = [], counts } = numbers;
  const isCount = counts.has("value");
  const period = `the ${numbers.days} days before`;
  const earlier = groups(before);
  if (!isCount && (groups(rows).size < rows.length || earlier.size < before.length)) return undefined;
  const changes = [...groups(rows)].flatMap(([key, { name, value }]) => {
    const was = earlier.get(key)?.value;
    return was === undefined ? [] : [{ name, value, was, size: Math.abs(value - was) }];
  });
  const most = Math.max(0, ...changes.map(({ size }) => size));
  const [first, second] = changes.filter(({ size }) => size === most);
  if (first === undefined || changes.length < 2 || rounded(most) === 0) return undefined;
  const what = `${amount(first.value)}, ${difference(first.value, first.was, { period, isCount })}`;
  return second === undefined
    ? `${named(first.name)} changed most: ${what}.`
    : `Nothing changed more than ${named(first.name)}: ${what}.`;
}

/** How far a way was gone, and where most were lost. Its steps overlap, so that they are not added up. */
function* funnel(numbers: Numbers): Generator<string> {
  const steps = numbers.rows.flatMap(({ label = "Unknown", value }) =>
    value === undefined ? [] : [{ name: named(label), value }],
  );
  const [entry, last] = [steps[0], steps.at(-1)];
  if (entry === undefined || last === undefined) return;
  const before = numbers.before?.find(({ label }) => label === numbers.rows[0]?.label)?.value;
  const wasEmpty = numbers.before?.length === 0;
  const period = `the ${numbers.days} days before`;
  const change =
    before === undefined && !wasEmpty
      ? ""
      : `, ${difference(entry.value, before ?? 0, { period, isCount: true })}`;
  yield `${entry.name}: ${entry.value === 0 ? "none" : amount(entry.value)}${change}.`;
  if (steps.length < 2 || entry.value <= 0) return;
  yield `Of these, ${amount(last.value)} (${percent(last.value, entry.value)}) reached ${last.name}.`;
  const drops = steps.slice(1).map((step, index) => {
    const from = steps[index] ?? step;
    return { from: from.name, to: step.name, lost: from.value - step.value };
  });
  const most = Math.max(...drops.map(({ lost }) => lost));
  const [drop, second] = drops.filter(({ lost }) => lost === most);
  if (drop === undefined || most <= 0 || drops.length < 2) return;
  const where = `between ${drop.from} and ${drop.to}`;
  yield second === undefined
    ? `Most were lost ${where}: ${amount(most)}.`
    : `Nowhere were more lost than ${where}: ${amount(most)}.`;
}
