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
  /** 0 to 100. From 50 on the code is readable, and the rest says how much more it can take. */
  readonly score: number;
  /**
   * Whether ZXing read the exact content in every required condition, jsQR in two of the seven, and the colors differ
   * enough for other readers.
   */
  readonly readable: boolean;
  readonly cases: readonly ReadAttempt[];
  /**
   * The name of the first required condition in which the design failed, or `contrast`. Undefined when it is readable.
   */
  readonly failingCase: string | undefined;
  /** What to change. It has at least one entry when the code is not readable. */
  readonly causes: readonly Cause[];
}

/**
 * Draws a code and reads it with two readers in twelve conditions. It takes about 150 ms, and some seconds when it
 * looks for the causes of a failure. A single step may take 300 ms, so services call `verifyInThread`. The same input
 * always has the same result. Throws a RangeError when the content is too long for any code.
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

/** Whether a design is readable by the same rules. It ends as soon as the verdict is certain. */
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
 * The conditions in which a design failed: those where ZXing failed, and those where jsQR did, if it failed in more
 * than three of four. What jsQR misses changes with every address, even for plain codes, so fewer failures of jsQR say
 * nothing about a design.
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

/** The failing case when both readers read everything, but other readers could not tell the colors apart. */
const contrastCase = "contrast";

interface PaintedCode {
  readonly painting: Painting;
  /** The pixels of a module. */
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

/** The part of `whole` that the passed cases earn, of those that are required or of those that are not. */
function share(cases: readonly ReadAttempt[], isRequired: boolean, whole: number): number {
  const names = new Set(conditions.filter((one) => one.isRequired === isRequired).map(({ name }) => name));
  const relevant = cases.filter(({ name }) => names.has(name));
  return Math.floor((relevant.filter(({ passed }) => passed).length / relevant.length) * whole);
}
