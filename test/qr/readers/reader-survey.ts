import { createHash } from "node:crypto";
import { builtInDesigns } from "../../../src/qr/designs/built-in-designs.ts";
import { storedDesign } from "../../../src/qr/designs/stored-design.ts";
import {
  cornersDotTypes,
  cornersSquareTypes,
  type Design,
  defaultDesign,
  dotsTypes,
} from "../../../src/qr/drawing/design.ts";
import type { Grade } from "../../../src/qr/gate/judgement.ts";
import { gradeDesign, isDesignReadable, verifyDesign } from "../../../src/qr/gate/verify.ts";
import { randomDesigns } from "../random-designs.ts";
import { samplePicture } from "../samples.ts";
import { asDrawn, distortions, viewsOf } from "./distortions.ts";
import { type ForeignReaders, type ReaderProgram, readerPrograms } from "./foreign-readers.ts";

/** How often each reader read a style: as it is drawn, and under each distortion. */
type Counts = Map<string, Record<ReaderProgram, number>>;

/** Every form of every part by itself, pictures, and the built-in designs; a plain code comes first. */
export function styles(): Map<string, Design> {
  const found = new Map<string, Design>([["plain", defaultDesign]]);
  const { dots, cornersSquare, cornersDot } = defaultDesign;
  for (const type of dotsTypes.slice(1))
    found.set(`dots ${type}`, { ...defaultDesign, dots: { ...dots, type } });
  for (const type of cornersSquareTypes.slice(1)) {
    for (const hasSharpCorners of [false, true])
      found.set(`${hasSharpCorners ? "sharp " : ""}frame ${type}`, {
        ...defaultDesign,
        cornersSquare: { ...cornersSquare, type, hasSharpCorners },
      });
  }
  for (const type of cornersDotTypes.slice(1))
    found.set(`middle ${type}`, { ...defaultDesign, cornersDot: { ...cornersDot, type } });
  found.set("circle", { ...defaultDesign, shape: "CIRCLE" });
  for (const size of [0.2, 0.3, 0.4, 0.5]) {
    const centralImage = { png: samplePicture, size, margin: 0, hideBackgroundDots: true };
    found.set(`picture ${size}`, { ...defaultDesign, centralImage });
  }
  for (const { slug, options } of builtInDesigns) found.set(`built-in ${slug}`, storedDesign(options).design);
  return found;
}

const phones: readonly ReaderProgram[] = ["zbar", "zxing-java", "zxing-cpp"];

/** Who reads a style under the distortions, and at least how much of what they read of the plain code. */
const promises: Readonly<
  Partial<Record<Grade, { readonly by: readonly ReaderProgram[]; readonly part: number }>>
> = { A: { by: readerPrograms, part: 0.9 }, B: { by: phones, part: 0.8 } };

/** With fewer codes, one reading decides. */
const codesToJudge = 3;

/**
 * A row for each style: its grade, how many of `count` codes each reader reads as drawn, and of every hundred distorted
 * ones, the same beside a hundred of the plain code for all readers and for phones, and the distortions under which
 * phones read less than eight of ten of these. `missed` names the styles that are read less than their grade promises,
 * once there are codes enough to tell.
 */
export async function matrixOf(
  readers: ForeignReaders,
  count: number,
): Promise<{ rows: string[][]; missed: string[] }> {
  const each = readerPrograms.map((one) => `${one} %`);
  const rows = [["style", "grade", ...readerPrograms, ...each, "all, of plain", "phones, of plain", "weak"]];
  const missed: string[] = [];
  let plain: Counts | undefined;
  for (const [name, design] of styles()) {
    const counts = await countsOf(readers, design, count);
    const beside = plain ?? counts;
    plain = beside;
    const { grade } = await verifyDesign(contentOf(0), design);
    const drawn = readerPrograms.map((reader) => String(counts.get(asDrawn)?.[reader]));
    const parts = readerPrograms.map((reader) => distortedPart(counts, [reader], count));
    const partOf = (programs: readonly ReaderProgram[]) =>
      distortedPart(counts, programs, count) / distortedPart(beside, programs, count);
    const shares = [...parts, partOf(readerPrograms), partOf(phones)].map((part) =>
      String(Math.round(part * 100)),
    );
    rows.push([name, grade, ...drawn, ...shares, weaknesses(counts, beside).join(", ")]);
    const promise = promises[grade];
    if (count >= codesToJudge && promise !== undefined && partOf(promise.by) < promise.part)
      missed.push(`${name} is read less than grade ${grade} promises`);
  }
  return { rows, missed };
}

