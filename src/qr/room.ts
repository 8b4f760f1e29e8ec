import { create, type QRCode } from "qrcode";
import { type Block, blocksOf, maskBit, modulesOfCodewords } from "./codewords.ts";
import { complete } from "./galois.ts";
import { type ErrorCorrection, errorCorrections, type Matrix, qrMatrix } from "./matrix.ts";

/** What a reader sees of each module of a code: dark 1, light 0, or -1 where the code itself shows. */
export type Covering = (size: number) => Int8Array;

/** How many versions larger a code may become to make room: each adds 4 modules a side. */
const versionsMore = 6;

/** The part of all codewords that must still be correctable beside what is covered; levels L to H promise 7 to 30 %. */
const sparePart: Readonly<Record<ErrorCorrection, number>> = { L: 0.06, M: 0.07, Q: 0.09, H: 0.12 };

/**
 * Encodes text so that a picture in front of the code costs as little as possible. After a short text most codewords
 * of a code are padding that readers skip, and any codewords of a block can be the ones that are computed from the others:
 * those behind the picture are given the values that a reader sees there anyway. The code has at least the version that
 * `errorCorrection` needs, and grows until enough can still be corrected; its own level may be another then, because what
 * counts is the correction left. A RangeError when no code holds the text.
 */
export function matrixBehind(content: string, errorCorrection: ErrorCorrection, covering: Covering): Matrix {
  const plain = qrMatrix(content, errorCorrection);
  const first = (plain.size - 17) / 4;
  let best: Candidate | undefined;
  for (let version = first; version <= Math.min(40, first + versionsMore); version++) {
    for (const level of errorCorrections) {
      const candidate = candidateOf(content, version, level, covering);
      if (candidate !== undefined && (best === undefined || candidate.spare > best.spare)) best = candidate;
    }
    if (best !== undefined && best.spare >= sparePart[errorCorrection]) break;
  }
  return best === undefined ? plain : fill(content, best);
}

interface Candidate {
  readonly version: number;
  readonly level: ErrorCorrection;
  readonly seen: Int8Array;
  readonly modules: readonly (readonly number[])[];
  readonly blocks: readonly Block[];
  /** Codewords that hold the text: the first of the sequence of data. */
  readonly textCount: number;
  /** The part of a block that can still be wrong beside what is covered, in the block where it is least. */
  readonly spare: number;
}

function candidateOf(
  content: string,
  version: number,
  level: ErrorCorrection,
  covering: Covering,
): Candidate | undefined {
  const code = encode(content, version, level, 0);
  if (code === undefined) return undefined;
  const { size, reservedBit } = code.modules;
  const seen = covering(size);
  const modules = modulesOfCodewords(size, reservedBit);
  const blocks = blocksOf(version, level, modules.length);
  const textCount = textCodewords(code);
  const spares = divide(blocks, textCount).map(({ block, text }) => {
    const free = block.dataCount - text;
    const covered = block.places.map((place) => coveredBits(modules[place], seen) > 0);
    const coveredText = covered.filter((isCovered, index) => isCovered && index < text).length;
    const coveredOthers = covered.filter((isCovered, index) => isCovered && index >= text).length;
    const correctable = Math.floor((block.places.length - block.dataCount) / 2);
    return (correctable - coveredText - Math.max(0, coveredOthers - free)) / block.places.length;
  });
  return { version, level, seen, modules, blocks, textCount, spare: Math.min(...spares) };
}

/** The blocks with the number of codewords at their beginning that hold text. */
function divide(blocks: readonly Block[], textCount: number): { block: Block; text: number }[] {
  let left = textCount;
  return blocks.map((block) => {
    const text = Math.min(left, block.dataCount);
    left -= text;
    return { block, text };
  });
}

function fill(content: string, { version, level, seen, modules, blocks, textCount }: Candidate): Matrix {
  const code = encode(content, version, level);
  const mask = code?.maskPattern;
  if (code === undefined || mask === undefined) throw new Error("a code that fitted fits no more");
  const { size, data } = code.modules;
  for (const { block, text } of divide(blocks, textCount)) {
    const places = block.places.map((place) => modules[place] ?? []);
    const isDark = (module: number) => ((data[module] ?? 0) ^ maskBit(mask, size, module)) === 1;
    const looksDark = (module: number) => {
      const shade = seen[module] ?? -1;
      return shade === -1 ? isDark(module) : (shade ^ maskBit(mask, size, module)) === 1;
    };
    const kept = keptOf(block, text, (index) => coveredBits(places[index], seen));
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

/** Which codewords of a block decide the others: the text, then the most covered, then what comes first. */
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
  maskPattern?: 0,
): QRCode | undefined {
  try {
    return create(content, { version, errorCorrectionLevel, maskPattern });
  } catch {
    return undefined;
  }
}

/** Each segment has a mode, a count and its characters; after the last stands a terminator of four bits. */
function textCodewords({ segments, version }: QRCode): number {
  const range = version < 10 ? 0 : version < 27 ? 1 : 2;
  const bits = segments.reduce(
    (sum, segment) => sum + 4 + (segment.mode.ccBits[range] ?? 16) + segment.getBitsLength(),
    4,
  );
  return Math.ceil(bits / 8);
}

function coveredBits(modules: readonly number[] | undefined, seen: Int8Array): number {
  return modules?.filter((module) => seen[module] !== -1).length ?? 0;
}

function byteOf(modules: readonly number[], isSet: (module: number) => boolean): number {
  return modules.reduce((byte, module) => (byte << 1) | (isSet(module) ? 1 : 0), 0);
}
