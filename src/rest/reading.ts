import { type FieldViolation, invalid } from "../lib/errors.ts";

/** How many objects and lists a request may nest; protobuf's own parsers stop at the same depth. */
export const depthMax = 100;

/** How many refused fields one answer lists; a hostile body could hold a million. */
const violationsMax = 100;

/** A request while it is read: what was refused so far, and where the reader stands. */
export interface Reading {
  readonly violations: FieldViolation[];
  /** JSON names, list indexes and `["…"]` map keys from the request message down. */
  readonly at: (string | number)[];
}

/** The value was refused and a violation noted. */
export const refused: unique symbol = Symbol("refused");

/** The value counts as not given, such as the unspecified value of an enum. */
export const absent: unique symbol = Symbol("absent");

/**
 * Turns parsed JSON, or the text of a parameter, into the local value of a field: the value, `refused` or `absent`.
 * `name` is the last step of the path, for violations.
 */
export type ReadValue = (json: unknown, reading: Reading, name: string | number) => unknown;

export function startReading(): Reading {
  return { violations: [], at: [] };
}

/** Notes that the value at `name` below the reader's place breaks a rule, and goes on. */
export function refuse(reading: Reading, name: string | number, description: string): typeof refused {
  if (reading.violations.length < violationsMax) {
    reading.violations.push({ field: pathOf([...reading.at, name]), description });
  }
  return refused;
}

/** Throws INVALID_ARGUMENT with every violation, if there are any. */
export function finishReading(reading: Reading): void {
  if (reading.violations.length > 0) throw invalid(reading.violations);
}

/** The step of a path that leads to a map's key: `metadata.color`, `metadata["two words"]`. */
export function mapStep(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : `[${JSON.stringify(key.slice(0, 64))}]`;
}

function pathOf(steps: readonly (string | number)[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else path += path === "" || step.startsWith("[") ? step : `.${step}`;
  }
  return path;
}
