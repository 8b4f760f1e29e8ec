import { setImmediate as otherWork } from "node:timers/promises";
import { codeOf } from "../drawing/code.ts";
import type { Design } from "../drawing/design.ts";
import { layOutCode } from "../drawing/layout.ts";
import type { Matrix } from "../drawing/matrix.ts";
import { svgOf } from "../drawing/svg.ts";
import { looks, type Painting, paint, type ViewingCondition, viewed, viewKey } from "./conditions.ts";
import { finderClearance } from "./finder-search.ts";
import { greyOf } from "./grey.ts";
import { machineVisionOf } from "./machine-vision.ts";
import { type Pixels, type ReaderName, readerNames, readers } from "./readers.ts";
import { areFindersMet } from "./zxing-search.ts";

/** One reader's try at a code in one condition. */
export interface ReadAttempt {
  readonly name: string;
  readonly reader: ReaderName;
  readonly passed: boolean;
}

/** A code to show to readers, and what the rules look at. */
export interface PaintedCode {
  readonly content: string;
  readonly matrix: Matrix;
  readonly painting: Painting;
  /** The pixels of a module. */
  readonly scale: number;
}

export async function painted(content: string, design: Design): Promise<PaintedCode> {
  const matrix = await codeOf(content, design);
  const { scale } = layOutCode(matrix.size, design);
  return { content, matrix, painting: await paint(svgOf(matrix, design)), scale };
}

/** The margin of machine vision. Its searches for finder patterns take some time, and only when all other rules hold. */
export function visionMargin({ painting, matrix }: PaintedCode, design: Design): number {
  const { margin } = machineVisionOf({ matrix }, design);
  if (margin < 0) return margin;
  const grey = greyOf(painting);
  const found = {
    finderClearance: finderClearance(grey, matrix, design),
    areFindersMet: areFindersMet(grey, matrix, design),
  };
  return machineVisionOf({ matrix, found }, design).margin;
}

/**
 * Shows a code to the readers in one condition after the other, and gives what they make of it. While they read, the
 * next view is made.
 */
export async function* attemptsIn(
  wanted: readonly ViewingCondition[],
  code: PaintedCode,
): AsyncGenerator<ReadAttempt[]> {
  const firstView = (condition: ViewingCondition | undefined) => {
    const view = condition && viewed(code.painting, code.scale, condition, looks[0]);
    // Nobody waits for it when the verdict is certain before.
    view?.catch(() => undefined);
    return view;
  };
  const read = new Map<string, Reading>();
  let next = firstView(wanted[0]);
  for (const [index, condition] of wanted.entries()) {
    const view = next;
    next = firstView(wanted[index + 1]);
    if (view !== undefined) yield await attemptsAt(condition, code, await view, read);
  }
}

export async function readInAll(
  wanted: readonly ViewingCondition[],
  code: PaintedCode,
): Promise<ReadAttempt[]> {
  const cases: ReadAttempt[] = [];
  for await (const some of attemptsIn(wanted, code)) cases.push(...some);
  return cases;
}

/** Whether each reader read a view. */
type Reading = Map<ReaderName, boolean>;

/** `read` keeps what was read at first sight: small images look the same in several conditions. */
async function attemptsAt(
  condition: ViewingCondition,
  { content, painting, scale }: PaintedCode,
  first: Pixels,
  read: Map<string, Reading>,
): Promise<ReadAttempt[]> {
  const key = viewKey(painting, condition);
  const known = read.get(key) ?? new Map<ReaderName, boolean>();
  read.set(key, known);
  const waiting = new Set(readerNames);
  for (const [look, nearness] of looks.entries()) {
    const looking = [...waiting].filter(
      (reader) => look === 0 || condition.atOnce?.includes(reader) !== true,
    );
    if (looking.length === 0) break;
    const pixels = look === 0 ? first : await viewed(painting, scale, condition, nearness);
    for (const reader of looking) {
      const before = look === 0 ? known.get(reader) : undefined;
      const passed = before ?? (await readers[reader](pixels)) === content;
      if (look === 0) known.set(reader, passed);
      if (passed) waiting.delete(reader);
      await otherWork();
    }
  }
  return readerNames.map((reader) => ({ name: condition.name, reader, passed: !waiting.has(reader) }));
}
