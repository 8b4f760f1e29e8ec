import { describe, expect, test } from "vitest";
import { type Random, randomFrom } from "../../../test/fuzz/random.ts";
import type { WidgetRow } from "./ask-widget.ts";
import { amount, momentFormat, named } from "./plain-words.ts";
import { type Numbers, plainSummary } from "./write-summary.ts";

const names = { label: "Country", value: "Visits", value2: "Returning", timestamp: "Time" };
const day = 86_400_000;
const start = Date.UTC(2026, 9, 24);

function numbersOf(rows: readonly WidgetRow[], more: Partial<Numbers> = {}): Numbers {
  const counts = new Set(["value", "value2"] as const);
  return { rows, names, counts, chartType: "bar", before: undefined, days: 30, timezone: "UTC", ...more };
}

const countries = (given: Readonly<Record<string, number>>): WidgetRow[] =>
  Object.entries(given).map(([label, value]) => ({ label, value }));

const daily = (...values: readonly number[]): WidgetRow[] =>
  values.map((value, index) => ({ timestamp: new Date(start + index * day), value }));

describe("sentences", () => {
  const cases: readonly [string, Numbers, string][] = [
    [
      "the total, its change, the leader and what changed most",
      numbersOf(countries({ Germany: 50, France: 30, Spain: 20 }), {
        before: countries({ Germany: 48, France: 12, Spain: 20 }),
      }),
      "Visits: 100 in 3 rows, 20 more (25%) than in the rows of the 30 days before. " +
        "Germany leads with 50 of the 100 listed (50%). " +
        "France changed most: 30, 18 more (150%) than in the 30 days before.",
    ],
    [
      "a fall",
      numbersOf(countries({ Germany: 10, France: 5 }), { before: countries({ Germany: 40, France: 5 }) }),
      "Visits: 15 in 2 rows, 30 less (66.67%) than in the rows of the 30 days before. " +
        "Germany leads with 10 of the 15 listed (66.67%). " +
        "Germany changed most: 10, 30 less (75%) than in the 30 days before.",
    ],
    [
      "days and their peak",
      numbersOf(daily(3, 9, 1), { before: daily(0, 0, 0), chartType: "area" }),
      "Visits: 13 added up over 3 intervals, after none in the 30 days before. The peak is 9 on 25 October 2026.",
    ],
    [
      "a peak that comes twice",
      numbersOf(daily(9, 1, 9), { before: daily(19), chartType: "area" }),
      "Visits: 19 added up over 3 intervals, as much as in the 30 days before. The peak of 9 comes 2 times, first on 24 October 2026.",
    ],
    [
      "nothing on any day",
      numbersOf(daily(0, 0), { before: daily(0, 0) }),
      "Visits: none, and none in the 30 days before.",
    ],
    [
      "nothing any more",
      numbersOf(daily(0, 0), { before: daily(4) }),
      "Visits: none, after 4 in the 30 days before.",
    ],
    [
      "the same on all days",
      numbersOf(daily(2, 2)),
      "Visits: 4 added up over 2 intervals. Each of the 2 intervals has 2.",
    ],
    ["no rows", numbersOf([]), "There is nothing to summarize: the widget has no rows."],
    [
      "one number",
      numbersOf([{ value: 1234 }], { before: [{ value: 1000 }] }),
      "Visits: 1,234, 234 more (23.4%) than in the 30 days before.",
    ],
    [
      "a mean, which is not added up",
      numbersOf([{ value: 45.456 }], { before: [{ value: 50 }], counts: new Set() }),
      "Visits: 45.46, 4.54 less (9.09%) than in the 30 days before.",
    ],
    [
      "a mean that hardly changed",
      numbersOf([{ value: 45.001 }], { before: [{ value: 45 }], counts: new Set() }),
      "Visits: 45, nearly as much as in the 30 days before.",
    ],
    [
      "a mean without a value before",
      numbersOf([{ value: 1.5 }], { before: [{}], counts: new Set() }),
      "Visits: 1.5.",
    ],
    ["no value", numbersOf([{}]), "Visits: no value yet."],
    [
      "below zero",
      numbersOf(countries({ a: -5, b: 3 }), { before: countries({ a: -9, b: 3 }) }),
      "Visits: -2 in 2 rows, 4 more than in the rows of the 30 days before. b leads with 3. " +
        "a changed most: -5, 4 more than in the 30 days before.",
    ],
    [
      "two leaders",
      numbersOf(countries({ a: 5, b: 5, c: 1 })),
      "Visits: 11 in 3 rows. a and b lead with 5 each.",
    ],
    [
      "many leaders",
      numbersOf(countries({ a: 5, b: 5, c: 5, d: 5, e: 1 })),
      "Visits: 21 in 5 rows. 4 lead with 5 each, among them a, b and c.",
    ],
    ["equals", numbersOf(countries({ a: 5, b: 5 })), "Visits: 10 in 2 rows. All 2 have 5 each."],
    [
      "a way through a workflow",
      numbersOf(countries({ Entry: 100, Form: 70, Exit: 40 }), {
        chartType: "funnel",
        before: countries({ Entry: 50, Exit: 50 }),
      }),
      "Entry: 100, 50 more (100%) than in the 30 days before. Of these, 40 (40%) reached Exit. " +
        "Nowhere were more lost than between Entry and Form: 30.",
    ],
    [
      "a way that nobody went",
      numbersOf(countries({ Entry: 0, Exit: 0 }), { chartType: "funnel", before: [] }),
      "Entry: none, and none in the 30 days before.",
    ],
    [
      "a list without numbers",
      numbersOf([{ label: "pro" }, { label: "free" }], { names: { label: "Plan" }, chartType: "list" }),
      "There are 2 rows. The first is pro.",
    ],
    [
      "series, of which each has its total",
      numbersOf(
        [
          { timestamp: new Date(start), value: 1, category: "A" },
          { timestamp: new Date(start), value: 4, category: "B" },
          { timestamp: new Date(start + day), value: 1, category: "A" },
          { timestamp: new Date(start + day), value: 2, category: "B" },
        ],
        { chartType: "stacked_area" },
      ),
      "Visits: 8 added up over 2 intervals. The peak is 5 on 24 October 2026. B leads with 6 of the 8 listed (75%).",
    ],
  ];
  test.each(cases)("%s", (_, numbers, text) => expect(plainSummary(numbers)).toBe(text));
});

