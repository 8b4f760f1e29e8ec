import { create, type QRCode } from "qrcode";
import { type Block, blocksOf, maskBit, modulesOfCodewords } from "./codewords.ts";
import { type MaskPattern, withoutDecoys } from "./decoys.ts";
import { complete } from "./galois.ts";
import { type ErrorCorrection, errorCorrections, type Matrix, qrMatrix } from "./matrix.ts";

/**
 * What a reader sees of a module: the code itself, or the light or dark that covers it. `unknown` is for what readers
 * disagree on, though most of them call it dark.
 */
export const moduleSeen = { code: -1, light: 0, dark: 1, unknown: 3 } as const;

/** What is seen of each module of a code of `size` × `size`, row by row. */
export type Covering = (size: number) => Int8Array;

/**
 * How many versions larger a code may become to make room. Each version adds 4 modules a side. Behind a picture of half
 * the side, phones read 0.79 of distorted plain codes with 6 more, and 0.88 with 10.
 */
const versionsMore = 10;

/**
 * The share of all codewords that must still be correctable beside what is covered. The levels L to H promise 7 to 30
 * %.
 */
const sparePart: Readonly<Record<ErrorCorrection, number>> = { L: 0.06, M: 0.07, Q: 0.09, H: 0.12 };

/**
 * Encodes text so that a picture in front of the code costs as little as possible. After a short text, most codewords
 * of a code are padding that readers skip, and any codewords of a block can be the ones that are computed from the
 * others. So those behind the picture get the values that a reader sees there anyway. The code has at least the version
 * that `errorCorrection` needs, and grows until enough can still be corrected. Its own level may be another one,
 * because only the correction that is left counts. Throws a RangeError when no code holds the text.
 */
export function matrixBehind(content: string, errorCorrection: ErrorCorrection, covering: Covering): Matrix {
  const plain = qrMatrix(content, errorCorrection);
  const first = (plain.size - 17) / 4;
  let best: RoomCandidate | undefined;
  for (let version = first; version <= Math.min(40, first + versionsMore); version++) {
    for (const level of errorCorrections) {
      const candidate = candidateOf(content, version, level, covering);
      if (candidate !== undefined && (best === undefined || candidate.spare > best.spare)) best = candidate;
    }
    if (best !== undefined && best.spare >= sparePart[errorCorrection]) break;
  }
  if (best === undefined) return plain;
  const candidate = best;
  return withoutDecoys((maskPattern) => fill(content, candidate, maskPattern));
}

interface RoomCandidate {
  readonly version: number;
  readonly level: ErrorCorrection;
  readonly view: Int8Array;
  readonly modules: readonly (readonly number[])[];
  readonly blocks: readonly Block[];
  /** How many codewords hold the text. They are the first of the data. */
  readonly textCount: number;
  /** The share of a block that may still be wrong beside what is covered, in the block with the smallest share. */
  readonly spare: number;
}

function candidateOf(
  content: string,
  version: number,
  level: ErrorCorrection,
  covering: Covering,
): RoomCandidate | undefined {
  const code = encode(content, version, level, 0);
  if (code === undefined) return undefined;
  const { size, reservedBit } = code.modules;
  const view = covering(size);
  const modules = modulesOfCodewords(size, reservedBit);
  const blocks = blocksOf(version, level, modules.length);
  const textCount = textCodewords(code);
  const spares = divide(blocks, textCount).map(({ block, text }) => {
    const wrong = block.places.map((place) => viewOf(modules[place], view));
    const lost = wrong.filter(
      (one, index) => one === "unknown" || (one === "covered" && index < text),
    ).length;
    const adaptable = wrong.filter((one, index) => one === "covered" && index >= text).length;
    const correctable = Math.floor((block.places.length - block.dataCount) / 2);
    return (correctable - lost - Math.max(0, adaptable - (block.dataCount - text))) / block.places.length;
  });
  return { version, level, view, modules, blocks, textCount, spare: Math.min(...spares) };
}

