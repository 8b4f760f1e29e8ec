import type { Color } from "../../lib/color.ts";

const hexForm = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i;
const functionForm = /^(rgb|hsl)a?\(([^()]*)\)$/i;
const numberForm = /^(-?(?:\d+(?:\.\d*)?|\.\d+))(%|deg)?$/;

/** Reads the colors that themes may have: hexadecimal, rgb(), rgba(), hsl() and hsla(). Undefined for anything else. */
export function parseColor(text: string): Color | undefined {
  const hex = hexForm.exec(text)?.[1];
  if (hex !== undefined) return fromHex(hex);
  const [, name = "", list = ""] = functionForm.exec(text) ?? [];
  const parts = list.split(/[\s,/]+/).filter((part) => part !== "");
  if (name === "" || parts.length < 3 || parts.length > 4) return undefined;
  const [first, second, third, alpha] = parts.map(parsePart);
  if (first === undefined || second === undefined || third === undefined) return undefined;
  if (parts.length === 4 && alpha === undefined) return undefined;
  const opacity = alpha === undefined ? 1 : share(alpha, 1);
  return name.toLowerCase() === "rgb"
    ? { red: channel(first), green: channel(second), blue: channel(third), alpha: opacity }
    : { ...fromHsl(first.value, share(second, 100), share(third, 100)), alpha: opacity };
}

interface ColorPart {
  readonly value: number;
  readonly isPercent: boolean;
}

function parsePart(text: string): ColorPart | undefined {
  const [, value, unit] = numberForm.exec(text) ?? [];
  return value === undefined ? undefined : { value: Number(value), isPercent: unit === "%" };
}

function share({ value, isPercent }: ColorPart, whole: number): number {
  return clamp(isPercent ? value / 100 : value / whole, 1);
}

function channel({ value, isPercent }: ColorPart): number {
  return clamp(isPercent ? (value * 255) / 100 : value, 255);
}

function clamp(value: number, max: number): number {
  return Math.min(max, Math.max(0, value));
}

function fromHex(hex: string): Color {
  const digits = hex.length < 6 ? [...hex].map((digit) => digit + digit).join("") : hex;
  const byte = (index: number) => Number.parseInt(digits.slice(index * 2, index * 2 + 2) || "ff", 16);
  return { red: byte(0), green: byte(1), blue: byte(2), alpha: byte(3) / 255 };
}

function fromHsl(hue: number, saturation: number, lightness: number): Omit<Color, "alpha"> {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const at = (offset: number) => {
    const position = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(position - 3, 9 - position, 1)));
  };
  return { red: at(0), green: at(8), blue: at(4) };
}

/** The color in CSS. It is written anew from its numbers, so that nothing but a color can come out. */
export function toCss({ red, green, blue, alpha }: Color): string {
  const hex = [red, green, blue].map((value) => Math.round(value).toString(16).padStart(2, "0")).join("");
  if (alpha >= 1) return `#${hex}`;
  return `#${hex}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, "0")}`;
}

/**
 * A color between two: `from` at 0, `to` at 1. It has whole channels, because the color that is written must be the one
 * that was measured.
 */
export function mix(from: Color, to: Color, share: number): Color {
  const between = (one: number, other: number) => one + (other - one) * share;
  return {
    red: Math.round(between(from.red, to.red)),
    green: Math.round(between(from.green, to.green)),
    blue: Math.round(between(from.blue, to.blue)),
    alpha: between(from.alpha, to.alpha),
  };
}

/** The contrast of two opaque colors by WCAG 2: 1 for none, 21 for black on white. */
export function contrast(one: Color, other: Color): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The relative luminance of a color with whole channels by WCAG 2, 0 to 1. */
export function luminance({ red, green, blue }: Color): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

const linears = Float64Array.from({ length: 256 }, (_, value) => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
});

function linear(value: number): number {
  return linears[Math.round(value)] ?? 0;
}
