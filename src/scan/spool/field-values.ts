import { isUuid } from "../../lib/ids.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";

/*
 * Reads the values of records. Each function returns a value of its kind, or throws when the record is damaged.
 */

export function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error("a list is missing");
  return value;
}

export function string(value: unknown): string {
  if (typeof value !== "string") throw new Error("a text is missing");
  return value;
}

export function uuid(value: unknown): string {
  const text = string(value);
  if (!isUuid(text)) throw new Error("an id is damaged");
  return text;
}

export function uuidOrNone(value: unknown): string {
  return value === "" ? "" : uuid(value);
}

export function count(value: unknown, max = 32_767): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > max)
    throw new Error("a count is damaged");
  return value;
}

export function oneOf<Name extends string>(value: unknown, names: readonly Name[]): Name {
  const name = names.find((known) => known === value);
  if (name === undefined) throw new Error("a name is unknown");
  return name;
}

export function stepAction(value: unknown): StepAction {
  const name = string(value);
  if (!isStepAction(name)) throw new Error("an action is unknown");
  return name;
}

function isStepAction(name: string): name is StepAction {
  return Object.hasOwn(stepActions, name);
}
