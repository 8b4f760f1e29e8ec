import type { Choice, Choices } from "../../model/steps/conditions.ts";
import { type ConditionAction, stepActions } from "../../model/steps/kinds.ts";
import type { Plan } from "../../model/workflow/plan.ts";
import { elseBranchId } from "../../model/workflow/workflow.ts";
import type { Visit } from "../visit.ts";
import type { TraceData } from "../walk-result.ts";
import type { Entered } from "./step.ts";

/** The facts by which one kind of condition differs from the others. */
export interface Condition<Option extends Choice, Seen extends string | object> {
  /** The key under which traces say what was seen. Undefined where traces do not say it. */
  readonly subject?: string;
  /** A choice as traces show it. */
  readonly show: (choice: Option) => object;
  /** What a condition sees of a visit: one of a few names, or an object that many visits share. */
  readonly look: (visit: Visit, plan: Plan, now: Date) => Seen;
  readonly matches: (choice: Option, seen: Seen) => boolean;
  /** Whether the trace of this visit must not say what was seen. */
  readonly hides?: (visit: Visit) => boolean;
  /** What a condition sees of a visit, in words for people. */
  readonly describe: (visit: Visit, plan: Plan, now: Date) => string;
}

interface ConditionStep<Option> {
  readonly payload: Choices<Option>;
  readonly next: ReadonlyMap<string, string>;
}

/**
 * How many different values that a condition saw are remembered. Real names of devices and browsers are few, and
 * invented ones are not remembered.
 */
const looksMax = 100;

/** A condition: the first choice that matches wins, and `else` when none does. */
export function condition<Option extends Choice, Seen extends string | object>(
  action: ConditionAction,
  { subject, show, look, matches, hides, describe }: Condition<Option, Seen>,
) {
  const { trace, list } = stepActions[action];
  // Visits of a plan that look alike go the same way, and their traces say the same.
  const ways = new WeakMap<ConditionStep<Option>, Map<Seen, Entered>>();
  const silent = new WeakMap<ConditionStep<Option>, TraceData>();

  function wayOf({ steps }: Plan, step: ConditionStep<Option>, seen: Seen, isHidden: boolean): Entered {
    const choice = step.payload.choices.find((one) => matches(one, seen));
    const data = subject === undefined ? silentDataOf(step) : dataOf(step, isHidden ? "" : String(seen));
    const branchId = choice?.branchId ?? elseBranchId;
    return { kind: "branch", branchId, data, to: steps.get(step.next.get(branchId) ?? "") };
  }

  function silentDataOf(step: ConditionStep<Option>): TraceData {
    const data = silent.get(step) ?? dataOf(step, "");
    silent.set(step, data);
    return data;
  }

  function dataOf({ payload, next }: ConditionStep<Option>, said: string): TraceData {
    return {
      [trace]: {
        ...(subject !== undefined && { [subject]: said }),
        [list.name]: payload.choices.map((choice) => ({
          ...show(choice),
          hasRoute: next.has(choice.branchId),
        })),
        hasElse: next.has(elseBranchId),
      },
    };
  }

  return {
    explain(step: ConditionStep<Option>, branchId: string, visit: Visit, plan: Plan, now: Date): string {
      return `${describe(visit, plan, now)}; ${outcomeOf(nouns[list.name], step, branchId)}`;
    },

    enter(step: ConditionStep<Option>, visit: Visit, plan: Plan, now: Date): Entered {
      const seen = look(visit, plan, now);
      if (hides?.(visit)) return wayOf(plan, step, seen, true);
      let known = ways.get(step);
      if (known === undefined || known.size >= looksMax) {
        known = new Map();
        ways.set(step, known);
      }
      let way = known.get(seen);
      if (way === undefined) {
        way = wayOf(plan, step, seen, false);
        known.set(seen, way);
      }
      return way;
    },
  };
}

const nouns = { options: "option", countries: "country", ranges: "range" } as const;

/** Which choice matched, in words for people: by its position and its name, or its branch's id when it has no name. */
export function outcomeOf(
  noun: string,
  { payload }: ConditionStep<Choice & { readonly name?: string }>,
  branchId: string,
): string {
  const place = payload.choices.findIndex((choice) => choice.branchId === branchId);
  const choice = payload.choices[place];
  if (choice === undefined) return `no ${noun} matches`;
  return `${noun} ${place + 1}, ${JSON.stringify(choice.name || choice.branchId)}, matches`;
}

/** A sentence about a name that may be unknown. */
export function tellName(what: string, name: string): string {
  return name === "" || name === "UNKNOWN" ? `the ${what} is unknown` : `the ${what} is ${name}`;
}
