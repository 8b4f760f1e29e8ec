import { type FieldViolation, invalid } from "../lib/errors.ts";
import { elementsMaxOf } from "./bounds.ts";
import { keyStep, pathLengthMax } from "./field-path.ts";

/** How many refused fields one answer lists; a hostile body could hold a million. */
export const violationsMax = 100;

/** The refusal of a request whose lists and maps are too large together. */
export const tooManyElements =
  "must have fewer elements: all lists and maps of the request have too many together";

/** The state of reading a request: the refused fields so far, and the reader's place. */
export interface Reading {
  readonly violations: FieldViolation[];
  /** The path to the reader's place: JSON names, list indexes and `["…"]` map keys from the request message down. */
  readonly at: (string | number)[];
  /** How many further elements of lists and maps the request may have. */
  elementsLeft: number;
}

/** Returned when a value was refused; its violation is noted. */
export const refused: unique symbol = Symbol("refused");

/** Returned for a value that counts as not given, such as the unspecified value of an enum. */
export const absent: unique symbol = Symbol("absent");

/**
 * Turns parsed JSON, or the text of a parameter, into the local value of a field: the value, `refused` or `absent`.
 * `name` is the last step of the path, for violations.
 */
export type ReadValue = (json: unknown, reading: Reading, name: string | number) => unknown;

/** Starts to read a request of `bytes` bytes. */
export function startReading(bytes: number): Reading {
  return { violations: [], at: [], elementsLeft: elementsMaxOf(bytes) };
}

/** Whether enough fields are refused: nothing that follows can change the answer. */
export function isOver(reading: Reading): boolean {
  return reading.violations.length >= violationsMax || reading.elementsLeft < 0;
}

/**
 * Counts the elements of a list or map before they are read. Returns false and notes a violation when there are too
 * many.
 */
export function takeElements(reading: Reading, name: string | number, count: number): boolean {
  if (count <= reading.elementsLeft) {
    reading.elementsLeft -= count;
    return true;
  }
  noteViolation(reading, name, tooManyElements);
  reading.elementsLeft = -1;
  return false;
}

/** Notes that the value at `name` below the reader's place breaks a rule. Reading continues. */
export function noteViolation(reading: Reading, name: string | number, description: string): typeof refused {
  if (reading.violations.length < violationsMax) {
    reading.violations.push({ field: pathOf([...reading.at, name]), description });
  }
  return refused;
}

/** Throws INVALID_ARGUMENT with every violation, if there are any. */
export function finishReading(reading: Reading): void {
  if (reading.violations.length > 0) throw invalid(reading.violations);
}

/** Writes the step of a path to a map's key: `metadata.color`, `metadata["two words"]`. */
export function mapStep(key: string): string {
  const step = keyStep(key);
  return step.startsWith(".") ? step.slice(1) : step;
}

function pathOf(steps: readonly (string | number)[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else path += path === "" || step.startsWith("[") ? step : `.${step}`;
  }
  return path.slice(0, pathLengthMax);
}
