import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { builtInDesigns } from "../../src/qr/designs/built-in-designs.ts";
import { storedDesign } from "../../src/qr/designs/stored-design.ts";
import {
  cornersDotTypes,
  cornersSquareTypes,
  type Design,
  dotsTypes,
  type ImageFormat,
  imageFormats,
  shapes,
} from "../../src/qr/drawing/design.ts";
import { contentTypes, renderImage } from "../../src/qr/drawing/render.ts";
import { verifyDesign } from "../../src/qr/gate/verify.ts";
import { alignColumns } from "../bench/report.ts";
import { startReaders } from "./readers/foreign-readers.ts";
import { gradeRandom, kindRows, matrixOf } from "./readers/reader-survey.ts";
import { designOf, sampleContent, samplePicture } from "./samples.ts";
import { surveyCombinations, surveyRandom } from "./survey.ts";

/*
 * Draws every form, shape and format onto one page for people to look at: `npm run gallery` writes gallery.html, `npm
 * run gallery -- page.html` another file. With `--verify` it instead reads every combination with ZBar and ZXing, and a
 * thousand random designs. It prints the results, and fails when a design that the gate calls readable was not read.
 *
 * With `--readers` it installs OpenCV, quirc and ZXing for Java, reads every form with them and with ZBar, as drawn and
 * distorted, and grades random designs. It fails when a reader misses one of grade A, or when a form is read less than
 * its grade promises beside the plain code. `--codes` says how many addresses each form gets, `--random` how many random
 * designs are drawn, and `--seed` which.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    verify: { type: "boolean", default: false },
    readers: { type: "boolean", default: false },
    codes: { type: "string", default: "3" },
    random: { type: "string", default: "100" },
    seed: { type: "string", default: "20261122" },
  },
});

const base = designOf({
  dots: "SQUARE",
  cornersSquare: "SQUARE",
  cornersDot: "SQUARE",
  shape: "SQUARE",
  format: "SVG",
  side: 400,
  imageSize: 0,
});

if (values.verify) {
  const combinations = await surveyCombinations(console.error);
  const random = await surveyRandom({ seed: 20_260_801, count: 1000 }, console.error);
  console.log(alignColumns(combinations.rows));
  console.log(
    `1000 random designs: ${random.readable} called readable, ${random.missed.length} of them not read`,
  );
  const missed = [...combinations.missed, ...random.missed];
  console.log(missed.join("\n"));
  process.exitCode = missed.length > 0 ? 1 : 0;
} else if (values.readers) {
  const folder = join(import.meta.dirname, "../../node_modules/.cache/qr-readers");
  execFileSync(join(import.meta.dirname, "readers/install.sh"), [folder], { stdio: "inherit" });
  const readers = startReaders(folder);
  const matrix = await matrixOf(readers, Number(values.codes));
  console.log(alignColumns(matrix.rows));
  console.log(matrix.missed.join("\n"));
  const missed = [...matrix.missed];
  const random = { seed: Number(values.seed), count: Number(values.random) };
  await gradeRandom(readers, random, (done, counts, some) => {
    console.log(`${done} random designs graded\n${alignColumns(kindRows(counts))}\n${some.join("\n")}`);
    if (done === random.count) missed.push(...some);
  });
  readers.end();
  process.exitCode = missed.length > 0 ? 1 : 0;
} else {
  const file = positionals[0] ?? "gallery.html";
  await writeFile(file, await page());
  console.log(`${file} is ready`);
}

async function page(): Promise<string> {
  const sections = [
    section("Built-in designs", "Ready to use by every workspace.", await builtIns(), "wide"),
    ...(await Promise.all(
      shapes.map(async (shape) =>
        section(`Dots, ${words(shape)} codes`, "Every form in every format.", await forms(shape), "four"),
      ),
    )),
    section("Corners", "Every frame of a finder pattern with every middle.", await corners(), "small"),
    section("Pictures", "The code makes room for what stands in its middle.", await pictures(), "wide"),
    section("Colors", "Solid, linear and radial, for each part and the background.", await colors(), "wide"),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>QR codes</title>
<style>
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #0f172a; background: #f1f5f9; }
body { margin: 0 auto; padding: 3rem 1.5rem; max-width: 76rem; }
h1 { font-size: 2.25rem; margin: 0; letter-spacing: -0.02em; }
h2 { margin: 3.5rem 0 0; letter-spacing: -0.01em; }
p { margin: 0.25rem 0 1.25rem; color: #475569; }
.grid { display: grid; gap: 1rem; }
.wide { grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); }
.four { grid-template-columns: repeat(4, 1fr); }
.small { grid-template-columns: repeat(6, 1fr); }
figure { margin: 0; padding: 0.75rem; border-radius: 0.75rem; background: #fff; box-shadow: 0 1px 3px #0f172a26; }
img { display: block; width: 100%; border-radius: 0.375rem; background: repeating-conic-gradient(#e2e8f0 0 25%, #fff 0 50%) 0 0 / 1rem 1rem; }
figcaption { margin-top: 0.5rem; font-size: 0.8125rem; color: #475569; }
b { display: block; color: #0f172a; }
</style>
<h1>QR codes</h1>
<p>Every form, shape and format that designs can have. All of them lead to ${sampleContent}.</p>
${sections.join("\n")}
</html>
`;
}

function section(title: string, text: string, figures: readonly string[], layout: string): string {
  return `<section><h2>${title}</h2><p>${text}</p><div class="grid ${layout}">\n${figures.join("\n")}\n</div></section>`;
}

async function figure(
  name: string,
  text: string,
  design: Design,
  format: ImageFormat = "SVG",
): Promise<string> {
  const image = await renderImage(sampleContent, design, format);
  const source = `data:${contentTypes[format]};base64,${image.toString("base64")}`;
  return `<figure><img alt="${name}" src="${source}"><figcaption><b>${name}</b>${text}</figcaption></figure>`;
}

async function scored(name: string, design: Design, text = ""): Promise<string> {
  const { readable, score, causes } = await verifyDesign(sampleContent, design);
  const verdict = readable
    ? `Score ${score}`
    : `Not readable: ${causes.map(({ message }) => message).join(" ")}`;
  return await figure(name, `${text} ${verdict}.`.replace("..", "."), design);
}

async function builtIns(): Promise<string[]> {
  const figures: string[] = [];
  for (const { name, description, options } of builtInDesigns)
    figures.push(await scored(name, storedDesign(options).design, description));
  return figures;
}

function forms(shape: Design["shape"]): Promise<string[]> {
  return Promise.all(
    dotsTypes.flatMap((type) =>
      imageFormats.map((format) =>
        figure(words(type), format, { ...base, shape, dots: { ...base.dots, type } }, format),
      ),
    ),
  );
}

function corners(): Promise<string[]> {
  return Promise.all(
    cornersSquareTypes.flatMap((frame) =>
      cornersDotTypes.map((middle) =>
        figure(`${words(frame)}, ${words(middle)}`, "", {
          ...base,
          cornersSquare: { ...base.cornersSquare, type: frame },
          cornersDot: { ...base.cornersDot, type: middle },
        }),
      ),
    ),
  );
}

async function pictures(): Promise<string[]> {
  const figures: string[] = [];
  for (const size of [0.2, 0.3, 0.4, 0.5]) {
    for (const shape of shapes) {
      const centralImage = { png: samplePicture, size, margin: 0, hideBackgroundDots: true };
      const name = `${size * 100} % of the side, ${words(shape)}`;
      figures.push(
        await scored(name, { ...base, shape, dots: { ...base.dots, type: "ROUNDED" }, centralImage }),
      );
    }
  }
  return figures;
}

async function colors(): Promise<string[]> {
  const paints = {
    Solid: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#7c2d12"] },
    "Linear, 45 degrees": {
      type: "THEME_COLOR_TYPE_LINEAR",
      colors: ["#1d4ed8", "#be185d"],
      direction: "45deg",
    },
    "Linear, with stops": {
      type: "THEME_COLOR_TYPE_LINEAR",
      colors: ["#065f46", "#065f46", "#9a3412", "#9a3412"],
      stops: ["0%", "50%", "50%", "100%"],
      direction: "to right",
    },
    Radial: { type: "THEME_COLOR_TYPE_RADIAL", colors: ["#b91c1c", "#1e1b4b"] },
  };
  const options = Object.entries(paints).map(([name, themeColor]) => ({
    name,
    options: { dotsOptions: { type: "DOTS_TYPE_ROUNDED", themeColor } },
  }));
  const background = (...colors: string[]) => ({
    themeColor: { type: "THEME_COLOR_TYPE_LINEAR", colors: [...colors], direction: "135deg" },
  });
  const examples = [
    ...options,
    { name: "Gradient behind", options: { backgroundOptions: background("#fef9c3", "#fbcfe8") } },
    { name: "Transparent", options: { backgroundOptions: background("#ffffff00") } },
    {
      name: "Too pale",
      options: { dotsOptions: { themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#fcd34d"] } } },
    },
    {
      name: "Light on dark",
      options: {
        dotsOptions: { themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#ffffff"] } },
        backgroundOptions: background("#111827"),
      },
    },
  ];
  const figures: string[] = [];
  for (const example of examples)
    figures.push(
      await scored(example.name, storedDesign({ width: 400, height: 400, ...example.options }).design),
    );
  return figures;
}

function words(name: string): string {
  const text = name.toLowerCase().replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
