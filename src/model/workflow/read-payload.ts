import { asObject } from "../json-fields.ts";
import { factsByAction, type Payloads, type StepAction } from "../steps/kinds.ts";

/**
 * Reads a stored payload: enum values bare, defaults filled in, choices in the order they are shown or tried. Undefined
 * when it is broken, which leads visitors to the fallback: it is no object, lacks what its step cannot do without, or holds
 * what nobody can evaluate.
 */
export function readPayload<Action extends StepAction>(
  action: Action,
  stored: unknown,
): Payloads[Action] | undefined {
  const fields = asObject(stored);
  return fields === undefined ? undefined : factsByAction[action].read(fields);
}
