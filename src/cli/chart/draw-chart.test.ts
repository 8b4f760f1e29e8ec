import { beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../operations/flag-values.ts";
import {
  findCommand,
  findGroupNameByCommand,
  type Group,
  groupNames,
  loadGroup,
} from "../operations/groups.ts";
import { textWidth } from "../table.ts";
import { drawChart } from "./draw-chart.ts";
import { type Ink, inkFor } from "./ink.ts";
import { plotOf } from "./plot.ts";

const unicode = inkFor({ LANG: "C.UTF-8" }, false);

let groups: Group[];
beforeAll(async () => {
  groups = await Promise.all((await groupNames()).map(loadGroup));
});

function draw(name: string, json: JsonObject, width = 40, ink: Ink = unicode): string[] {
  const found = groups.map((group) => findCommand(group, name)).filter((each) => each !== undefined);
  const plot = found.map(plotOf).find((each) => each !== undefined);
  if (plot === undefined) throw new Error(`${name} has no chart`);
  return drawChart(plot, json, width, ink);
}

const countries = (labels: readonly string[]) => ({
  data: labels.map((label, index) => ({ label, code: "", eventCount: 80 >> index, percentage: 50 >> index })),
});

test("names get bars in proportion, with their numbers and shares, as wide as the terminal", () => {
  const json = countries(["Germany", "日本", "Chile"]);
  expect(draw("breakdown", json)).toEqual([
    "Germany  ████████████████████  80  50.0%",
    "日本     ██████████            40  25.0%",
    "Chile    █████                 20  12.0%",
  ]);
  for (const width of [24, 40, 79, 200])
    for (const line of draw("breakdown", json, width)) expect(textWidth(line)).toBeLessThanOrEqual(width);
});

test("without UTF-8 and on dumb terminals the bars are plain characters", () => {
  const [plain, dumb, first] = [{ LANG: "de_DE" }, { TERM: "dumb" }, { LC_ALL: "C", LANG: "C.UTF-8" }].map(
    (env) =>
      draw("breakdown", countries(["Germany", "Chile"]), 40, inkFor(env, true))
        .at(-1)
        ?.replaceAll(/\p{Cc}\[\d+m/gu, ""),
  );
  expect(plain).toBe("Chile    ##########            40  25.0%");
  expect([dumb, first]).toEqual([plain, plain]);
});

test("only terminals that somebody watches get colors, and NO_COLOR takes them away", () => {
  const lineIn = (env: Record<string, string>, isWatched: boolean) =>
    draw("breakdown", countries(["Germany"]), 40, inkFor(env, isWatched))[0];
  const colored = "Germany  \u001b[36m████████████████████\u001b[39m  80  50.0%";
  expect(lineIn({}, true)).toBe(colored);
  expect(lineIn({ NO_COLOR: "" }, true)).toBe(colored);
  for (const line of [lineIn({ NO_COLOR: "1" }, true), lineIn({}, false)])
    expect(line).toBe("Germany  ████████████████████  80  50.0%");
});

test("labels of visitors cannot move the cursor, turn the line or fill the screen", () => {
  const hostile = [
    "\u001b[2J\u001b[31mred",
    "\u202eabc\u2066",
    "a\r\nb",
    "W".repeat(4_096),
    "漢".repeat(900),
    "",
    "👩‍👩‍👧‍👦".repeat(90),
  ];
  const lines = draw(
    "get-attribute-distribution",
    { data: hostile.map((label) => ({ label, visitorCount: 3 })) },
    60,
  );
  expect(lines).toHaveLength(hostile.length);
  for (const line of lines) {
    expect(line).not.toMatch(/\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    expect(textWidth(line)).toBeLessThanOrEqual(60);
  }
  expect(lines[5]).toMatch(/^unknown /);
});

const moments = (count: number) =>
  Array.from({ length: count }, (_, index) => new Date(index * 86_400_000).toISOString());

test("moments get columns eight lines high, one picture for each number", () => {
  const data = moments(4).map((timestamp, index) => {
    return { timestamp, newVisitorCount: index * 8, returningVisitorCount: 3 - index };
  });
  expect(draw("get-visitor-trends", { data }, 44)).toEqual([
    "new visitors: 48 in all, at most 24",
    ...["            ████", "            ████", "        ▃▃▃▃████", "        ████████", "        ████████"],
    ...["    ▅▅▅▅████████", "    ████████████", "    ████████████", "────────────────"],
    "1970-01-01T00:00:00Z to 1970-01-04T00:00:00Z",
    "",
    "returning visitors: 6 in all, at most 3",
    ...["████", "████", "████▃▃▃▃", "████████", "████████"],
    ...["████████▅▅▅▅", "████████████", "████████████", "────────────────"],
    "1970-01-01T00:00:00Z to 1970-01-04T00:00:00Z",
  ]);
});

test("more moments than the terminal has columns are added up, and the chart says so", () => {
  const data = moments(100).map((timestamp) => ({ timestamp, eventCount: 1 }));
  const lines = draw("get-events", { timeSeries: { data } }, 48);
  expect(lines[0]).toBe("events: 100 in all, at most 3; each column is 3 intervals");
  expect(lines[8]).toBe(`${"█".repeat(33)}▃`.replace("▃", "█"));
  expect(lines.at(-1)).toBe("1970-01-01T00:00:00Z to 1970-04-10T00:00:00Z");
});

test("series get a line each, on one scale", () => {
  const points = (values: readonly number[]) =>
    moments(4).map((timestamp, index) => ({ timestamp, value: values[index] }));
  const series = [
    { label: "DE", points: points([8, 4, 2, 0]) },
    { label: "", points: points([1, 1, 1, 1]) },
  ];
  expect(draw("get-grouped-time-series", { series })).toEqual(["DE       █▄▂   14", "unknown  ▁▁▁▁   4"]);
});

test("an answer without rows says so, and a row without a number has none", () => {
  expect(draw("breakdown", { data: [] })).toEqual(["no numbers in this range"]);
  expect(draw("breakdown", {})).toEqual(["no numbers in this range"]);
  expect(draw("get-step-funnel", { steps: [{ stepAction: "EVENT_ACTION_LINK_VISIT" }] }, 30)).toEqual([
    "LINK_VISIT             0  0.0%",
  ]);
});

test("all analytics of rows have a chart, and operations of records have none", () => {
  const drawn = groups.flatMap(({ commands }) => commands.filter((each) => plotOf(each) !== undefined));
  const names = drawn.map(({ group, name }) => `${group} ${name}`);
  expect(names).toEqual(
    expect.arrayContaining([
      ...["breakdown", "geo-breakdown", "device-distribution", "hour-of-day-distribution", "top-links"].map(
        (name) => `analytics-data get-${name}`,
      ),
      ...["visitor-trends", "grouped-time-series", "step-funnel", "attribute-distribution"].map(
        (name) => `analytics-data get-${name}`,
      ),
      "time-series get-events",
    ]),
  );
  expect(names.filter((name) => /^(links|visitors|allowances|events) /.test(name))).toEqual([]);
});

test("the first word of a group is enough where one group alone has the command", async () => {
  expect(await findGroupNameByCommand("analytics", "breakdown")).toBe("analytics-data");
  expect(await findGroupNameByCommand("analytics", "create")).toBe("analytics-dashboard");
  expect(await findGroupNameByCommand("analytics", "no-such-command")).toBeUndefined();
  expect(await findGroupNameByCommand("no-such-group", "breakdown")).toBeUndefined();
});
