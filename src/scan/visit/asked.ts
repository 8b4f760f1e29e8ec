import type { Plan, PlanStep } from "../../model/workflow/plan.ts";
import type { SavedAttribute } from "../../workflow/walk-result.ts";

/** The attribute keys that identify a visitor. */
const identity = ["$email", "$phone"] as const;

const known = new WeakMap<Plan, ReadonlySet<string>>();

/**
 * The saved values that the visit's own workflow may ask about before they are stored. Of several values of one key,
 * the function returns the one that will stay: the last value that may overwrite, or else the first value that fills
 * the key.
 */
export function askedOf(plan: Plan, saved: readonly SavedAttribute[]): readonly SavedAttribute[] {
  if (saved.length === 0 || !plan.needsAfter.visitor) return [];
  let keys = known.get(plan);
  if (keys === undefined) {
    keys = new Set([...identity, ...[...plan.steps.values()].flatMap(keysAskedBy)]);
    known.set(plan, keys);
  }
  const asked = keys;
  const found = new Map<string, SavedAttribute>();
  for (const value of saved) {
    const { key, setOnce } = value;
    if (asked.has(key) && (!setOnce || !found.get(key)?.value)) found.set(key, value);
  }
  return [...found.values()];
}

function keysAskedBy(step: PlanStep): readonly string[] {
  if (step.action === "VISITOR_DATA_CONDITION")
    return step.payload.choices.map(({ attributeKey }) => attributeKey);
  if (step.action === "FORM_SUBMIT" && step.payload.autoSkipIfKnown)
    return step.payload.fields.map(({ key }) => key);
  return [];
}
