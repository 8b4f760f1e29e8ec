import { execFile } from "node:child_process";
import { promisify } from "node:util";
import sharp from "sharp";
import { expect, test } from "vitest";
import { chartOf, look, rowsByKind } from "../../test/support/charts.ts";
import { chartTypes } from "./chart.ts";
import { drawChart } from "./draw.ts";
import { paint } from "./png.ts";

test.each(["light", "dark"] as const)(
  "every kind of chart is painted in the %s theme at its size",
  async (theme) => {
    for (const type of chartTypes) {
      const rows = rowsByKind[type === "line" ? "two values" : "hostile"] ?? [];
      const size = { width: 320, height: 200, scale: 2 };
      const image = sharp(await paint(drawChart(chartOf(type, rows), { ...look, theme, ...size })));
      expect(await image.metadata()).toMatchObject({ format: "png", width: 640, height: 400 });
      const { channels } = await image.stats();
      // The ground, and much besides: a blank picture has no deviation.
      for (const { min, max, stdev } of channels.slice(0, 3)) {
        expect(max - min).toBeGreaterThan(150);
        expect(stdev).toBeGreaterThan(15);
      }
    }
  },
);

test("a machine without any font paints the same texts", async () => {
  const svg = drawChart(chartOf("list", rowsByKind["one row"] ?? []), look);
  const program = `
    import { paint } from ${JSON.stringify(new URL("./png.ts", import.meta.url).href)};
    process.stdout.write(await paint(${JSON.stringify(svg)}));`;
  const nowhere = { FONTCONFIG_FILE: "/nonexistent", FONTCONFIG_PATH: "/nonexistent", HOME: "/nonexistent" };
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "buffer",
    env: nowhere,
  });
  const [there, here] = await Promise.all(
    [stdout, await paint(svg)].map((png) => sharp(png).raw().toBuffer()),
  );
  expect(there?.equals(here ?? Buffer.alloc(0))).toBe(true);
  // The title stands in the upper left corner.
  const title = { left: 20, top: 20, width: 50, height: 18 };
  const { channels } = await sharp(stdout).extract(title).stats();
  expect(channels[0]?.min).toBeLessThan(60);
});
