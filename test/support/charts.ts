import type { Chart, ChartRow, ChartType, Look } from "../../src/charts/chart.ts";

export const row: ChartRow = { label: "", value: undefined, value2: undefined, at: undefined, category: "" };

export const look: Look = { theme: "light", width: 640, height: 360, scale: 1, colors: [] };

export function chartOf(type: ChartType, rows: readonly ChartRow[]): Chart {
  const names = { valueName: "New visitors", value2Name: "Returning visitors" };
  return {
    type,
    title: "Visits",
    subtitle: "Mar 3 – Apr 2, 2026",
    rows,
    timezone: "Europe/Berlin",
    ...names,
  };
}

/** The beginning of a day in Berlin, counted from 3 March 2026, before clocks are set. */
export function dayAt(index: number): Date {
  return new Date(Date.UTC(2026, 2, 2 + index, 23));
}

function wave(index: number, size: number): number {
  return Math.round(size * (2 + Math.sin(index / 3 + size)));
}

const names = [
  "Germany",
  "Brazil",
  "United Kingdom of Great Britain and Northern Ireland",
  "Curaçao",
  "Ελλάδα",
];
const hostileNames = [
  '<script>alert("1")</script>',
  "</text></svg><svg onload='alert(1)'>",
  "]]><!-- &amp; &#0; %s {a|b}",
  "\u202egnp.exe\u2066 \u2067x",
  "\u0000\u0007\u001b[31mred\u009b1m\r\n\t",
  "long ".repeat(800),
  "W".repeat(4096),
  `Z${"\u0335\u0301".repeat(300)}algo`,
  "漢字かな交じり文".repeat(40),
  "👩‍👩‍👧‍👦".repeat(60),
  "مرحبا بالعالم",
  "\ud800 half \udfff",
  "   \u200b\ufeff\u3164 ",
];

/** Rows of every kind that a chart may get. */
export const rowsByKind: Readonly<Record<string, readonly ChartRow[]>> = {
  none: [],
  "one row": [{ ...row, label: "Germany", value: 12_345.678 }],
  "rows without numbers": [
    { ...row, label: "x", value: Number.NaN },
    { ...row, label: "y" },
  ],
  zeros: names.map((label) => ({ ...row, label, value: 0 })),
  "many labels": Array.from({ length: 300 }, (_, index) => {
    return { ...row, label: `${names[index % 5]} ${index}`, value: 30_000 - index * 97 };
  }),
  hours: Array.from({ length: 24 }, (_, hour) => ({
    ...row,
    label: String(hour),
    value: wave(hour, 40_000),
  })),
  days: Array.from({ length: 30 }, (_, index) => ({ ...row, at: dayAt(index), value: wave(index, 100) })),
  "two values": Array.from({ length: 30 }, (_, index) => {
    return { ...row, at: dayAt(index), value: wave(index, 1e6), value2: wave(index, 1e5) };
  }),
  categories: Array.from({ length: 900 }, (_, index) => {
    const category = `${names[Math.floor(index / 90) % 5]} ${Math.floor(index / 90)}`;
    return { ...row, at: dayAt(index % 90), value: wave(index, index), category };
  }),
  "five minutes": Array.from({ length: 2_000 }, (_, index) => {
    return { ...row, at: new Date(dayAt(0).getTime() + index * 300_000), value: wave(index, 9) };
  }),
  extremes: [1e300, -5, 0.0001, -1e300, Number.POSITIVE_INFINITY].map((value, index) => {
    return { ...row, label: names[index] ?? "", value, value2: -value };
  }),
  hostile: hostileNames.map((label, index) => ({ ...row, label, value: 100 - index * 7 })),
  "hostile categories": hostileNames.flatMap((category, index) =>
    [0, 1, 2].map((day) => ({ ...row, at: dayAt(day), category, value: 90 - index })),
  ),
};
