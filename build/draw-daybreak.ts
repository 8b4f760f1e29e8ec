import { writeFile } from "node:fs/promises";
import sharp from "sharp";

/*
 * Draws `vendor/pictures/daybreak.jpg`, the cover of a built-in theme: `node build/draw-daybreak.ts`. The lines come from a
 * sequence of numbers that only looks like chance, so that it is always the same drawing.
 */
const [width, height] = [1600, 1600];

/** Hills from far to near: where they stand, how high they rise, and their colors. The air lends far ones its own. */
const hills = [
  { at: 0.5, relief: 0.1, roughness: 0.5, top: "#e9a58f", foot: "#f6cfae" },
  { at: 0.57, relief: 0.11, roughness: 0.52, top: "#b97a83", foot: "#e9b7a2" },
  { at: 0.65, relief: 0.11, roughness: 0.53, top: "#7d5a74", foot: "#c08f8f" },
  { at: 0.745, relief: 0.12, roughness: 0.54, top: "#4a3f5c", foot: "#86667a" },
  { at: 0.87, relief: 0.1, roughness: 0.5, top: "#221f36", foot: "#221f36" },
] as const;

const next = sequence(20_260_101);
const lines = hills.map(({ at, relief, roughness }) =>
  ridge(at * height, relief * height, relief * height, roughness),
);
await writeFile(
  new URL("../vendor/pictures/daybreak.jpg", import.meta.url),
  await sharp(Buffer.from(drawing())).jpeg({ quality: 82, mozjpeg: true }).toBuffer(),
);

function drawing(): string {
  const slopes = hills.map(
    ({ top, foot }, index) =>
      `<linearGradient id="h${index}" x1="0" y1="0" x2="0" y2="1"><stop stop-color="${top}"/>
      <stop offset=".85" stop-color="${foot}"/></linearGradient>`,
  );
  const shapes = lines.map((line, index) => {
    const points = line.map((y, at) => `${Math.round((at * width) / (line.length - 1))} ${Math.round(y)}`);
    const trees = index === lines.length - 1 ? forest(line) : "";
    return `<path fill="url(#h${index})" d="M0 ${height}L${points.join("L")}L${width} ${height}z${trees}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs>
    <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop stop-color="#25305c"/>
    <stop offset=".14" stop-color="#4c4a7c"/><stop offset=".28" stop-color="#94708f"/>
    <stop offset=".4" stop-color="#dd9a90"/><stop offset=".52" stop-color="#fbd3a2"/></linearGradient>
    <radialGradient id="glow" gradientUnits="userSpaceOnUse" cx="960" cy="790" r="560">
    <stop stop-color="#fff3d6" stop-opacity=".95"/><stop offset=".14" stop-color="#ffe2b0" stop-opacity=".6"/>
    <stop offset=".5" stop-color="#ffc890" stop-opacity=".18"/><stop offset="1" stop-color="#ffb37a" stop-opacity="0"/>
    </radialGradient>${slopes.join("")}</defs>
    <path fill="url(#sky)" d="M0 0h${width}v${height}H0z"/><path fill="url(#glow)" d="M0 0h${width}v${height}H0z"/>
    <circle cx="960" cy="758" r="60" fill="#fff6e0"/>${shapes.join("")}</svg>`;
}

/** The line of a hill from left to right: the middles of ever shorter pieces are moved by ever less. */
function ridge(base: number, relief: number, span: number, roughness: number): readonly number[] {
  let line = [base + relief * (next() - 0.5), base + relief * (next() - 0.5)];
  for (let reach = span; line.length < 500; reach *= roughness)
    line = line.flatMap((one, index) => {
      const other = line[index + 1];
      return other === undefined ? [one] : [one, (one + other) / 2 + reach * (next() - 0.5)];
    });
  return line;
}

/** Firs along a line, as parts of a path. */
function forest(line: readonly number[]): string {
  const firs: string[] = [];
  for (let x = 0; x < width; x += 6 + next() * 16) {
    const foot = (line[Math.round((x / width) * (line.length - 1))] ?? height) + 12;
    const tall = 22 + next() * next() * 72;
    const wide = tall * (0.17 + next() * 0.06);
    const branches = [0.3, 0.55, 0.8, 1].map(
      (share, at) =>
        `${round(x + wide * share)} ${round(foot - tall * (1 - share))}L${round(x + wide * (share - 0.16 - at * 0.04))} ${round(foot - tall * (1 - share) - 2)}`,
    );
    const mirrored = [1, 0.8, 0.55, 0.3].map(
      (share, at) =>
        `${round(x - wide * (share - 0.16 - (3 - at) * 0.04))} ${round(foot - tall * (1 - share) - 2)}L${round(x - wide * share)} ${round(foot - tall * (1 - share))}`,
    );
    firs.push(`M${round(x)} ${round(foot - tall)}L${branches.join("L")}L${mirrored.join("L")}z`);
  }
  return firs.join("");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Numbers from 0 to 1 that look random (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
