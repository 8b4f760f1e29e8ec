import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { type PageMedia, pageImage } from "../../src/model/look/page-image.ts";

/** The media of a theme with the cover that comes with the program, for pages that `showCover` was called for. */
export const daybreak: PageMedia = {
  cover: pageImage([`public/pages/${"da".repeat(16)}/wide-1600x1600.webp`]),
};

/** Answers a page's requests for copies of images with the cover. */
export async function showCover(page: Page): Promise<void> {
  const body = await readFile(new URL("../../vendor/pictures/daybreak.jpg", import.meta.url));
  await page.route("**/public/pages/**", (route) => route.fulfill({ body, contentType: "image/jpeg" }));
}

/** Waits until the fonts and images of a page are drawn, which its loading does not wait for. */
export const drawn = `Promise.all([document.fonts.ready, ...[...document.images].map((image) => image.decode())])
  .then(() => undefined)`;
