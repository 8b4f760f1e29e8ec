import type { Color } from "../../lib/color.ts";

/**
 * Reads `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, `rgb()`, `rgba()`, `hsl()` or `hsla()`. Undefined for any other text.
 */
export function readColor(text: string): Color | undefined {
  const hexadecimal = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(text)?.[1];
  if (hexadecimal !== undefined) return fromHexadecimal(hexadecimal);
  const [, model, list] = /^(rgb|hsl)a?\(([^()]*)\)$/i.exec(text) ?? [];
  const parts = list
    ?.trim()
    .replace(/\s+/g, " ")
    .split(/ ?[,/] ?| /)
    .map(readPart);
  if (parts === undefined || parts.length < 3 || parts.length > 4) return undefined;
  const [first, second, third, opacity = { value: 1, unit: "" }] = parts;
  if (first === undefined || second === undefined || third === undefined) return undefined;
  const alpha = clamp(opacity.unit === "%" ? opacity.value / 100 : opacity.value, 1);
  if (model?.toLowerCase() === "hsl")
    return fromHsl(first.value, second.value / 100, third.value / 100, alpha);
  const [red = 0, green = 0, blue = 0] = [first, second, third].map(({ value, unit }) =>
    Math.round(clamp(unit === "%" ? (value * 255) / 100 : value, 255)),
  );
  return { red, green, blue, alpha };
}

/** `#rrggbb`, without the opacity. */
export function hexOf({ red, green, blue }: Color): string {
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * How light readers see an opaque color, 0 (black) to 1 (white): the luma of ITU-R BT.601, which decoders compute from
 * the camera's pixels. It is not the relative luminance that people's eyes see, which plays no part in reading.
 */
export function lumaOf({ red, green, blue }: Omit<Color, "alpha">): number {
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}

function readPart(text: string): { readonly value: number; readonly unit: string } {
  const [, number = "", unit = ""] = /^([-+]?(?:\d+(?:\.\d+)?|\.\d+))(%|deg)?$/i.exec(text) ?? [];
  return { value: number === "" ? 0 : Number(number), unit };
}

function fromHexadecimal(digits: string): Color {
  const size = digits.length < 6 ? 1 : 2;
  const [red = 0, green = 0, blue = 0, opacity = 255] = Array.from(
    { length: digits.length / size },
    (_, index) => Number.parseInt(digits.slice(index * size, (index + 1) * size).repeat(3 - size), 16),
  );
  return { red, green, blue, alpha: opacity / 255 };
}

function fromHsl(hue: number, saturation: number, lightness: number, alpha: number): Color {
  const chroma = clamp(saturation, 1) * Math.min(clamp(lightness, 1), 1 - clamp(lightness, 1));
  const channel = (offset: number) => {
    const turn = (((offset + hue / 30) % 12) + 12) % 12;
    return Math.round(255 * (clamp(lightness, 1) - chroma * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))));
  };
  return { red: channel(0), green: channel(8), blue: channel(4), alpha };
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 0), max);
}
