import { codeOf } from "../drawing/code.ts";
import type { Design } from "../drawing/design.ts";
import { layOutCode, modulesAcross } from "../drawing/layout.ts";
import { hasContrast } from "./causes.ts";
import { conditions } from "./conditions.ts";
import { hollowFrom } from "./finder-search.ts";
import { type Grade, judge } from "./judgement.ts";
import { machineVisionOf, moduleMin } from "./machine-vision.ts";
import { attemptsIn, painted, type ReadAttempt, visionMargin } from "./reading.ts";
import {
  darker,
  larger,
  type Step,
  smaller,
  withImageSize,
  withSquareDots,
  withSquareMiddles,
  withSquareShape,
} from "./steps.ts";

/** The contrast that makes a design readable that has too little. */
const contrastToRead = 0.5;

/** A design that was read, and its grade. */
export interface GradedDesign {
  readonly content: string;
  readonly design: Design;
  readonly grade: Grade;
  readonly cases: readonly ReadAttempt[];
}

/**
 * The fewest known steps to the next grade, and none when none are known. Each is drawn and judged before it is named.
 */
export async function stepsToNextGrade(graded: GradedDesign): Promise<readonly Step[]> {
  const { content, design, grade } = graded;
  if (grade === "A") return [];
  if (grade === "B") return await stepsToEveryReader(graded);
  const { size } = await codeOf(content, design);
  for (const step of stepsTowardsReading(size, design))
    if (await isRaised(graded, [step], "B")) return [step];
  return [];
}

/** What helps when a design keeps all rules and some reader still misses it, the smallest change first. */
function plainerSteps(size: number, design: Design): Step[] {
  const isHollow = layOutCode(size, design).scale >= hollowFrom;
  const smallerModules = smaller(modulesAcross(size, design.shape) * (hollowFrom - 1));
  return [...(isHollow ? [smallerModules] : []), withSquareMiddles, withSquareDots].filter(
    ({ isNeeded }) => isNeeded?.(design) !== false,
  );
}

async function stepsToEveryReader(graded: GradedDesign): Promise<readonly Step[]> {
  const asked = await stepsByRules(graded);
  const changed = applied(graded.design, asked);
  const { size } = await codeOf(graded.content, changed);
  const more = plainerSteps(size, changed);
  for (const some of [asked, ...more.map((_, index) => [...asked, ...more.slice(0, index + 1)])])
    if (some.length > 0 && (await isRaised(graded, some, "A"))) return some;
  return [];
}

/** The steps that the rules ask for. One may make another necessary, such as darker dots on a background made white. */
async function stepsByRules({ content, design }: GradedDesign): Promise<Step[]> {
  const found: Step[] = [];
  for (let round = 0; round < 3; round++) {
    const changed = applied(design, found);
    const { steps } = machineVisionOf({ matrix: await codeOf(content, changed) }, changed);
    if (steps.length === 0) break;
    found.push(...steps);
  }
  return found;
}

/**
 * Whether steps raise a design to a grade. The changed code is drawn and read as drawn, and where that is not enough in
 * every condition in which a reader missed the design. All else is taken to be as before, because every step makes a
 * code plainer.
 */
async function isRaised(
  { content, design, cases }: GradedDesign,
  steps: readonly Step[],
  wanted: Grade,
): Promise<boolean> {
  const changed = applied(design, steps);
  if (!hasContrast(changed)) return false;
  const code = await painted(content, changed);
  const vision = wanted === "A" ? visionMargin(code, changed) : -1;
  if (wanted === "A" && vision < 0) return false;
  // A comes before B, and B before C.
  const isEnough = (some: readonly ReadAttempt[]) => judge(some, vision, changed).grade <= wanted;
  const missed = new Set(cases.filter(({ passed }) => !passed).map(({ name }) => name));
  const isDoubtful = isEnough(cases) ? () => false : (name: string) => missed.has(name);
  const doubtful = conditions.filter(({ name }, index) => index === 0 || isDoubtful(name));
  const names = new Set(doubtful.map(({ name }) => name));
  const attempts = cases.filter(({ name }) => !names.has(name));
  for await (const some of attemptsIn(doubtful, code)) {
    attempts.push(...some);
    if (!isEnough(attempts)) return false;
  }
  return true;
}

/** Single changes that may make a design readable, the smallest first. Only what may be wrong is changed. */
function stepsTowardsReading(size: number, design: Design): Step[] {
  const steps: Step[] = [];
  if (!hasContrast(design)) steps.push(darker(design, contrastToRead));
  if (layOutCode(size, design).scale < moduleMin) steps.push(larger(size, moduleMin));
  const { centralImage, shape } = design;
  const sizes = [0.4, 0.3, 0.2].filter((one) => centralImage !== undefined && one < centralImage.size);
  steps.push(...sizes.map(withImageSize));
  if (shape === "CIRCLE") steps.push(withSquareShape);
  if (design.dots.type !== "SQUARE") steps.push(withSquareDots);
  return steps;
}

function applied(design: Design, steps: readonly Step[]): Design {
  return steps.reduce((before, { apply }) => apply(before), design);
}
