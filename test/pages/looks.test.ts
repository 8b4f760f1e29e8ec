import axe from "axe-core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderStep } from "../../src/hosted/steps/render-step.ts";
import { builtInThemes } from "../../src/model/look/built-in-themes.ts";
import { pageTheme } from "../../src/model/look/page-theme.ts";
import { lookOf } from "../../src/pages/look.ts";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { randomStyling } from "./random-themes.ts";
import { type PageServer, servePages } from "./serve-pages.ts";
import { differenceOf, readReference, type ShownLook, takeShots } from "./shots.ts";
import { newView, refusedForm, refusedPassword, steps } from "./specimens.ts";
import { themes } from "./themes.ts";

/**
 * Twice what the edges of letters made when one machine drew them in other ways: at other densities, and without LCD text
 * and places between pixels, shots differed by at most 1.5 and 0.2 percent.
 */
const tolerance = { mean: 3, far: 0.02 };

function isAlike({ mean, far }: { readonly mean: number; readonly far: number }): boolean {
  return mean <= tolerance.mean && far <= tolerance.far;
}

const solid = (color: string) => ({ type: "THEME_COLOR_TYPE_SOLID", colors: [color] });

/** Looks that somebody could have broken by mistake, each by one value. */
const broken: readonly (readonly [slug: string, value: string, change: object])[] = [
  ["poster", "elementColor", solid("#a01d4e")],
  ["daybreak", "titleFont", { fontSize: 30, bold: true, color: solid("#ffffff") }],
  ["gazette", "containerEnabled", false as unknown as object],
  ["midnight", "bodyFont", { family: "PAGE_THEME_FONT_FAMILY_COURIER_NEW", fontSize: 18 }],
];

describe.skipIf(!hasBrowser)("in a browser, looks", () => {
  const visit = launchBrowser();
  let server: PageServer;
  beforeAll(async () => {
    server = await servePages();
  });
  afterAll(() => server?.close());

  const shotOf = (look: ShownLook, options = {}) => visit(options, (page) => takeShots(page, server, look));

  test("of the built-in themes are as they were when people looked at them (`npm run gallery -- --references`)", async () => {
    const differences: Record<string, object> = {};
    for (const theme of builtInThemes) {
      const reference = await readReference(theme.slug);
      let difference = differenceOf(await shotOf(theme), reference);
      // A browser without a processor of its own may be photographed before it has painted everything.
      for (let more = 4; more > 0 && !isAlike(difference); more--)
        difference = differenceOf(await shotOf(theme), reference);
      if (!isAlike(difference)) differences[theme.slug] = difference;
    }
    expect(differences).toEqual({});
  }, 120_000);

  test("are alike where only letters are drawn otherwise, and differ where one value of a theme does", async () => {
    const [{ styling } = { styling: {} }] = builtInThemes;
    const plain = await readReference("plain");
    await expect
      .poll(async () => isAlike(differenceOf(await shotOf({ styling }, { deviceScaleFactor: 2 }), plain)))
      .toBe(true);
    for (const [slug, value, change] of broken) {
      const theme = builtInThemes.find((each) => each.slug === slug);
      const shot = await shotOf({ ...theme, styling: { ...theme?.styling, [value]: change } });
      expect(isAlike(differenceOf(shot, await readReference(slug))), `${slug} with another ${value}`).toBe(
        false,
      );
    }
  }, 120_000);

  test("of 200 random themes have no fault that axe finds", async () => {
    const stylings = fc.sample(randomStyling, { seed: 20_261_122, numRuns: 200 });
    // The badge is there from the start, so that only the look has to be changed.
    const theme = themes.sunset;
    const pages = [
      refusedForm({ theme }),
      refusedPassword({ theme }),
      ...[steps.contactCard, steps.socialLinks].map((step) => newView(step, { theme })),
    ];
    const found = await visit({ bypassCSP: true }, async (page) => {
      const faults: string[] = [];
      for (const [index, view] of pages.entries()) {
        await page.goto(server.put(renderStep(view)));
        await page.evaluate(axe.source);
        const own = stylings.filter((_, at) => at % pages.length === index);
        const looks = own.map((styling) => lookOf(pageTheme({ badgeEnabled: true, ...styling }), false));
        faults.push(...(await page.evaluate<string[]>(contrastOf(looks))));
      }
      return faults;
    });
    expect(found).toEqual([]);
  }, 120_000);
});

/** What axe says about the contrast of the opened page in each look. */
function contrastOf(looks: readonly string[]): string {
  return `(async (looks) => {
    const style = document.head.appendChild(document.createElement("style"));
    const faults = [];
    for (const look of looks) {
      style.textContent = look;
      const { violations } = await axe.run(document, { runOnly: ["color-contrast"], resultTypes: ["violations"] });
      for (const { nodes } of violations)
        for (const { target, failureSummary } of nodes) faults.push([look, target, failureSummary].join(" · "));
    }
    return faults;
  })(${JSON.stringify(looks)})`;
}
