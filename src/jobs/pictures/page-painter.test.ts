import { execFile } from "node:child_process";
import { promisify } from "node:util";
import fc from "fast-check";
import sharp from "sharp";
import { expect, test } from "vitest";
import { hostileTexts } from "../../../test/pages/hostile.ts";
import { randomStyling } from "../../../test/pages/random-themes.ts";
import { builtInThemes } from "../../model/look/built-in-themes.ts";
import { pageTheme } from "../../model/look/page-theme.ts";
import { drawPage } from "../../pages/picture/draw-page.ts";
import { createPainter, scale } from "./page-painter.ts";

async function drawn(styling: unknown, cover?: Buffer): Promise<string> {
  return drawPage(pageTheme(styling), cover !== undefined, createPainter({ cover, badge: cover }));
}

async function painted(svg: string) {
  const picture = sharp(Buffer.from(svg), { density: 72 * scale });
  return picture.removeAlpha().raw().toBuffer({ resolveWithObject: true });
}

const colors = (list: readonly string[], more = {}) => ({
  type: "THEME_COLOR_TYPE_LINEAR",
  colors: list,
  ...more,
});
const many = Array.from({ length: 10_000 }, (_, index) => `hsl(${index % 360} 50% 50%)`);

/** Stylings as nobody makes them by hand, all values at their bounds and beyond. */
const extremes: readonly object[] = [
  { canvasColor: colors(many), elementColor: colors(many, { direction: "37.5grad" }) },
  { canvasColor: colors(["#000", "#fff"], { stops: ["-9999px", "9999%"], direction: "to top left" }) },
  {
    titleFont: { fontSize: 96, bold: true },
    bodyFont: { fontSize: 96, italic: true, family: "PAGE_THEME_FONT_FAMILY_COURIER_NEW" },
    elementFont: { fontSize: 96 },
    badgeEnabled: true,
  },
  ...["GROOVE", "RIDGE", "DOTTED", "DOUBLE", "DASHED"].map((style) => ({
    containerEnabled: true,
    containerConfig: {
      variant: "PAGE_THEME_CONTAINER_VARIANT_ROUNDED",
      borderStyle: `PAGE_THEME_BORDER_STYLE_${style}`,
      borderSize: 5_000,
    },
  })),
  ...hostileTexts.map((text) => ({
    canvasColor: colors([text, "#fff", text], { direction: text, stops: [text] }),
    titleFont: { family: text, familyStack: text, color: colors([text]) },
    containerEnabled: true,
    containerConfig: { variant: text, borderStyle: text, borderSize: 1e9 },
  })),
];

test("any theme gives a picture of one size, drawn from nothing but shapes and data of its own", async () => {
  const cover = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#abc" } })
    .png()
    .toBuffer();
  const random = fc.sample(randomStyling, { seed: 20_261_122, numRuns: 20 });
  const sizes = new Set<string | undefined>();
  for (const [index, styling] of [...extremes, ...random].entries()) {
    const svg = await drawn(styling, index % 2 === 0 ? cover : undefined);
    const elements = new Set([...svg.matchAll(/<([^/\s>]+)/g)].map(([, name = ""]) => name));
    for (const name of elements)
      expect([
        "svg",
        "rect",
        "path",
        "image",
        "mask",
        "clipPath",
        "linearGradient",
        "radialGradient",
        "stop",
      ]).toContain(name);
    for (const [, address = ""] of svg.matchAll(/href="([^"]*)"/g))
      expect(address).toMatch(/^data:image\/(png|jpeg);base64,/);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    sizes.add(/^<svg [^>]*>/.exec(svg)?.[0]);
    // Painting takes far longer than drawing.
    if (index % 4 > 0) continue;
    const { info } = await painted(svg);
    expect(info).toMatchObject({ width: 585, height: 876 });
  }
  expect(sizes.size).toBe(1);
});

test("a machine without any font paints the same texts", async () => {
  const stylings = builtInThemes.map(({ styling }) => styling);
  const here = await Promise.all(stylings.map((styling) => drawn(styling)));
  const program = `
    import { pageTheme } from ${JSON.stringify(new URL("../../model/look/page-theme.ts", import.meta.url).href)};
    import { drawPage } from ${JSON.stringify(new URL("../../pages/picture/draw-page.ts", import.meta.url).href)};
    import { createPainter } from ${JSON.stringify(new URL("./page-painter.ts", import.meta.url).href)};
    const svgs = [];
    for (const styling of ${JSON.stringify(stylings)}) svgs.push(await drawPage(pageTheme(styling), false, createPainter({})));
    process.stdout.write(JSON.stringify(svgs));`;
  const env = { FONTCONFIG_FILE: "/nonexistent", FONTCONFIG_PATH: "/nonexistent", HOME: "/nonexistent" };
  const run = promisify(execFile);
  const options = { env, maxBuffer: 10_000_000 };
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], options);
  expect(JSON.parse(stdout)).toEqual(here);
});
