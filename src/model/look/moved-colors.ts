import { nightOf } from "./night-theme.ts";
import { pageTheme } from "./page-theme.ts";
import { type MovedColor, paletteOf } from "./palette.ts";

/** What pages show otherwise than a stored styling asks, so that everybody can read them: by day, and then by night. */
export function movedColors(styling: unknown): readonly MovedColor[] {
  const theme = pageTheme(styling);
  const hasCover = isObject(styling) && Boolean(styling.canvasCoverId);
  const { moved } = paletteOf(theme, hasCover);
  if (!theme.followsDevice) return moved;
  const atNight = paletteOf(nightOf(theme), hasCover).moved;
  return [...moved, ...atNight.filter(({ field }) => moved.every((other) => other.field !== field))];
}

function isObject(value: unknown): value is { readonly canvasCoverId?: unknown } {
  return typeof value === "object" && value !== null;
}
