import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chartOf, look, row, rowsByKind } from "../../test/support/charts.ts";
import { type Chart, type ChartType, chartTypes, type Look } from "./chart.ts";
import { drawChart } from "./draw.ts";

interface XmlElement {
  readonly localName: string;
  readonly textContent: string | null;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  getAttribute(name: string): string | null;
  getElementsByTagName(name: string): Iterable<XmlElement> & { readonly length: number };
}

// The library has no types.
const { JSDOM } = createRequire(import.meta.url)("jsdom") as {
  readonly JSDOM: new () => {
    readonly window: {
      readonly DOMParser: new () => {
        parseFromString(text: string, type: string): { readonly documentElement: XmlElement };
      };
    };
  };
};
const parser = new new JSDOM().window.DOMParser();

function parse(svg: string): XmlElement {
  const root = parser.parseFromString(svg, "image/svg+xml").documentElement;
  expect(root.getElementsByTagName("parsererror").length).toBe(0);
  return root;
}

const elements = new Set(["svg", "title", "desc", "g", "rect", "path", "line", "circle", "text"]);
const attributes = new Set([
  ...[
    "xmlns",
    "width",
    "height",
    "viewBox",
    "role",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
  ],
  ...["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "d", "transform"],
  ...["fill", "fill-opacity", "stroke", "stroke-width", "stroke-linejoin"],
]);

/** Draws, and looks at every element and attribute of the picture. */
function drawn(chart: Chart, as: Look = look) {
  const root = parse(drawChart(chart, as));
  const all = [root, ...root.getElementsByTagName("*")];
  const strange = all.flatMap(({ localName, attributes: given }) => [
    ...(elements.has(localName) ? [] : [localName]),
    ...[...given]
      .filter(({ name, value }) => !attributes.has(name) || active.test(value))
      .map(({ name, value }) => `${name}=${value}`),
  ]);
  expect(strange).toEqual([]);
  const textsOf = (name: string) => all.filter((each) => each.localName === name).map(textOf);
  return { root, texts: textsOf("text"), title: textsOf("title")[0], words: textsOf("desc")[0] ?? "" };
}

const active = /url\(|javascript|NaN|Infinity|undefined/i;

function textOf({ textContent }: XmlElement): string {
  return textContent ?? "";
}

test.each(chartTypes)("a %s of any rows, in any size and theme, is plain SVG with words for it", (type) => {
  for (const [kind, rows] of Object.entries(rowsByKind)) {
    for (const [width, height] of [
      [640, 360],
      [320, 180],
      [2000, 300],
    ] as const) {
      const theme = width === 640 ? "light" : "dark";
      const { root, title, words } = drawn(chartOf(type, rows), { ...look, width, height, theme });
      expect(root.getAttribute("role")).toBe("img");
      expect([kind, title, words.length > 10 && words.length < 1_500]).toEqual([kind, "Visits", true]);
    }
  }
});

test("labels of any characters make a picture that parses, and show no control or mark of direction", () => {
  const units = fc.array(fc.oneof(fc.nat(0xff), fc.nat(0xffff)), { maxLength: 40 });
  const texts = units.map((codes) => String.fromCharCode(...codes));
  const check = (type: ChartType, label: string, category: string, title: string) => {
    const rows = [
      { ...row, label, category, value: 2 },
      { ...row, label: category, value: 1 },
    ];
    const { texts: shown } = drawn({ ...chartOf(type, rows), title, subtitle: label, valueName: category });
    expect(shown.join("")).not.toMatch(/[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
  };
  fc.assert(fc.property(fc.constantFrom(...chartTypes), texts, texts, texts, check), {
    seed: 20_261_122,
    numRuns: 50,
  });
});

test("the words name the first rows with their numbers, and how many follow", () => {
  const { words } = drawn(chartOf("bar", rowsByKind["many labels"] ?? []));
  expect(words).toMatch(
    /^Bar chart, Mar 3 – Apr 2, 2026\. Germany 0: 30,000; Brazil 1: 29,903; .*; and 288 more\.$/,
  );
  expect(drawn(chartOf("pie", [])).words).toBe("Pie chart, Mar 3 – Apr 2, 2026. No data.");
});

test("a picture without anything to show says so", () => {
  for (const type of chartTypes) expect(drawn(chartOf(type, [])).texts).toContain("No data in this range");
  const zeros = rowsByKind.zeros ?? [];
  expect(drawn(chartOf("pie", zeros)).texts).toContain("No data in this range");
  expect(drawn(chartOf("line", zeros)).texts).not.toContain("No data in this range");
});

function sumOf(numbers: readonly string[]): number {
  return numbers.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0);
}

test("what has no room of its own is summed up, so that the shown numbers make the total", () => {
  const rows = rowsByKind["many labels"] ?? [];
  const total = rows.reduce((sum, { value = 0 }) => sum + value, 0);
  for (const type of ["pie", "horizontal_bar"] as const) {
    const { texts } = drawn(chartOf(type, rows));
    const [start = "", shown = 0] = type === "pie" ? ["Other (295)", 6] : ["Other (289)", 12];
    expect(texts).toContain(start);
    const numbers = texts.filter((text) => /^[\d,]+$/.test(text));
    // The ring of a pie has the total in its middle.
    expect(sumOf(numbers.slice(type === "pie" ? 1 : 0))).toBe(total);
    expect(numbers).toHaveLength(type === "pie" ? shown + 1 : shown);
  }
});

test("at most five categories are drawn by themselves, the largest, and the others as one", () => {
  const rows = ["a", "b", "c", "d", "e", "f", "g"].map((category, index) => {
    return { ...row, label: "x", category, value: 10 ** index };
  });
  const { texts } = drawn(
    chartOf("stacked_area", [...rows, ...rows.map((each) => ({ ...each, label: "y" }))]),
  );
  expect(texts.slice(2, 8)).toEqual(["g", "f", "e", "d", "c", "Other (2)"]);
});

test("lists and funnels say how many rows are left out", () => {
  const rows = rowsByKind["many labels"] ?? [];
  const shown = (type: ChartType) => drawn(chartOf(type, rows)).texts.at(-1);
  expect([shown("list"), shown("funnel")]).toEqual(["and 291 more", "and 290 more steps"]);
});

test("numbers have separators, and a lone number is written in full where it fits", () => {
  const rows = [{ ...row, label: "x", value: 1_234_567.891, value2: 5 }];
  expect(drawn(chartOf("number", rows)).texts).toContain("1,234,567.89");
  expect(drawn(chartOf("number", rows)).texts).toContain("Returning visitors: 5");
  expect(drawn(chartOf("list", rows)).texts).toContain("5  ·  1,234,567.89");
});

test("the largest answers of the API make pictures of less than half a megabyte", () => {
  const points = Array.from({ length: 40_000 }, (_, index) => {
    const at = new Date(1_700_000_000_000 + (index % 2_000) * 300_000);
    return { ...row, at, category: `c${Math.floor(index / 2_000)}`, value: (index * 7919) % 1_000 };
  });
  const labels = Array.from({ length: 1_000 }, (_, index) => {
    return { ...row, label: `${"é".repeat(2_000)}${index}`, value: index, value2: index };
  });
  for (const type of chartTypes) {
    for (const rows of [points, labels]) {
      const svg = drawChart(chartOf(type, rows), { ...look, width: 2_000, height: 2_000 });
      expect(svg.length).toBeLessThan(500_000);
    }
  }
});
