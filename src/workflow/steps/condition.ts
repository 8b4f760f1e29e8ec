import type { Choices } from "../../model/payloads.ts";
import type { Plan } from "../../model/plan.ts";
import { elseBranchId } from "../../model/workflow.ts";
import type { Visit } from "../visit.ts";
import type { TraceData } from "../walk.ts";
import type { Entered } from "./step.ts";

/** What makes one kind of condition different from the others. */
export interface Condition<Choice> {
  /** The name of the variant in traces. */
  readonly trace: string;
  /** The key under which traces say what was seen, where they do. */
  readonly subject?: string;
  /** The name of the choices in the variant. */
  readonly choices: "options" | "countries" | "ranges";
  /** A choice as traces show it. */
  readonly show: (choice: Choice) => object;
  readonly look: (visit: Visit, plan: Plan, now: Date) => Look<Choice>;
  /** What there is to see of a visit, in words for people. */
  readonly describe: (visit: Visit, plan: Plan, now: Date) => string;
}

/** What a condition found out about a visit. */
export interface Look<Choice> {
  readonly matches: (choice: Choice) => boolean;
  /** What the trace says of it, beside the choices: one of few values. */
  readonly seen?: string;
}

interface ConditionStep<Choice> {
  readonly payload: Choices<Choice>;
  readonly next: ReadonlyMap<string, string>;
}

/** Names of devices and browsers are few; somebody who makes them up is not remembered. */
const looksMax = 100;

/** A condition: the first choice that matches wins, and without one `else`. */
export function condition<Choice>({ trace, subject, choices, show, look, describe }: Condition<Choice>) {
  // What a trace says is the same for all visits of a plan that look alike.
  const told = new WeakMap<ConditionStep<Choice>, Map<string, TraceData>>();

  function dataOf(step: ConditionStep<Choice>, seen: string): TraceData {
    let byLook = told.get(step);
    if (byLook === undefined || byLook.size >= looksMax) {
      byLook = new Map();
      told.set(step, byLook);
    }
    const known = byLook.get(seen);
    if (known !== undefined) return known;
    const { payload, next } = step;
    const data = {
      [trace]: {
        ...(subject !== undefined && { [subject]: seen }),
        [choices]: payload.choices.map((choice) => ({
          ...show(choice),
          hasRoute: next.has(choice.branchId),
        })),
        hasElse: next.has(elseBranchId),
      },
    };
    byLook.set(seen, data);
    return data;
  }

  return {
    explain(step: ConditionStep<Choice>, branchId: string, visit: Visit, plan: Plan, now: Date): string {
      return `${describe(visit, plan, now)}; ${outcomeOf(nouns[choices], step, branchId)}`;
    },

    enter(step: ConditionStep<Choice>, visit: Visit, plan: Plan, now: Date): Entered {
      const { matches, seen = "" } = look(visit, plan, now);
      const branchId = step.payload.choices.find(matches)?.branchId ?? elseBranchId;
      return { kind: "branch", branchId, data: dataOf(step, seen) };
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