const labels = [
  "Germany",
  "2024 plan",
  "Åland",
  "50% off",
  "مرحبا 7",
  "a\u202eb9",
  "Café",
  "x".repeat(3_000),
];

function randomRows(random: Random, shape: "times" | "groups" | "one"): WidgetRow[] {
  const value = () =>
    random.pick([0, 0, 1, random.below(1_000), random.below(1_000_000), -random.below(50)] as const);
  const pair = () => ({ value: value(), ...(random.percent(40) && { value2: value() }) });
  if (shape === "one") return [pair()];
  const count = random.below(8);
  if (shape === "times")
    return Array.from({ length: count }, (_, index) => ({
      timestamp: new Date(start + index * day),
      ...pair(),
    }));
  return labels.slice(0, count).map((label) => ({ label, ...pair() }));
}

/** The numbers of a text, outside of quoted names and dates. */
function numbersIn(text: string, rows: readonly WidgetRow[]): string[] {
  const dates = rows.flatMap(({ timestamp }) =>
    timestamp ? [momentFormat("UTC", false).format(timestamp)] : [],
  );
  const bare = dates.reduce((rest, date) => rest.replaceAll(date, ""), text.replaceAll(/“[^”]*”/g, ""));
  return bare.match(/-?[\d,]*\d(?:\.\d+)?%?/g) ?? [];
}

/** Every number that can be calculated from rows by adding, subtracting, counting and dividing once. */
function derivable({ rows, before = [], days }: Numbers): Set<string> {
  const plain = new Set([days, rows.length]);
  const parts = (["value", "value2"] as const).flatMap((role) => {
    const values = (some: readonly WidgetRow[]) => some.map((row) => row[role] ?? 0);
    const sumOf = (some: readonly WidgetRow[]) => values(some).reduce((all, value) => all + value, 0);
    const byLabel = rows.map(({ label, ...row }) => [
      row[role] ?? 0,
      before.find((other) => other.label === label)?.[role] ?? 0,
    ]);
    for (const count of rows.keys()) plain.add(count + 1);
    return [[sumOf(rows), sumOf(before)], ...byLabel, ...values(rows).map((value) => [value, sumOf(rows)])];
  });
  const found = new Set<string>();
  for (const [now = 0, then = 0] of parts) {
    for (const value of [now, then, Math.abs(now - then)]) plain.add(value);
    const [next = 0] = [Math.abs(now - then)];
    found.add(`${amount((next / then) * 100)}%`).add(`${amount((now / then) * 100)}%`);
  }
  for (const value of plain) found.add(amount(value));
  return found;
}

test("every number is one of the rows or calculated from them, and nothing grows that fell, in 400 random summaries", () => {
  const random = randomFrom(84);
  for (let round = 0; round < 400; round++) {
    const shape = random.pick(["times", "groups", "one"] as const);
    const before = random.percent(70) ? randomRows(random, shape) : undefined;
    const numbers = numbersOf(randomRows(random, shape), { before });
    const text = plainSummary(numbers);
    const allowed = derivable(numbers);
    const strange = numbersIn(text, numbers.rows).filter((number) => !allowed.has(number));
    expect(strange, `${text} ${JSON.stringify(numbers)}`).toEqual([]);
    const totals = (some: readonly WidgetRow[]) => some.reduce((all, { value = 0 }) => all + value, 0);
    const [now, then] = [totals(numbers.rows), totals(before ?? [])];
    const first = text.slice(0, text.indexOf(". ") + 1 || undefined);
    if (/^Visits:.* more /.test(first)) expect(now, text).toBeGreaterThan(then);
    if (/^Visits:.* less /.test(first)) expect(now, text).toBeLessThan(then);
    if (before !== undefined && now !== then && now !== 0 && then !== 0 && text.startsWith("Visits: "))
      expect(first).toContain(now > then ? " more " : " less ");
    expect(text.length).toBeLessThan(700);
  }
});

describe("foreign texts", () => {
  test.each([
    ["a word", "Germany", "Germany"],
    ["two words", "New York", "New York"],
    ["a number", "2024", "“2024”"],
    ["spaces and controls", "  a \n\t b\0c ", "a b c"],
    ["a mark of direction", "evil\u202e7.”", "“evil 7.'”"],
    ["marks of direction alone", "\u2066\u200f", "“”"],
    ["half a character", "\ud800x", "x"],
    ["Arabic", "مرحبا", "“\u2068مرحبا\u2069”"],
    ["a letter below a hundred accents", `e${"\u0301".repeat(100)}`, `“e${"\u0301".repeat(3)}”`],
    ["a million letters", "x".repeat(1_000_000), `“${"x".repeat(39)}…”`],
  ])("%s: it is shown harmlessly and short", (_name, text, shown) => {
    const found = named(text);
    expect(found).toBe(shown);
    expect([...found].length).toBeLessThanOrEqual(44);
    expect(found).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066\u2067\u200e\u200f]/u);
  });
});
