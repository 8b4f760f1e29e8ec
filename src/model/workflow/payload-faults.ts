import { factsByAction, type StepAction } from "../steps/kinds.ts";
import { readPayload } from "./read-payload.ts";
import type { StoredStep } from "./workflow.ts";

/**
 * What keeps the payload of a step from doing its work, in words for people. Empty when the payload is sound. Such
 * payloads can be saved. Every payload that the scan runtime cannot read is among them.
 */
export function payloadFaults({
  action,
  payload,
}: Pick<StoredStep, "action" | "payload">): readonly string[] {
  return faultsOf(action, payload);
}

function faultsOf<Action extends StepAction>(action: Action, stored: unknown): readonly string[] {
  const payload = readPayload(action, stored);
  const facts = factsByAction[action];
  return payload === undefined ? [facts.brokenBecause] : facts.faultsOf(payload);
}
