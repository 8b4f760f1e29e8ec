import { describe, expect, test } from "vitest";
import { samplePicture } from "../../../test/qr/samples.ts";
import { type Color, white } from "../../lib/color.ts";
import { type Design, defaultDesign, type Fill, solid } from "../drawing/design.ts";
import { gradeDesign, isDesignReadable, verifyDesign } from "./verify.ts";
import { verifyInThread } from "./verify-thread.ts";

const content = "https://sho.rt/4BnH-R19p?qr";

function color(red: number, green: number, blue: number): Color {
  return { red, green, blue, alpha: 1 };
}

function painted(paint: Fill): Design {
  const { dots, cornersSquare, cornersDot } = defaultDesign;
  return {
    ...defaultDesign,
    dots: { ...dots, paint },
    cornersSquare: { ...cornersSquare, paint },
    cornersDot: { ...cornersDot, paint },
  };
}

test("reads a plain code in every condition, which is grade A with nothing to change, the same each time and when only the verdict is asked for", async () => {
  const first = await verifyDesign(content, defaultDesign);
  expect(await isDesignReadable(content, defaultDesign)).toBe(true);
  expect(first).toMatchObject({
    grade: "A",
    readable: true,
    failingCase: undefined,
    causes: [],
    changes: [],
  });
  expect(first.score).toBeGreaterThan(95);
  expect(first.cases).toHaveLength(28);
  // At this blur, jsQR reads half of all plain codes.
  const hardest = { name: "strongly blurred", reader: "jsqr", passed: false };
  expect([[], [hardest]]).toContainEqual(first.cases.filter(({ passed }) => !passed));
  expect(first.classes.map(({ readerClass, passed }) => [readerClass, passed])).toEqual([
    ["PHONE", true],
    ["WEB", true],
    ["MACHINE_VISION", true],
  ]);
  expect(await verifyDesign(content, structuredClone(defaultDesign))).toEqual(first);
});

describe("grades a design by who reads it:", () => {
  const { cornersSquare, cornersDot } = defaultDesign;
  const centralImage = { png: samplePicture, size: 0.45, margin: 0, hideBackgroundDots: true };
  const blue = solid(color(130, 140, 200));

  test.each<[string, Partial<Design>, string]>([
    [
      "frames with round corners",
      { cornersSquare: { ...cornersSquare, type: "DOT" } },
      "cornersSquareOptions.sharpCorners",
    ],
    ["a round code", { shape: "CIRCLE" }, "shape"],
    ["a dim background", { background: solid(color(190, 190, 190)) }, "backgroundOptions.themeColor.colors"],
    ["hexagons in the corners", { cornersDot: { ...cornersDot, type: "HEXAGON" } }, "cornersDotOptions.type"],
    ["modules of few pixels", { width: 110, height: 110 }, "width, height"],
    ["a large picture", { centralImage }, "centralImageSize"],
    [
      "a picture with a wide margin",
      { centralImage: { ...centralImage, size: 0.2, margin: 20 } },
      "centralImageMargin",
    ],
    ["dots of little contrast", { dots: { type: "SQUARE", paint: blue } }, "dotsOptions.themeColor.colors"],
  ])("%s are B, and the one change that is named makes them A", async (_, part, field) => {
    const design = { ...defaultDesign, ...part };
    const { scannability: verdict, steps } = await gradeDesign(content, design);
    expect(verdict).toMatchObject({ grade: "B", readable: true, causes: [] });
    expect(verdict.changes.map((change) => change.field)).toEqual([field]);
    expect(verdict.classes.find(({ readerClass }) => readerClass === "MACHINE_VISION")).toMatchObject({
      passed: false,
      margin: 0,
    });
    const changed = steps.reduce((before, { apply }) => apply(before), design);
    expect(await verifyDesign(content, changed)).toMatchObject({ grade: "A", changes: [] });
  });

  test("a picture as small as the alignment pattern behind it is B, and a larger one makes it A", async () => {
    const long = `https://sho.rt/${"4BnH-R19p".repeat(8)}?qr`;
    const design: Design = { ...defaultDesign, centralImage: { ...centralImage, size: 0.1 } };
    const { scannability: verdict, steps } = await gradeDesign(long, design);
    expect(verdict).toMatchObject({ grade: "B", changes: [{ field: "centralImageSize" }] });
    const changed = steps.reduce((before, { apply }) => apply(before), design);
    expect(await verifyDesign(long, changed)).toMatchObject({ grade: "A", changes: [] });
  });

  test("a picture that is too large is C, also when only the verdict is asked for, and the first smaller size that is read is named", async () => {
    const covered = { ...centralImage, size: 0.5, margin: 120 };
    const verdict = await verifyDesign(content, { ...defaultDesign, centralImage: covered });
    expect(verdict).toMatchObject({ grade: "C", readable: false });
    expect(await isDesignReadable(content, { ...defaultDesign, centralImage: covered })).toBe(false);
    for (const { field, value } of verdict.changes) {
      expect(field).toBe("centralImageSize");
      const smaller = { ...defaultDesign, centralImage: { ...covered, size: Number(value) } };
      expect(await isDesignReadable(content, smaller)).toBe(true);
    }
  });
});

