import { setImmediate as otherWork } from "node:timers/promises";
import { codeOf } from "../drawing/code.ts";
import type { Design } from "../drawing/design.ts";
import { layOutCode } from "../drawing/layout.ts";
import type { Matrix } from "../drawing/matrix.ts";
import { svgOf } from "../drawing/svg.ts";
import { type Cause, causesOf, hasContrast } from "./causes.ts";
import { conditions, looks, type Painting, paint, type ViewingCondition, viewed } from "./conditions.ts";
import { finderClearance } from "./finder-search.ts";
import {
  type Change,
  type Drawing,
  type Grade,
  machineVisionOf,
  plainerSteps,
  type ReaderClass,
  type Step,
  stepsTowardsReading,
} from "./grade.ts";
import { type ReaderName, readerNames, readers } from "./readers.ts";

/** One reader's try at a code in one condition. */
export interface ReadAttempt {
  readonly name: string;
  readonly reader: ReaderName;
  readonly passed: boolean;
}

/** What one class of readers makes of a code. */
export interface ClassVerdict {
  readonly readerClass: ReaderClass;
  readonly passed: boolean;
  /** How much is left until the class reads the code no more, 0 to 100. */
  readonly margin: number;
}

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
  const matrix = await codeOf(content, design);
  const code = await painted(matrix, design);
  const cases = await readInAll(conditions, content, code);
  const { grade, classes } = judge(cases, await drawingOf(code, matrix, design), design);
  const readable = grade !== "C";
  const failed = conditions.filter(({ name }) =>
    missed(isRead(cases, "zxing") ? "jsqr" : "zxing", cases).includes(name),
  );
  const isCured = (other: Design) => isReadIn(failed, content, other);
  const steps = await stepsToNextGrade(content, design, grade, cases);
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

interface Judgement {
  readonly grade: Grade;
  readonly classes: readonly ClassVerdict[];
}

async function drawingOf({ painting }: PaintedCode, matrix: Matrix, design: Design): Promise<Drawing> {
  return { matrix, finderClearance: await finderClearance(painting, matrix, design) };
}

function judge(cases: readonly ReadAttempt[], drawing: Drawing, design: Design): Judgement {
  const readable = isRead(cases) && hasContrast(design);
  const { margin } = machineVisionOf(drawing, design);
  const classes = classesOf(cases, margin, readable);
  const grade = !readable ? "C" : classes.every(({ passed }) => passed) ? "A" : "B";
  return { grade, classes };
}

/** Whether a design is readable by the same rules. It ends as soon as the verdict is certain. */
export async function isDesignReadable(content: string, design: Design): Promise<boolean> {
  return hasContrast(design) && (await isReadIn(conditions, content, design));
}

async function isReadIn(
  wanted: readonly ViewingCondition[],
  content: string,
  design: Design,
): Promise<boolean> {
  const code = await painted(await codeOf(content, design), design);
  const readings: ReadAttempt[] = [];
  for (const condition of wanted) {
    readings.push(...(await readIn(condition, content, code)));
    if (!isRead(readings)) return false;
  }
  return true;
}

/**
 * How many conditions each reader may miss. What jsQR misses changes with every address, even for plain codes, so it
 * has to read only a quarter.
 */
const missesMax: Readonly<Record<ReaderName, number>> = {
  zxing: Math.floor(conditions.length * 0.2),
  jsqr: Math.floor(conditions.length * 0.75),
};

/** Whether the readers have missed no required condition, and of the others no more than they may. */
function isRead(cases: readonly ReadAttempt[], reader?: ReaderName): boolean {
  if (reader === undefined) return readerNames.every((one) => isRead(cases, one));
  const names = missed(reader, cases);
  if (reader === "zxing" && conditions.some(({ name, isRequired }) => isRequired && names.includes(name)))
    return false;
  return names.length <= missesMax[reader];
}

function missed(reader: ReaderName, cases: readonly ReadAttempt[]): string[] {
  return cases.filter((one) => one.reader === reader && !one.passed).map(({ name }) => name);
}

/**
 * The shares of conditions in which the two readers have to read a code of grade A: nine tenths of those in which they
 * read a plain one. ZXing reads plain codes in all conditions, and jsQR in all or all but one.
 */
const shareForA: Readonly<Record<ReaderName, number>> = { zxing: 0.9, jsqr: 0.83 };

function classesOf(cases: readonly ReadAttempt[], vision: number, readable: boolean): ClassVerdict[] {
  const read = (reader: ReaderName) => 1 - missed(reader, cases).length / conditions.length;
  const isWhole = (reader: ReaderName) => read(reader) >= shareForA[reader];
  const margin = (least: number, value: number) =>
    Math.floor(Math.max(0, (value - least) / (1 - least)) * 100);
  return [
    { readerClass: "PHONE", passed: readable, margin: readable ? margin(0.8, read("zxing")) : 0 },
    {
      readerClass: "WEB",
      passed: readable && isWhole("jsqr") && !missed("jsqr", cases).includes("at its size"),
      margin: margin(shareForA.jsqr, read("jsqr")),
    },
    {
      readerClass: "MACHINE_VISION",
      passed: readable && vision >= 0 && isWhole("zxing"),
      margin: margin(0, vision),
    },
  ];
}

