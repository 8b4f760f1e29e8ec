import type { Design } from "../drawing/design.ts";
import { hasContrast } from "./causes.ts";
import { conditions } from "./conditions.ts";
import { type ReaderName, readerNames } from "./readers.ts";
import type { ReadAttempt } from "./reading.ts";

/** A: every class of readers reads the code. B: phones do. C: refused. */
export type Grade = "A" | "B" | "C";

/** Phones' cameras and apps, readers in web pages, and the strict readers of machines. */
type ReaderClass = "PHONE" | "WEB" | "MACHINE_VISION";

/** What one class of readers makes of a code. */
export interface ClassVerdict {
  readonly readerClass: ReaderClass;
  readonly passed: boolean;
  /** How much is left until the class reads the code no more, 0 to 100. */
  readonly margin: number;
}

export interface Judgement {
  readonly grade: Grade;
  readonly classes: readonly ClassVerdict[];
}

/** The grade that a design earns by how it was read, and by the margin of machine vision. */
export function judge(cases: readonly ReadAttempt[], vision: number, design: Design): Judgement {
  const readable = isRead(cases) && hasContrast(design);
  const classes = classesOf(cases, vision, readable);
  const grade = !readable ? "C" : classes.every(({ passed }) => passed) ? "A" : "B";
  return { grade, classes };
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
export function isRead(cases: readonly ReadAttempt[], reader?: ReaderName): boolean {
  if (reader === undefined) return readerNames.every((one) => isRead(cases, one));
  const names = missed(reader, cases);
  if (reader === "zxing" && conditions.some(({ name, isRequired }) => isRequired && names.includes(name)))
    return false;
  return names.length <= missesMax[reader];
}

export function missed(reader: ReaderName, cases: readonly ReadAttempt[]): string[] {
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