async function countsOf(readers: ForeignReaders, design: Design, count: number): Promise<Counts> {
  const counts: Counts = new Map();
  for (let index = 0; index < count; index++) {
    const content = contentOf(index);
    for (const [view, pixels] of await viewsOf(content, design)) {
      const texts = await readers.read(pixels);
      const before = counts.get(view);
      const entries = readerPrograms.map((one) => [
        one,
        (before?.[one] ?? 0) + (texts[one] === content ? 1 : 0),
      ]);
      counts.set(view, Object.fromEntries(entries) as Record<ReaderProgram, number>);
    }
  }
  return counts;
}

function distortedPart(counts: Counts, programs: readonly ReaderProgram[], count: number): number {
  const read = distortions.reduce(
    (sum, { name }) => sum + programs.reduce((own, one) => own + (counts.get(name)?.[one] ?? 0), 0),
    0,
  );
  return read / (distortions.length * programs.length * count);
}

function weaknesses(counts: Counts, plain: Counts): string[] {
  const readByPhones = (some: Counts, name: string) =>
    phones.reduce((sum, reader) => sum + (some.get(name)?.[reader] ?? 0), 0);
  return distortions
    .map(({ name }) => name)
    .filter((name) => readByPhones(counts, name) < 0.8 * readByPhones(plain, name));
}

/** Links like those that the service makes, the same in every run. */
function contentOf(index: number): string {
  const path = createHash("sha256").update(String(index)).digest("base64url").slice(0, 9);
  return `https://sho.rt/${path}?qr`;
}

const kinds = ["A", "B", "C", "A after the named changes", "still B"] as const;
type Kind = (typeof kinds)[number];

export interface KindCount {
  drawn: number;
  readonly missedBy: Record<ReaderProgram, number>;
  missedByAny: number;
  readByPhones: number;
}

/**
 * Grades random designs, and reads them as drawn. Few random designs are of grade A, so those of grade B are also
 * changed as the gate says. `missed` describes what a reader misses of grade A.
 */
export async function gradeRandom(
  readers: ForeignReaders,
  { seed, count }: { readonly seed: number; readonly count: number },
  tell: (done: number, counts: ReadonlyMap<Kind, KindCount>, missed: readonly string[]) => void,
): Promise<void> {
  const counts = new Map(kinds.map((kind) => [kind, noneRead()]));
  const missed: string[] = [];
  const add = async (kind: Kind, content: string, design: Design) => {
    const pixels = (await viewsOf(content, design, [])).get(asDrawn);
    const total = counts.get(kind);
    if (pixels === undefined || total === undefined) throw new Error("a code was not drawn");
    const texts = await readers.read(pixels);
    const without = readerPrograms.filter((one) => texts[one] !== content);
    total.drawn += 1;
    for (const one of without) total.missedBy[one] += 1;
    if (without.length > 0) total.missedByAny += 1;
    if (!phones.some((one) => without.includes(one))) total.readByPhones += 1;
    if (without.length > 0 && kind.startsWith("A"))
      missed.push(`${without.join()} misses ${content} ${described(design)}`);
  };
  const designs = randomDesigns(seed);
  for (let index = 0; index < count; index++) {
    const { content, design } = designs.next().value;
    if (index % 50 === 0 && index > 0) tell(index, counts, missed);
    // The causes of a failure take seconds.
    if (!(await isDesignReadable(content, design))) {
      await add("C", content, design);
      continue;
    }
    const { scannability, steps } = await gradeDesign(content, design);
    await add(scannability.grade, content, design);
    if (scannability.grade !== "B") continue;
    const changed = steps.reduce((before, { apply }) => apply(before), design);
    const isRaised = steps.length > 0 && (await verifyDesign(content, changed)).grade === "A";
    await add(isRaised ? "A after the named changes" : "still B", content, changed);
  }
  tell(count, counts, missed);
}

function noneRead(): KindCount {
  const missedBy = { opencv: 0, quirc: 0, zbar: 0, "zxing-java": 0, "zxing-cpp": 0, jsqr: 0 };
  return { drawn: 0, missedBy, missedByAny: 0, readByPhones: 0 };
}

export function kindRows(counts: ReadonlyMap<Kind, KindCount>): string[][] {
  const rows = [...counts].map(([kind, { drawn, missedBy, missedByAny, readByPhones }]) => [
    kind,
    String(drawn),
    ...readerPrograms.map((one) => String(missedBy[one])),
    String(missedByAny),
    String(readByPhones),
  ]);
  const heads = readerPrograms.map((one) => `not by ${one}`);
  return [["grade", "drawn", ...heads, "not by all", "by all phones"], ...rows];
}

function described(design: Design): string {
  return JSON.stringify(design, (key, value: unknown) => (key === "png" ? undefined : value));
}
