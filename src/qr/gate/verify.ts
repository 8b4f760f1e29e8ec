import { setImmediate as otherWork } from "node:timers/promises";
import { codeOf } from "../drawing/code.ts";
import type { Design } from "../drawing/design.ts";
import { layOutCode } from "../drawing/layout.ts";
import { svgOf } from "../drawing/svg.ts";
import { type Cause, causesOf, hasContrast } from "./causes.ts";
import { conditions, looks, type Painting, paint, type ViewingCondition, viewed } from "./conditions.ts";
import { type ReaderName, readerNames, readers } from "./readers.ts";

/** One reader's try at a code in one condition. */
export interface ReadAttempt {
  readonly name: string;
  readonly reader: ReaderName;
  readonly passed: boolean;
}

/** How well a code is read. */
export interface Scannability {
  /** 0 to 100: from 50 the code is readable, and the rest says how much more it can take. */
  readonly score: number;
  /**
   * Whether one reader read the exact content in every required condition, the other in two of seven, and the colors
   * differ enough for others.
   */
  readonly readable: boolean;
  readonly cases: readonly ReadAttempt[];
  /** The name of the first required condition that the design failed in, or `contrast`. */
  readonly failingCase: string | undefined;
  /** What to change, when it is not readable: at least one. */
  readonly causes: readonly Cause[];
}

/**
 * Draws a code and reads it with two readers in twelve conditions. Takes about 150 ms, and some seconds where the
 * causes of what cannot be read are looked for; a single step may take 300 ms, so that services call `verifyInThread`. The
 * same input has always the same result. A RangeError when the content is too long for any code.
 */
export async function verifyDesign(content: string, design: Design): Promise<Scannability> {
  const code = await painted(content, design);
  const cases: ReadAttempt[] = [];
  for (const condition of conditions) cases.push(...(await readIn(condition, content, code)));
  const failed = failedOf(required, cases);
  const readable = failed.length === 0 && hasContrast(design);
  const isRead = (other: Design) => isReadIn(failed, content, other);
  return {
    score: readable ? 50 + share(cases, false, 50) : share(cases, true, 49),
    readable,
    cases,
    failingCase: readable ? undefined : (failed[0]?.name ?? contrastCase),
    causes: readable ? [] : await causesOf(content, design, isRead),
  };
}

/** Whether a design is readable, by the same rules: the verdict alone, as soon as it is known. */
export async function isDesignReadable(content: string, design: Design): Promise<boolean> {
  return hasContrast(design) && (await isReadIn(required, content, design));
}

async function isReadIn(
  wanted: readonly ViewingCondition[],
  content: string,
  design: Design,
): Promise<boolean> {
  const code = await painted(content, design);
  const readings: ReadAttempt[] = [];
  for (const condition of wanted) {
    readings.push(...(await readIn(condition, content, code)));
    if (failedOf(wanted, readings).length > 0) return false;
  }
  return true;
}

const required = conditions.filter(({ isRequired }) => isRequired);

/**
 * The conditions that a design failed in: where ZXing failed, and where jsQR did if it failed in more than three of four. What
 * jsQR misses changes with every address, also of plain codes, so that less from it says nothing about a design.
 */
function failedOf(wanted: readonly ViewingCondition[], readings: readonly ReadAttempt[]): ViewingCondition[] {
  const missedBy = (reader: ReaderName) =>
    wanted.filter(({ name }) =>
      readings.some((one) => one.name === name && one.reader === reader && !one.passed),
    );
  const [byZxing, byJsqr] = [missedBy("zxing"), missedBy("jsqr")];
  return wanted.filter(
    (condition) =>
      byZxing.includes(condition) || (byJsqr.length > wanted.length * 0.75 && byJsqr.includes(condition)),
  );
}

/** What is called failing when both readers read everything, but others could not tell the colors apart. */
const contrastCase = "contrast";

interface PaintedCode {
  readonly painting: Painting;
  /** Pixels a module. */
  readonly scale: number;
}

async function painted(content: string, design: Design): Promise<PaintedCode> {
  const matrix = await codeOf(content, design);
  return { painting: await paint(svgOf(matrix, design)), scale: layOutCode(matrix.size, design).scale };
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

/** The part of `whole` that was passed of what is required, or of what goes beyond. */
function share(cases: readonly ReadAttempt[], isRequired: boolean, whole: number): number {
  const names = new Set(conditions.filter((one) => one.isRequired === isRequired).map(({ name }) => name));
  const relevant = cases.filter(({ name }) => names.has(name));
  return Math.floor((relevant.filter(({ passed }) => passed).length / relevant.length) * whole);
}
