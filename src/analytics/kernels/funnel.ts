import type { StepAction } from "../../model/steps/kinds.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import type { FunnelCounts, StepCounts } from "../question.ts";
import type { Way } from "../segments/columns.ts";
import { byBytes, firstOf, occurring, sumOf } from "./ranking.ts";
import { held, type Kernel, type People, type TextsOf } from "./span.ts";
import { createTally } from "./tally.ts";

/** How many choices of one action an answer has at most: the links of a workspace offer any number. */
export const choicesMax = 100;

/** Counts visits by their ways; what the ways hold is added up at the end. `isKnown` has 1 for identified visitors. */
export function funnelKernel(textsOf: TextsOf, people: People, isKnown: Uint8Array): Kernel<FunnelCounts> {
  const all = createTally();
  const identified = createTally();
  let completed = 0;
  return {
    columns: ["ways", "people", "completed"],
    add(span) {
      const { rows } = span;
      const ways = held(span, "ways");
      all.add(ways, rows);
      identified.add(ways, rowsOfKnown(held(span, "people"), rows, people, isKnown));
      const done = held(span, "completed");
      for (let row = 0; row < rows.length; row++) completed += done[rows[row] ?? 0] ?? 0;
    },
    finish() {
      const counts = all.counts();
      const known = identified.counts();
      const steps = createSteps();
      const texts = textsOf("ways");
      // Whoever seals segments writes nothing else.
      for (const number of occurring(counts))
        steps.add(JSON.parse(texts[number] ?? "") as Way, counts[number] ?? 0, known[number] ?? 0);
      return { visits: sumOf(counts), completed, steps: steps.counts() };
    },
  };
}

function rowsOfKnown(
  all: Uint32Array,
  rows: Uint32Array,
  { became }: People,
  isKnown: Uint8Array,
): Uint32Array {
  const known = new Uint32Array(rows.length);
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    const one = all[row] ?? 0;
    const person = one < became.length ? (became[one] ?? 0) : one;
    if (isKnown[person] === 1) known[count++] = row;
  }
  return known.subarray(0, count);
}

interface Step {
  visits: number;
  occurrences: number;
  done: number;
  made: number;
  identified: number;
  places: number;
  readonly alsoReached: Partial<Record<StepAction, number>>;
  /** How many visits chose each of the choices. */
  readonly choices: Map<string, number>;
}

function createSteps() {
  const byAction = new Map<StepAction, Step>();

  function stepOf(action: string): Step {
    // Actions are those of the enum in the database.
    const known = action as StepAction;
    let step = byAction.get(known);
    if (step === undefined) {
      const counts = { visits: 0, occurrences: 0, done: 0, made: 0, identified: 0, places: 0 };
      step = { ...counts, alsoReached: {}, choices: new Map() };
      byAction.set(known, step);
    }
    return step;
  }

  return {
    /** Adds `visits` that went this way, `identified` of them by visitors who are known. */
    add(way: Way, visits: number, identified: number): void {
      for (const { action, occurrences, isDone, isMade, place } of way.steps) {
        const step = stepOf(action);
        step.visits += visits;
        step.occurrences += visits * occurrences;
        step.done += isDone ? visits : 0;
        step.made += isMade ? visits : 0;
        step.identified += identified;
        step.places += visits * place;
        for (const other of way.steps) {
          const also = other.action as StepAction;
          step.alsoReached[also] = (step.alsoReached[also] ?? 0) + visits;
        }
      }
      for (const { action, label, isChosen } of way.choices) {
        const { choices } = stepOf(action);
        choices.set(label, (choices.get(label) ?? 0) + (isChosen ? visits : 0));
      }
    },
    counts: (): StepCounts[] => [...byAction].map(([action, step]) => toCounts(action, step)),
  };
}

function toCounts(action: StepAction, { done, made, choices, ...step }: Step): StepCounts {
  const groups = [...choices].map(([value, count]) => ({ value, count }));
  // An exit that offers choices is done when one is made; it is complete once it is shown.
  const isChoosing = choices.size > 0 && stepActions[action].kind === "EXIT";
  return {
    ...step,
    action,
    interactions: isChoosing ? made : done,
    choices: firstOf(groups, choicesMax, (a, b) => b.count - a.count || byBytes(a.value, b.value)),
  };
}
