import { type Color, white } from "../lib/color.ts";
import { parseColor, toCss } from "../model/look/color.ts";
import { groundOf, readable } from "../model/look/grounds.ts";
import type { Look } from "./chart.ts";

/** The colors of a picture, in CSS. */
export interface Colors {
  readonly ground: string;
  /** Text. */
  readonly ink: string;
  /** Text that matters less. */
  readonly quiet: string;
  /** The lines of the grid. */
  readonly grid: string;
  /** What a part of the whole stands on. */
  readonly track: string;
  /** What was too small for a color of its own. */
  readonly rest: string;
  readonly series: readonly string[];
}

/** So many series have a color of their own. */
export const seriesMax = 6;

type Theme = Omit<Colors, "series"> & { readonly series: readonly string[] };

/**
 * Colors that people with and without color vision tell apart: by Okabe and Ito, some of them darker for a light ground,
 * in an order in which neighbors also differ in brightness.
 */
const themes: Readonly<Record<Look["theme"], Theme>> = {
  light: {
    ground: "#ffffff",
    ink: "#111827",
    quiet: "#5b6472",
    grid: "#e5e7eb",
    track: "#f1f3f6",
    rest: "#7f8896",
    series: ["#0072b2", "#d55e00", "#2f93cf", "#7a3b00", "#009e73", "#1f2a5a", "#b5548b"],
  },
  dark: {
    ground: "#0f172a",
    ink: "#f1f5f9",
    quiet: "#a3afc0",
    grid: "#27324a",
    track: "#1b263d",
    rest: "#8590a3",
    series: ["#56b4e9", "#d55e00", "#f0e442", "#009e73", "#e6e1f5", "#3f8fd0", "#e69f00"],
  },
};

/** The colors of a look. Colors of the caller are moved until they stand out from the ground. */
export function colorsOf({ theme, colors }: Pick<Look, "theme" | "colors">): Colors {
  const base = themes[theme];
  const ground = parseColor(base.ground) ?? white;
  const given = colors.flatMap((text) => {
    const color = parseColor(text);
    return color === undefined ? [] : [standingOut(color, ground)];
  });
  return { ...base, series: [...given, ...base.series.filter((color) => !given.includes(color))] };
}

function standingOut(color: Color, ground: Color): string {
  return toCss(readable(color, [groundOf(ground)], 3));
}

/** The color of a series by its place. */
export function seriesColor({ series, rest }: Colors, index: number): string {
  return series[index] ?? rest;
}
