const full = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

/** A number in full, such as `12,345.67`. */
export function fullNumber(value: number): string {
  return Math.abs(value) < 1e15 ? full.format(value) : value.toExponential(2);
}

/** A number as axes have it, such as `12.5K`. */
export function shortNumber(value: number): string {
  return Math.abs(value) < 1e15 ? compact.format(value) : value.toExponential(1);
}

/** A part of a whole, such as `12.5%`. Empty without a whole. */
export function share(part: number, whole: number): string {
  if (whole <= 0) return "";
  const ratio = part / whole;
  return Math.abs(ratio) < 10 ? percent.format(ratio) : `${shortNumber(100 * ratio)}%`;
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
