import type { Design } from "../drawing/design.ts";
import { type Cause, causesOf, hasContrast } from "./causes.ts";
import { conditions, type ViewingCondition } from "./conditions.ts";
import { type ClassVerdict, type Grade, isRead, judge, missed } from "./judgement.ts";
import { stepsToNextGrade } from "./next-grade.ts";
import { attemptsIn, painted, type ReadAttempt, readInAll, visionMargin } from "./reading.ts";
import type { Change, Step } from "./steps.ts";

/** How well a code is read. */
export interface Scannability {
  /** 0 to 100. From 50 on the code is readable, and the rest says how much more it can take. */
  readonly score: number;
  readonly grade: Grade;
  /** Whether the grade is A or B. */
  readonly readable: boolean;
  readonly classes: readonly ClassVerdict[];
  readonly cases: readonly ReadAttempt[];
  /** The name of the first condition in which the design failed, or `contrast`. Undefined when it is readable. */
  readonly failingCase: string | undefined;
  /** What to change. It has at least one entry when the code is not readable. */
  readonly causes: readonly Cause[];
  /** The fewest changes that, together, give the next grade. Empty at grade A, and when no small change is known. */
  readonly changes: readonly Change[];
}

/**
 * Draws a code and reads it with two readers in fourteen conditions. It takes about 200 ms, and some seconds when it
 * looks for the causes of a failure. A single step may take 300 ms, so services call `verifyInThread`. The same input
 * always has the same result. Throws a RangeError when the content is too long for any code.
 */
export async function verifyDesign(content: string, design: Design): Promise<Scannability> {
  return (await gradeDesign(content, design)).scannability;
}

/** Gives what `verifyDesign` gives, and the steps behind its changes. */
export async function gradeDesign(
  content: string,
  design: Design,
): Promise<{ readonly scannability: Scannability; readonly steps: readonly Step[] }> {
  const code = await painted(content, design);
  const cases = await readInAll(conditions, code);
  const { grade, classes } = judge(cases, visionMargin(code, design), design);
  const readable = grade !== "C";
  const failed = conditions.filter(({ name }) =>
    missed(isRead(cases, "zxing") ? "jsqr" : "zxing", cases).includes(name),
  );
  const isCured = (other: Design) => isReadIn(failed, content, other);
  const steps = await stepsToNextGrade({ content, design, grade, cases });
  const scannability: Scannability = {
    score: readable ? 50 + share(cases, 50) : share(cases, 49),
    grade,
    readable,
    classes,
    cases,
    failingCase: readable ? undefined : isRead(cases) ? contrastCase : failed[0]?.name,
    causes: readable ? [] : await causesOf(content, design, isCured),
    changes: steps.map(({ change }) => change),
  };
  return { scannability, steps };
}

/** The failing case when both readers read everything, but other readers could not tell the colors apart. */
const contrastCase = "contrast";

/** Whether a design is readable by the same rules. It ends as soon as the verdict is certain. */
export async function isDesignReadable(content: string, design: Design): Promise<boolean> {
  return hasContrast(design) && (await isReadIn(conditions, content, design));
}

async function isReadIn(
  wanted: readonly ViewingCondition[],
  content: string,
  design: Design,
): Promise<boolean> {
  const code = await painted(content, design);
  const readings: ReadAttempt[] = [];
  for await (const some of attemptsIn(wanted, code)) {
    readings.push(...some);
    if (!isRead(readings)) return false;
  }
  return true;
}

/** The part of `whole` that the passed cases earn. */
function share(cases: readonly ReadAttempt[], whole: number): number {
  return Math.floor((cases.filter(({ passed }) => passed).length / cases.length) * whole);
}
