import { create } from "qrcode";
import { expect, test } from "vitest";
import { readWithZxing } from "../../../test/support/qr-readers.ts";
import { black, white } from "../../lib/color.ts";
import { blocksOf, maskBit, modulesOfCodewords } from "./codewords.ts";
import { complete } from "./galois.ts";
import { errorCorrections, type Matrix } from "./matrix.ts";
import { plainPng } from "./plain-png.ts";
import { type Covering, matrixBehind, moduleSeen } from "./room.ts";

const content = "https://sho.rt/4BnH-R19p?qr";

/** A square in the middle, `share` of the code's side, where every module looks the same. */
function square(share: number, look: number): Covering {
  return (size) => {
    const [from, to] = [((1 - share) / 2) * size, ((1 + share) / 2) * size];
    const isInside = (place: number) => place + 1 > from && place < to;
    return Int8Array.from({ length: size * size }, (_, module) =>
      isInside(Math.floor(module / size)) && isInside(module % size) ? look : moduleSeen.code,
    );
  };
}

function seenBehind(matrix: Matrix, covering: Covering): Matrix {
  const view = covering(matrix.size);
  const modules = matrix.modules.map((module, index) => {
    const look = view[index] ?? moduleSeen.code;
    return look === moduleSeen.code ? module : look;
  });
  return { size: matrix.size, modules };
}

function read(matrix: Matrix): Promise<string[]> {
  return readWithZxing(plainPng(matrix, { width: 600, height: 600, dark: black, light: white }));
}

test.each([
  ["light", moduleSeen.light],
  ["dark", moduleSeen.dark],
])("a code behind a %s square of half its side is read, with and without the square", async (_, look) => {
  const covering = square(0.5, look);
  const matrix = matrixBehind(content, "Q", covering);
  expect(await read(matrix)).toEqual([content]);
  expect(await read(seenBehind(matrix, covering))).toEqual([content]);
});

test("what is seen of a picture of a third of the side is the code itself, but for few modules", () => {
  for (const look of [moduleSeen.light, moduleSeen.dark]) {
    const covering = square(0.33, look);
    const matrix = matrixBehind(content, "Q", covering);
    const view = covering(matrix.size);
    const covered = view.filter((one) => one === look).length;
    const differing = seenBehind(matrix, covering).modules.filter(
      (one, index) => one !== matrix.modules[index],
    );
    expect(covered).toBeGreaterThan(80);
    expect(differing.length).toBeLessThan(covered / 10);
  }
});

test("a code with nothing in front of it holds the same text", async () => {
  for (const level of errorCorrections) {
    const matrix = matrixBehind(content, level, (size) => new Int8Array(size * size).fill(moduleSeen.code));
    expect(await read(matrix)).toEqual([content]);
  }
});

test("the correction of every block of every version and level is as the encoder computes it", () => {
  for (let version = 1; version <= 40; version++) {
    for (const errorCorrectionLevel of errorCorrections) {
      const { modules, maskPattern = 0 } = create("A1", { version, errorCorrectionLevel });
      const places = modulesOfCodewords(modules.size, modules.reservedBit);
      const codewords = places.map((bits) =>
        bits.reduce(
          (byte, module) =>
            (byte << 1) | ((modules.data[module] ?? 0) ^ maskBit(maskPattern, modules.size, module)),
          0,
        ),
      );
      const blocks = blocksOf(version, errorCorrectionLevel, codewords.length);
      expect(blocks.flatMap((block) => block.places).toSorted((a, b) => a - b)).toEqual(
        codewords.map((_, index) => index),
      );
      for (const block of blocks) {
        const own = Uint8Array.from(block.places, (place) => codewords[place] ?? 0);
        const computed = own.slice();
        computed.fill(0, block.dataCount);
        complete(computed, block.places.map((_, index) => index).slice(block.dataCount));
        expect(computed).toEqual(own);
      }
    }
  }
});
