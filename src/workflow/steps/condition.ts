import type { Choices } from "../../model/payloads.ts";
import type { Plan } from "../../model/plan.ts";
import { elseBranchId } from "../../model/workflow.ts";
import type { Visit } from "../visit.ts";
import type { TraceData } from "../walk.ts";
import type { Entered } from "./step.ts";

/** What makes one kind of condition different from the others. */
export interface Condition<Choice, Seen extends string | object> {
  /** The name of the variant in traces. */
  readonly trace: string;
  /** The key under which traces say what was seen, where they do. */
  readonly subject?: string;
  /** The name of the choices in the variant. */
  readonly choices: "options" | "countries" | "ranges";
  /** A choice as traces show it. */
  readonly show: (choice: Choice) => object;
  /** One of few names, or an object that is the same one for many visits. */
  readonly look: (visit: Visit, plan: Plan, now: Date) => Seen;
  readonly matches: (choice: Choice, seen: Seen) => boolean;
  /** Whether the trace of this visit must not say what was seen. */
  readonly hides?: (visit: Visit) => boolean;
  /** What there is to see of a visit, in words for people. */
  readonly describe: (visit: Visit, plan: Plan, now: Date) => string;
}

interface ConditionStep<Choice> {
  readonly payload: Choices<Choice>;
  readonly next: ReadonlyMap<string, string>;
}

/** Names of devices and browsers are few; somebody who makes them up is not remembered. */
const looksMax = 100;

/** A condition: the first choice that matches wins, and without one `else`. */
export function condition<Choice, Seen extends string | object>(kind: Condition<Choice, Seen>) {
  const { trace, subject, choices, show, look, matches, hides, describe } = kind;
  // Visits of a plan that look alike go the same way, and their traces say the same.
  const ways = new WeakMap<ConditionStep<Choice>, Map<Seen, Entered>>();
  const silent = new WeakMap<ConditionStep<Choice>, TraceData>();

  function wayOf(step: ConditionStep<Choice>, seen: Seen, isHidden: boolean): Entered {
    const choice = step.payload.choices.find((one) => matches(one, seen));
    const data = subject === undefined ? silentDataOf(step) : dataOf(step, isHidden ? "" : String(seen));
    return { kind: "branch", branchId: choice?.branchId ?? elseBranchId, data };
  }

  function silentDataOf(step: ConditionStep<Choice>): TraceData {
    const data = silent.get(step) ?? dataOf(step, "");
    silent.set(step, data);
    return data;
  }

  function dataOf({ payload, next }: ConditionStep<Choice>, said: string): TraceData {
    return {
      [trace]: {
        ...(subject !== undefined && { [subject]: said }),
        [choices]: payload.choices.map((choice) => ({
          ...show(choice),
          hasRoute: next.has(choice.branchId),
        })),
        hasElse: next.has(elseBranchId),
      },
    };
  }

  return {
    explain(step: ConditionStep<Choice>, branchId: string, visit: Visit, plan: Plan, now: Date): string {
      return `${describe(visit, plan, now)}; ${outcomeOf(nouns[choices], step, branchId)}`;
    },

    enter(step: ConditionStep<Choice>, visit: Visit, plan: Plan, now: Date): Entered {
      const seen = look(visit, plan, now);
      if (hides?.(visit)) return wayOf(step, seen, true);
      let known = ways.get(step);
      if (known === undefined || known.size >= looksMax) {
        known = new Map();
        ways.set(step, known);
      }
      let way = known.get(seen);
      if (way === undefined) {
        way = wayOf(step, seen, false);
        known.set(seen, way);
      }
      return way;
    },
  };
}

const nouns = { options: "option", countries: "country", ranges: "range" } as const;

/** Which choice it was; people know it by its name, or by the id of its branch where it has none. */
export function outcomeOf<Choice>(
  noun: string,
  { payload }: ConditionStep<Choice>,
  branchId: string,
): string {
  const place = payload.choices.findIndex((choice) => choice.branchId === branchId);
  const choice: { readonly branchId: string; readonly name?: string } | undefined = payload.choices[place];
  if (choice === undefined) return `no ${noun} matches`;
  return `${noun} ${place + 1}, ${JSON.stringify(choice.name || choice.branchId)}, matches`;
}

/** A name that may be unknown. */
export function known(what: string, name: string): string {
  return name === "" || name === "UNKNOWN" ? `the ${what} is unknown` : `the ${what} is ${name}`;
}
