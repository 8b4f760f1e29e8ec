import { mkdir, rm, writeFile } from "node:fs/promises";
import type { BrowserContext, Page } from "playwright-core";
import sharp from "sharp";
import { renderPreview } from "../../src/hosted/steps/preview.ts";
import { renderStep } from "../../src/hosted/steps/render-step.ts";
import { type BuiltInTheme, builtInThemes } from "../../src/model/look/built-in-themes.ts";
import { pageTheme } from "../../src/model/look/page-theme.ts";
import type { HostedPage } from "../../src/pages/page.ts";
import { openBrowser } from "../support/browser.ts";
import { daybreak, drawn, showCover } from "./covers.ts";
import { type PageServer, servePages } from "./serve-pages.ts";
import { differenceOf, pngOf, readShot, referenceOf, takeShots } from "./shots.ts";
import { newView, refusedForm, refusedPassword, steps } from "./specimens.ts";

const screens = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } } as const;
type Screen = keyof typeof screens;

/** The look of links without a theme, which has a dark side. */
const plainLook = {
  name: "Without a theme",
  slug: "",
  description: "Follows the visitor's device.",
  tags: "",
};

/**
 * Writes a contact sheet of all kinds of pages, in the built-in themes and without one, on a phone and on a desktop
 * screen, in the light and in the dark. A page that looks the same in the dark is shown once. The folder gets each
 * page as a picture of its own, to be looked at in full size.
 */
export async function writePageGallery(file: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const server = await servePages();
  const sections: string[] = [];
  for (const theme of [{ ...plainLook, styling: undefined }, ...builtInThemes]) {
    console.error(`${theme.name} …`);
    for (const screen of ["phone", "desktop"] as const) {
      const figures = await photographBoth(server, theme, screen);
      for (const [name, bytes] of figures)
        await writeFile(`${folder}/${theme.slug || "none"}-${screen}-${name}.png`, bytes);
      sections.push(await section(theme, screen, figures));
    }
  }
  server.close();
  await writeFile(file, sheet(sections));
}

/** Keeps shots of the built-in themes as what they shall look like. */
export async function keepReferences(): Promise<void> {
  const server = await servePages();
  const context = await openBrowser({ viewport: screens.phone, reducedMotion: "reduce" });
  const page = await context.newPage();
  for (const theme of builtInThemes)
    await writeFile(referenceOf(theme.slug), await pngOf(await takeShots(page, server, theme)));
  await context.close();
  server.close();
}

type Shown = Omit<BuiltInTheme, "styling"> & { readonly styling: BuiltInTheme["styling"] | undefined };

/** The pages by name, and those that look different in the dark once more. */
async function photographBoth(
  server: PageServer,
  theme: Shown,
  screen: Screen,
): Promise<Map<string, Buffer>> {
  const light = await photograph(server, theme, screen, "light");
  const dark = await photograph(server, theme, screen, "dark");
  const figures = new Map<string, Buffer>();
  for (const [name, bytes] of light) {
    figures.set(name, bytes);
    const night = dark.get(name);
    if (night !== undefined && (await isAnotherLook(bytes, night))) figures.set(`${name}-dark`, night);
  }
  return figures;
}

/** Whether two pictures differ to the eye. The browser draws edges of round shapes a little otherwise each time. */
async function isAnotherLook(one: Buffer, other: Buffer): Promise<boolean> {
  if (one.equals(other)) return false;
  return differenceOf(await readShot(one), await readShot(other)).far > 0;
}

async function section(theme: Shown, screen: Screen, pictures: ReadonlyMap<string, Buffer>): Promise<string> {
  const figures: string[] = [];
  for (const [name, png] of pictures)
    figures.push(figure(name, await sharp(png).webp({ quality: 85 }).toBuffer()));
  return `<h2>${theme.name}, ${screen}</h2><p>${theme.description}</p><div class="${screen}">${figures.join("")}</div>`;
}

async function photograph(
  server: PageServer,
  theme: Shown,
  screen: Screen,
  colorScheme: "light" | "dark",
): Promise<Map<string, Buffer>> {
  const context = await openBrowser({ viewport: screens[screen], reducedMotion: "reduce", colorScheme });
  const taken = new Map<string, Buffer>();
  try {
    const page = await openPage(context);
    for (const [name, hosted] of Object.entries(everyKind(theme)))
      taken.set(name, await shoot(page, server.put(hosted)));
  } finally {
    await context.close();
  }
  return taken;
}

async function openPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await showCover(page);
  return page;
}

async function shoot(page: Page, url: string): Promise<Buffer> {
  await page.goto(url, { waitUntil: "load" });
  await page.evaluate(drawn);
  return page.screenshot({ fullPage: true });
}

/** A page of every kind, and those with something wrong. */
function everyKind({ styling, hasCover }: Shown): Record<string, HostedPage> {
  const view = { ...(styling && { theme: pageTheme(styling) }), media: hasCover === true ? daybreak : {} };
  const opened = Object.entries(steps).map(
    ([name, step]) => [name, renderStep(newView(step, view))] as const,
  );
  return {
    ...Object.fromEntries(opened),
    refusedForm: renderStep(refusedForm(view)),
    refusedPassword: renderStep(refusedPassword(view)),
    preview: renderPreview({
      ...newView(steps.form, view),
      entrypoint: "https://go.example/4BnH-R19p",
      cardAddress: "https://go.example/_p/card.png",
    }),
  };
}

function figure(name: string, bytes: Buffer): string {
  return `<figure><img alt="" src="data:image/webp;base64,${bytes.toString("base64")}"><figcaption>${name}</figcaption></figure>\n`;
}

function sheet(sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hosted pages</title>
<style>
:root { font: 16px/1.5 system-ui, sans-serif; color: #0f172a; background: #cbd5e1; }
body { margin: 0 auto; padding: 2rem; }
h2 { margin: 3rem 0 0; }
p { margin: 0 0 1rem; color: #475569; }
div { display: grid; gap: 1rem; align-items: start; }
.phone { grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); }
.desktop { grid-template-columns: repeat(auto-fill, minmax(28rem, 1fr)); }
figure { margin: 0; }
img { display: block; width: 100%; box-shadow: 0 1px 4px #0f172a4d; }
</style>
<h1>Hosted pages</h1>
${sections.join("\n")}
</html>
`;
}
