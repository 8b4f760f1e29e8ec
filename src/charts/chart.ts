/** The kinds of charts that widgets have. */
export const chartTypes = [
  "bar",
  "horizontal_bar",
  "line",
  "area",
  "stacked_area",
  "pie",
  "number",
  "list",
  "funnel",
] as const;

export type ChartType = (typeof chartTypes)[number];

/** One row of numbers, its fields by their roles in the chart. */
export interface ChartRow {
  /** Empty where the row has none. */
  readonly label: string;
  /** Undefined for a row without a number. */
  readonly value: number | undefined;
  readonly value2: number | undefined;
  /** When the row's interval begins. */
  readonly at: Date | undefined;
  /** Rows of one category make one series. Empty where the rows have none. */
  readonly category: string;
}

export interface Chart {
  readonly type: ChartType;
  readonly title: string;
  /** What the title leaves open, such as the range of time. */
  readonly subtitle: string;
  readonly rows: readonly ChartRow[];
  /** What people call the two values. */
  readonly valueName: string;
  readonly value2Name: string;
  /** The zone of the clock by which times are written. */
  readonly timezone: string;
}

export interface Look {
  readonly theme: "light" | "dark";
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** How many pixels a picture has for each pixel of its layout. */
  readonly scale: number;
  /** Colors of CSS in the order of the series. Those that are none are passed over. */
  readonly colors: readonly string[];
}

/** A part of a picture, in pixels of the layout. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