/** The failing case when both readers read everything, but other readers could not tell the colors apart. */
const contrastCase = "contrast";

/** The steps to the next grade, which are drawn and judged before they are named; none when none are known. */
async function stepsToNextGrade(
  content: string,
  design: Design,
  grade: Grade,
  cases: readonly ReadAttempt[],
): Promise<readonly Step[]> {
  if (grade === "A") return [];
  if (grade === "C") return await stepsToRead(content, design);
  const asked = await stepsByRules(content, design);
  const changed = applied(design, asked);
  const more = plainerSteps.filter(({ isNeeded }) => isNeeded?.(changed) !== false);
  for (const some of [asked, ...more.map((_, index) => [...asked, ...more.slice(0, index + 1)])]) {
    if (some.length > 0 && (await isRaisedToA(content, design, some, cases))) return some;
  }
  return [];
}

/** The steps that the rules ask for. One may make another necessary, such as darker dots on a background made white. */
async function stepsByRules(content: string, design: Design): Promise<Step[]> {
  const found: Step[] = [];
  for (let round = 0; round < 3; round++) {
    const changed = applied(design, found);
    const drawing = { matrix: await codeOf(content, changed), finderClearance: 1 };
    const { steps } = machineVisionOf(drawing, changed);
    if (steps.length === 0) break;
    found.push(...steps);
  }
  return found;
}

function applied(design: Design, steps: readonly Step[]): Design {
  return steps.reduce((before, { apply }) => apply(before), design);
}

/**
 * Whether steps make a readable design one of grade A. The changed code is drawn, and read at its size and as it was
 * missed before; all else is taken to be read as before, because every step makes a code plainer.
 */
async function isRaisedToA(
  content: string,
  design: Design,
  steps: readonly Step[],
  cases: readonly ReadAttempt[],
): Promise<boolean> {
  const changed = applied(design, steps);
  const matrix = await codeOf(content, changed);
  const code = await painted(matrix, changed);
  const drawing = await drawingOf(code, matrix, changed);
  if (machineVisionOf(drawing, changed).margin < 0) return false;
  const doubtful = conditions.filter(
    ({ name, atOnce }) => atOnce?.length === readerNames.length || missedByAny(name, cases),
  );
  const again = await readInAll(doubtful, content, code);
  const names = new Set(doubtful.map(({ name }) => name));
  const merged = [...cases.filter(({ name }) => !names.has(name)), ...again];
  return judge(merged, drawing, changed).grade === "A";
}

function missedByAny(condition: string, cases: readonly ReadAttempt[]): boolean {
  return cases.some(({ name, passed }) => name === condition && !passed);
}

/** The smallest change that makes a design readable, of those that mend most; none when it needs several. */
async function stepsToRead(content: string, design: Design): Promise<Step[]> {
  const { size } = await codeOf(content, design);
  for (const step of stepsTowardsReading(size, design)) {
    if (await isDesignReadable(content, step.apply(design))) return [step];
  }
  return [];
}

interface PaintedCode {
  readonly painting: Painting;
  /** The pixels of a module. */
  readonly scale: number;
}

async function painted(matrix: Matrix, design: Design): Promise<PaintedCode> {
  return { painting: await paint(svgOf(matrix, design)), scale: layOutCode(matrix.size, design).scale };
}

async function readInAll(
  wanted: readonly ViewingCondition[],
  content: string,
  code: PaintedCode,
): Promise<ReadAttempt[]> {
  const cases: ReadAttempt[] = [];
  for (const condition of wanted) cases.push(...(await readIn(condition, content, code)));
  return cases;
}

async function readIn(
  condition: ViewingCondition,
  content: string,
  { painting, scale }: PaintedCode,
): Promise<ReadAttempt[]> {
  const waiting = new Set(readerNames);
  for (const [look, nearness] of looks.entries()) {
    const looking = [...waiting].filter(
      (reader) => look === 0 || condition.atOnce?.includes(reader) !== true,
    );
    if (looking.length === 0) break;
    const pixels = await viewed(painting, scale, condition, nearness);
    for (const reader of looking) {
      if ((await readers[reader](pixels)) === content) waiting.delete(reader);
      await otherWork();
    }
  }
  return readerNames.map((reader) => ({ name: condition.name, reader, passed: !waiting.has(reader) }));
}

/** The part of `whole` that the passed cases earn. */
function share(cases: readonly ReadAttempt[], whole: number): number {
  return Math.floor((cases.filter(({ passed }) => passed).length / cases.length) * whole);
}