/** Whether a codeword shows, is covered by what is surely light or dark, or has a module of which readers disagree. */
function viewOf(modules: readonly number[] | undefined, view: Int8Array): "shown" | "covered" | "unknown" {
  const states = new Set(modules?.map((module) => view[module] ?? moduleSeen.code));
  if (states.has(moduleSeen.unknown)) return "unknown";
  return states.has(moduleSeen.light) || states.has(moduleSeen.dark) ? "covered" : "shown";
}

/** The blocks, each with the number of its first codewords that hold text. */
function divide(blocks: readonly Block[], textCount: number): { block: Block; text: number }[] {
  let left = textCount;
  return blocks.map((block) => {
    const text = Math.min(left, block.dataCount);
    left -= text;
    return { block, text };
  });
}

function fill(
  content: string,
  { version, level, view, modules, blocks, textCount }: RoomCandidate,
  maskPattern?: MaskPattern,
): Matrix {
  const code = encode(content, version, level, maskPattern);
  const mask = code?.maskPattern;
  if (code === undefined || mask === undefined) throw new Error("a code that fitted fits no more");
  const { size, data } = code.modules;
  for (const { block, text } of divide(blocks, textCount)) {
    const places = block.places.map((place) => modules[place] ?? []);
    const isDark = (module: number) => ((data[module] ?? 0) ^ maskBit(mask, size, module)) === 1;
    const looksDark = (module: number) => {
      const shade = view[module] ?? moduleSeen.code;
      return shade === moduleSeen.code ? isDark(module) : ((shade & 1) ^ maskBit(mask, size, module)) === 1;
    };
    const kept = keptOf(block, text, (index) => coveredBits(places[index], view));
    const values = Uint8Array.from(places, (bits, index) =>
      byteOf(bits, index >= text && kept.has(index) ? looksDark : isDark),
    );
    complete(
      values,
      places.map((_, index) => index).filter((index) => !kept.has(index)),
    );
    for (const [index, bits] of places.entries()) {
      for (const [bit, module] of bits.entries())
        data[module] = (((values[index] ?? 0) >> (7 - bit)) & 1) ^ maskBit(mask, size, module);
    }
  }
  return { size, modules: data };
}

/** Which codewords of a block decide the others: first those with text, then the most covered, then those in front. */
function keptOf(block: Block, text: number, coveredAt: (index: number) => number): Set<number> {
  const order = block.places
    .map((_, index) => ({ index, weight: index < text ? 9 : coveredAt(index) }))
    .sort((a, b) => b.weight - a.weight || a.index - b.index);
  return new Set(order.slice(0, block.dataCount).map(({ index }) => index));
}

function encode(
  content: string,
  version: number,
  errorCorrectionLevel: ErrorCorrection,
  maskPattern?: MaskPattern,
): QRCode | undefined {
  try {
    return create(content, { version, errorCorrectionLevel, maskPattern });
  } catch {
    return undefined;
  }
}

/**
 * How many codewords hold the text. Each segment has a mode, a count and its characters. A terminator of four bits
 * follows the last.
 */
function textCodewords({ segments, version }: QRCode): number {
  const range = version < 10 ? 0 : version < 27 ? 1 : 2;
  const bits = segments.reduce(
    (sum, segment) => sum + 4 + (segment.mode.ccBits[range] ?? 16) + segment.getBitsLength(),
    4,
  );
  return Math.ceil(bits / 8);
}

/**
 * How many modules of a codeword are covered. It is less than one when a module is unknown, because such a codeword
 * cannot be matched anyway.
 */
function coveredBits(modules: readonly number[] | undefined, view: Int8Array): number {
  if (viewOf(modules, view) === "unknown") return 0.5;
  return modules?.filter((module) => view[module] !== moduleSeen.code).length ?? 0;
}

function byteOf(modules: readonly number[], isSet: (module: number) => boolean): number {
  return modules.reduce((byte, module) => (byte << 1) | (isSet(module) ? 1 : 0), 0);
}
