import { expect, test } from "vitest";
import { defaultDesign } from "./design.ts";
import { storedDesign } from "./stored-design.ts";

test("takes the defaults for what is unset, in every way to be unset", () => {
  const zeros = {
    width: 0,
    height: 0,
    errorCorrectionLevel: "",
    outputFileFormat: "OUTPUT_FILE_FORMAT_UNSPECIFIED",
  };
  for (const options of [undefined, null, [], "text", {}, zeros, { errorCorrectionLevel: "constructor" }])
    expect(storedDesign(options)).toEqual({ design: defaultDesign, format: "PNG" });
});

test("reads size, error correction and format by the contract's names", () => {
  const options = {
    width: 64,
    height: 4096,
    errorCorrectionLevel: "L",
    outputFileFormat: "OUTPUT_FILE_FORMAT_SVG",
  };
  const design = { ...defaultDesign, width: 64, height: 4096, errorCorrection: "L" };
  expect(storedDesign(options)).toEqual({ design, format: "SVG" });
});
