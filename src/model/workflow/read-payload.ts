import { asObject } from "../json-fields.ts";
import { factsByAction, type Payloads, type StepAction } from "../steps/kinds.ts";

/**
 * Reads a stored payload: enum values bare, defaults filled in, choices in the order they are shown or tried. Undefined
 * when the payload is broken, which leads visitors to the fallback. A payload is broken when it is no object, lacks
 * what its step cannot do without, or holds a value that cannot be evaluated.
 */
export function readPayload<Action extends StepAction>(
  action: Action,
  stored: unknown,
): Payloads[Action] | undefined {
  const fields = asObject(stored);
  return fields === undefined ? undefined : factsByAction[action].read(fields);
}
