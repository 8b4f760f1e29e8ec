import { describe, expect, test } from "vitest";
import { samplePicture } from "../../../test/qr/samples.ts";
import { black } from "../../lib/color.ts";
import { readColor } from "../drawing/color.ts";
import {
  cornersDotTypes,
  cornersSquareTypes,
  defaultDesign,
  dotsTypes,
  imageFormats,
  solid,
} from "../drawing/design.ts";
import { readPaint, storedDesign } from "./stored-design.ts";

const blue = { red: 0, green: 0, blue: 255, alpha: 1 };

test("takes the defaults for what is unset, in every way to be unset", () => {
  const zeros = {
    shape: "SHAPE_UNSPECIFIED",
    dotsOptions: { type: "DOTS_TYPE_UNSPECIFIED" },
    cornersSquareOptions: { type: "CORNERS_SQUARE_TYPE_UNSPECIFIED", themeColor: { colors: [] } },
    cornersDotOptions: { type: "CORNERS_DOT_TYPE_UNSPECIFIED", themeColor: { colors: ["nonsense"] } },
    backgroundOptions: {},
    centralImageSize: 0,
    width: 0,
    height: 0,
    errorCorrectionLevel: "",
    outputFileFormat: "OUTPUT_FILE_FORMAT_UNSPECIFIED",
  };
  for (const options of [undefined, null, [], "text", {}, zeros, { errorCorrectionLevel: "constructor" }])
    expect(storedDesign(options)).toEqual({ design: defaultDesign, format: "PNG" });
});

test("reads every form, format, size and level by the contract's names", () => {
  for (const type of dotsTypes)
    expect(storedDesign({ dotsOptions: { type: `DOTS_TYPE_${type}` } }).design.dots.type).toBe(type);
  for (const type of cornersSquareTypes) {
    const options = { cornersSquareOptions: { type: `CORNERS_SQUARE_TYPE_${type}` } };
    expect(storedDesign(options).design.cornersSquare.type).toBe(type);
  }
  for (const type of cornersDotTypes)
    expect(
      storedDesign({ cornersDotOptions: { type: `CORNERS_DOT_TYPE_${type}` } }).design.cornersDot.type,
    ).toBe(type);
  for (const format of imageFormats)
    expect(storedDesign({ outputFileFormat: `OUTPUT_FILE_FORMAT_${format}` }).format).toBe(format);
  expect(
    storedDesign({ shape: "SHAPE_CIRCLE", width: 64, height: 4096, errorCorrectionLevel: "L" }).design,
  ).toEqual({
    ...defaultDesign,
    shape: "CIRCLE",
    width: 64,
    height: 4096,
    errorCorrection: "L",
  });
});

test("paints the corners like the dots when they have no color of their own", () => {
  const dots = { themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#0000ff"] } };
  const own = { themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#000"] } };
  const { design } = storedDesign({ dotsOptions: dots, cornersDotOptions: own });
  expect([design.dots.paint, design.cornersSquare.paint, design.cornersDot.paint]).toEqual([
    solid(blue),
    solid(blue),
    solid(black),
  ]);
});

test("gives a code with a picture correction Q at least, and the picture its defaults", () => {
  for (const [level, drawn] of [
    ["L", "Q"],
    ["M", "Q"],
    ["Q", "Q"],
    ["H", "H"],
  ]) {
    const { design } = storedDesign({ errorCorrectionLevel: level }, samplePicture);
    expect(design.errorCorrection).toBe(drawn);
    expect(design.centralImage).toEqual({
      png: samplePicture,
      size: 0.4,
      margin: 0,
      hideBackgroundDots: true,
    });
  }
  const options = { centralImageSize: 0.25, centralImageMargin: 8, hideBackgroundDots: false };
  expect(storedDesign(options, samplePicture).design.centralImage).toEqual({
    png: samplePicture,
    size: 0.25,
    margin: 8,
    hideBackgroundDots: false,
  });
});

test("draws stored sizes out of bounds as near as it can", () => {
  const { design } = storedDesign({ width: 9000, height: 1, centralImageSize: 0.9 }, samplePicture);
  expect([design.width, design.height, design.centralImage?.size]).toEqual([4096, 64, 0.5]);
});

describe("a gradient", () => {
  const colors = ["#000", "#00f", "#000"];
  const offsets = (stops: unknown) => {
    const paint = readPaint({ type: "THEME_COLOR_TYPE_RADIAL", colors, stops });
    return paint?.type === "RADIAL" ? paint.stops.map(({ offset }) => offset) : undefined;
  };

  test("is spread evenly unless every color has a stop, which never fall", () => {
    for (const stops of [undefined, [], ["10%"], ["10%", "big", "30%"]])
      expect(offsets(stops)).toEqual([0, 0.5, 1]);
    expect(offsets(["10%", "20%", "80%"])).toEqual([0.1, 0.2, 0.8]);
    expect(offsets(["0.1", "0.05", "2"])).toEqual([0.1, 0.1, 1]);
  });

  test.each([
    ["", 180],
    ["nonsense", 180],
    ["45deg", 45],
    ["-90deg", 270],
    ["0.25turn", 90],
    ["100grad", 90],
    ["30", 30],
    ["to right", 90],
    ["to top", 0],
    ["to bottom right", 135],
    ["to left top", 315],
    ["to right sideways", 180],
  ])("runs %j at %d degrees", (direction, angle) => {
    const paint = readPaint({ type: "THEME_COLOR_TYPE_LINEAR", colors, direction });
    expect(paint).toMatchObject({ type: "LINEAR", angle });
  });

  test("of one color is solid, and so is a solid color with several", () => {
    const only = readColor("#00f");
    expect(only).toEqual(blue);
    expect(readPaint({ type: "THEME_COLOR_TYPE_LINEAR", colors: ["#00f"] })).toEqual(solid(blue));
    expect(readPaint({ type: "THEME_COLOR_TYPE_SOLID", colors: ["#00f", "#fff"] })).toEqual(solid(blue));
    expect(readPaint({ colors: ["#00f", "#fff"] })).toEqual(solid(blue));
  });
});
