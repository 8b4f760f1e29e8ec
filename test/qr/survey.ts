import { isDesignReadable } from "../../src/qr/gate/verify.ts";
import { randomDesigns } from "./random-designs.ts";
import { type Drawn, type Outcome, readBack } from "./read-back.ts";
import { type Combination, choices, designOf, everyCombination, nameOf, sampleContent } from "./samples.ts";

const batch = 120;

/**
 * Reads every combination of forms, formats, sizes and pictures with ZBar and ZXing. Returns a table of how many were
 * read or refused by the gate; `missed` names the others.
 */
export async function surveyCombinations(tell: (progress: string) => void): Promise<{
  readonly rows: string[][];
  readonly missed: string[];
}> {
  const results: { combination: Combination; outcome: Outcome }[] = [];
  const waiting = [...everyCombination()];
  while (waiting.length > 0) {
    const combinations = waiting.splice(0, batch);
    const outcomes = await readBack(combinations.map(drawn));
    for (const [index, combination] of combinations.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined) results.push({ combination, outcome });
    }
    tell(`${results.length} combinations read, ${waiting.length} to go`);
  }
  const isMissed = ({ readBy, isRefused }: Outcome) => readBy.length < 2 && !isRefused;
  const rows = Object.entries(choices).flatMap(([name, values]) =>
    values.map((value) => {
      const own = results.filter(({ combination }) => combination[name as keyof Combination] === value);
      const count = (holds: (outcome: Outcome) => boolean) =>
        String(own.filter(({ outcome }) => holds(outcome)).length);
      return [
        `${name} ${value}`,
        String(own.length),
        count(({ readBy }) => readBy.length === 2),
        count(({ isRefused }) => isRefused),
        count(isMissed),
      ];
    }),
  );
  const missed = results
    .filter(({ outcome }) => isMissed(outcome))
    .map(({ combination }) => nameOf(combination));
  return { rows: [["", "drawn", "read by both", "refused", "missed"], ...rows], missed };
}

/**
 * Verifies `count` random designs, and reads those that the gate calls readable; `missed` describes those that a reader
 * did not read.
 */
export async function surveyRandom(
  { seed, count }: { readonly seed: number; readonly count: number },
  tell: (progress: string) => void,
): Promise<{ readonly readable: number; readonly missed: string[] }> {
  const designs = randomDesigns(seed);
  const readable: Drawn[] = [];
  for (let index = 0; index < count; index++) {
    const one = designs.next().value;
    if (await isDesignReadable(one.content, one.design)) readable.push(one);
    if (index % batch === batch - 1) tell(`${index + 1} random designs verified`);
  }
  const missed: string[] = [];
  for (let first = 0; first < readable.length; first += batch) {
    const some = readable.slice(first, first + batch);
    for (const [index, { readBy }] of (await readBack(some)).entries()) {
      if (readBy.length < 2) missed.push(`${readBy.join() || "nobody"} only: ${described(some[index])}`);
    }
  }
  return { readable: readable.length, missed };
}

function drawn(combination: Combination): Drawn {
  return { content: sampleContent, design: designOf(combination), format: combination.format };
}

function described(one: Drawn | undefined): string {
  return JSON.stringify(one, (key, value: unknown) => (key === "png" ? undefined : value));
}