describe("names what makes a design unreadable, in a designer's words:", () => {
  const readableParts: Partial<Design> = { dots: { type: "ROUNDED", paint: defaultDesign.dots.paint } };

  test("dots hardly darker than the background, even where both readers manage", async () => {
    const verdict = await verifyDesign(content, painted(solid(color(210, 205, 215))));
    expect(verdict.readable).toBe(false);
    expect(await isDesignReadable(content, painted(solid(color(210, 205, 215))))).toBe(false);
    expect(verdict.score).toBeLessThan(50);
    expect(verdict.causes.map(({ cause }) => cause)).toEqual(["CONTRAST"]);
    expect(verdict.causes[0]?.message).toContain("The dots (#d2cdd7) and the background (#ffffff)");
  });

  test("one pale color of a gradient", async () => {
    const stops = [
      { offset: 0, color: color(0, 0, 80) },
      { offset: 1, color: color(240, 240, 120) },
    ];
    const design = {
      ...defaultDesign,
      cornersDot: { type: "DOT" as const, paint: { type: "RADIAL" as const, stops } },
    };
    const verdict = await verifyDesign(content, design);
    expect(verdict).toMatchObject({ readable: false, causes: [{ cause: "CONTRAST" }] });
    expect(verdict.causes[0]?.message).toContain("The middles of the corners (#f0f078)");
  });

  test("middles of the corners that look light within much darker frames", async () => {
    const middle = solid(color(120, 120, 120));
    const design = { ...defaultDesign, cornersDot: { type: "STAR" as const, paint: middle } };
    const verdict = await verifyDesign(content, design);
    expect(verdict).toMatchObject({
      readable: false,
      causes: [{ cause: "CONTRAST" }],
    });
    expect(verdict.causes[0]?.message).toContain("so much lighter than their frames");
    // In frames of their own color, the middles are dark enough.
    const evenly = { ...design, cornersSquare: { ...design.cornersSquare, paint: middle } };
    expect(await isDesignReadable(content, evenly)).toBe(true);
  });

  test("light dots on a dark background", async () => {
    const design = { ...painted(solid(white)), background: solid(color(10, 10, 30)) };
    const verdict = await verifyDesign(content, design);
    expect(verdict).toMatchObject({ readable: false, causes: [{ cause: "CONTRAST" }] });
    expect(verdict.causes[0]?.message).toContain("Swap the colors");
  });

  test("a picture that covers more than can be corrected", async () => {
    const centralImage = { png: samplePicture, size: 0.5, margin: 60, hideBackgroundDots: true };
    const long = "https://links.a-rather-long-name.example.com/spring-campaign?qr";
    const verdict = await verifyDesign(long, { ...defaultDesign, ...readableParts, centralImage });
    expect(verdict.readable).toBe(false);
    expect(verdict.causes.map(({ cause }) => cause)).toContain("COVERED_AREA");
    const [message] = verdict.causes.filter(({ cause }) => cause === "COVERED_AREA");
    expect(message?.message).toContain("50 % of its side and a margin of 60 pixels");
  });

  test("an image too small for its content", async () => {
    const design = { ...defaultDesign, ...readableParts, width: 64, height: 64 };
    const verdict = await verifyDesign(`https://example.com/${"a1B2c3".repeat(20)}`, design);
    expect(verdict.readable).toBe(false);
    expect(verdict.failingCase).toBe("as drawn");
    expect(verdict.causes.map(({ cause }) => cause)).toContain("MODULE_SIZE");
  });
});

test("refuses content that no code holds", async () => {
  await expect(verifyDesign("x".repeat(3000), defaultDesign)).rejects.toThrow(RangeError);
});

test("in the thread, verifies the same code once, and one that differs in its content, look or picture anew", async () => {
  const { signal } = new AbortController();
  const centralImage = { png: samplePicture, size: 0.2, margin: 0, hideBackgroundDots: true };
  const design = { ...defaultDesign, centralImage };
  const first = await verifyInThread(content, design, signal);
  expect(await verifyInThread(content, structuredClone(design), signal)).toBe(first);
  // A byte after the picture's end changes nothing that is seen.
  const png = Buffer.concat([samplePicture, Buffer.of(0)]);
  for (const [text, other] of [
    [`${content}&x`, design],
    [content, { ...design, width: 600 }],
    [content, { ...design, centralImage: { ...centralImage, png } }],
  ] as const)
    expect(await verifyInThread(text, other, signal)).not.toBe(first);
});
