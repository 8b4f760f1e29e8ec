import { createHash } from "node:crypto";
import { builtInDesigns } from "../../../src/qr/designs/built-in-designs.ts";
import { storedDesign } from "../../../src/qr/designs/stored-design.ts";
import { codeOf } from "../../../src/qr/drawing/code.ts";
import {
  cornersDotTypes,
  cornersSquareTypes,
  type Design,
  defaultDesign,
  dotsTypes,
} from "../../../src/qr/drawing/design.ts";
import { machineVisionOf } from "../../../src/qr/gate/grade.ts";
import { isDesignReadable, stepsToEveryReader, verifyDesign } from "../../../src/qr/gate/verify.ts";
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

/**
 * A row for each style: its grade, how many of `count` codes each reader reads as drawn, and of every hundred distorted
 * ones, and the distortions under which phones read less than eight of ten of what they read of a plain code.
 */
export async function matrixOf(readers: ForeignReaders, count: number): Promise<string[][]> {
  const rows = [["style", "grade", ...readerPrograms, ...readerPrograms.map((one) => `${one} %`), "weak"]];
  let plain: Counts | undefined;
  for (const [name, design] of styles()) {
    const counts = await countsOf(readers, design, count);
    plain ??= counts;
    const { grade } = await verifyDesign(contentOf(0), design);
    const drawn = readerPrograms.map((reader) => String(counts.get(asDrawn)?.[reader]));
    const part = readerPrograms.map((reader) =>
      String(Math.round(distortedPart(counts, reader, count) * 100)),
    );
    rows.push([name, grade, ...drawn, ...part, weaknesses(counts, plain).join(", ")]);
  }
  return rows;
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

function distortedPart(counts: Counts, reader: ReaderProgram, count: number): number {
  const read = distortions.reduce((sum, { name }) => sum + (counts.get(name)?.[reader] ?? 0), 0);
  return read / (distortions.length * count);
}

const phones = ["zbar", "zxing-java", "zxing-cpp"] as const;

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
}

/**
 * Grades random designs, and reads them as drawn. Hardly any random design is of grade A, so those of grade B are also
 * changed as the gate says. A reader misses a code when it reads the plain code of the same address. `missed` describes
 * what readers miss of grade A.
 */
export async function gradeRandom(
  readers: ForeignReaders,
  { seed, count }: { readonly seed: number; readonly count: number },
  tell: (progress: string) => void,
): Promise<{ counts: ReadonlyMap<Kind, KindCount>; missed: string[] }> {
  const counts = new Map(kinds.map((kind) => [kind, noneRead()]));
  const missed: string[] = [];
  const add = async (kind: Kind, content: string, design: Design) => {
    const pixels = (await viewsOf(content, design, [])).get(asDrawn);
    const total = counts.get(kind);
    if (pixels === undefined || total === undefined) throw new Error("a code was not drawn");
    const texts = await readers.read(pixels);
    const plain = { ...defaultDesign, errorCorrection: design.errorCorrection };
    const beside = (await viewsOf(content, plain, [])).get(asDrawn);
    const plainTexts = beside && (await readers.read(beside));
    // OpenCV misses some addresses in whatever design.
    const without = readerPrograms.filter((one) => texts[one] !== content && plainTexts?.[one] === content);
    total.drawn += 1;
    for (const one of without) total.missedBy[one] += 1;
    if (without.length > 0) total.missedByAny += 1;
    if (without.length > 0 && kind.startsWith("A"))
      missed.push(`${without.join()} misses ${described(design)}`);
  };
  const designs = randomDesigns(seed);
  for (let index = 0; index < count; index++) {
    const { content, design } = designs.next().value;
    if (index % 50 === 49) tell(`${index + 1} random designs read`);
    // The causes of a failure take seconds.
    if (!(await isDesignReadable(content, design))) {
      await add("C", content, design);
      continue;
    }
    const { grade, classes } = await verifyDesign(content, design);
    await add(grade, content, design);
    if (grade !== "B") continue;
    const { size } = await codeOf(content, design);
    const steps = stepsToEveryReader(design, machineVisionOf(size, design).steps, classes);
    const changed = steps.reduce((before, { apply }) => apply(before), design);
    const after = await verifyDesign(content, changed);
    await add(after.grade === "A" ? "A after the named changes" : "still B", content, changed);
  }
  return { counts, missed };
}

function noneRead(): KindCount {
  const missedBy = { opencv: 0, quirc: 0, zbar: 0, "zxing-java": 0, "zxing-cpp": 0, jsqr: 0 };
  return { drawn: 0, missedBy, missedByAny: 0 };
}

export function kindRows(counts: ReadonlyMap<Kind, KindCount>): string[][] {
  const rows = [...counts].map(([kind, { drawn, missedBy, missedByAny }]) => [
    kind,
    String(drawn),
    ...readerPrograms.map((one) => String(missedBy[one])),
    String(missedByAny),
  ]);
  return [["grade", "drawn", ...readerPrograms.map((one) => `not by ${one}`), "not by all"], ...rows];
}

function described(design: Design): string {
  return JSON.stringify(design, (key, value: unknown) => (key === "png" ? undefined : value));
}
