import type { Color } from "../../lib/color.ts";
import { builtInTheme, type PageTheme } from "./page-theme.ts";

const canvas: Color = { red: 13, green: 17, blue: 26, alpha: 1 };
/** The color of texts in the dark. */
export const nightInk: Color = { red: 241, green: 245, blue: 249, alpha: 1 };

/** A theme that follows the device, on one that is set to dark: its elements and its badge on another canvas. */
export function nightOf(theme: PageTheme): PageTheme {
  return {
    ...theme,
    canvas: { ...builtInTheme.canvas, colors: [canvas] },
    title: { ...theme.title, color: nightInk },
    body: { ...theme.body, color: nightInk },
  };
}
