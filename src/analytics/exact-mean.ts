import { numberLengthMax } from "../model/visitors/attribute-operators.ts";

/** A decimal number, exactly: `units` of 10 to the power of minus `scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const form = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,3}))?$/;

/** From here on, numbers count as none, because a float may not hold them. */
const limit: Decimal = { units: 1_797_693_134_862_315n, scale: -293 };

/** The number that a text says, exactly. Undefined for other texts, as `numericOf` has it in SQL. */
export function numberIn(text: string): Decimal | undefined {
  const trimmed = text.trim();
  if (trimmed.length > numberLengthMax || !form.test(trimmed)) return undefined;
  const number = decimalOf(trimmed);
  // Only numbers near the limit are compared exactly.
  if (Math.abs(Number(trimmed)) > 1e307 && !isBelow(number, limit)) return undefined;
  return number;
}

/** Reads a decimal number such as `-1.5` or `2e3`. */
export function decimalOf(text: string): Decimal {
  const [, sign = "", whole = "", behind = "", alone = "", exponent = "0"] = form.exec(text) ?? [];
  const fraction = behind + alone;
  return {
    units: BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n),
    scale: fraction.length - Number(exponent),
  };
}

function isBelow({ units, scale }: Decimal, most: Decimal): boolean {
  const common = Math.max(scale, most.scale);
  const amount = (units < 0n ? -units : units) * 10n ** BigInt(common - scale);
  return amount < most.units * 10n ** BigInt(common - most.scale);
}

/** Adds decimals exactly, and keeps no more than a sum for each scale. */
export function createSum() {
  const byScale = new Map<number, bigint>();
  return {
    add({ units, scale }: Decimal, times: number): void {
      byScale.set(scale, (byScale.get(scale) ?? 0n) + units * BigInt(times));
    },
    sum(): Decimal {
      const scale = Math.max(0, ...byScale.keys());
      let units = 0n;
      for (const [own, sum] of byScale) units += sum * 10n ** BigInt(scale - own);
      return { units, scale };
    },
  };
}

/** The digits of a quotient that are more than a float holds. */
const digits = 40;

/** The float nearest to the mean of so many numbers. */
export function meanOf({ units, scale }: Decimal, count: number): number {
  const shift = Math.max(0, digits + String(count).length - String(units).length);
  const shifted = units * 10n ** BigInt(shift);
  const quotient = shifted / BigInt(count);
  // A remainder never decides between two floats, unless the digits lie exactly in the middle of them.
  const rest = shifted % BigInt(count) === 0n ? "0" : "1";
  return floatOf(`${quotient}${rest}e${-(scale + shift + 1)}`);
}

/** The float nearest to a decimal text; zero has no sign. */
export function floatOf(text: string): number {
  const float = Number(text);
  return float === 0 ? 0 : float;
}
