import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import type { PageMedia } from "../../src/pages/page.ts";

const address = "http://127.0.0.1:9/cover.jpg";

/** The media of a theme with the cover that comes with the program, for pages that `showCover` was called for. */
export function coverOf(): PageMedia {
  return { coverUrl: address };
}

/** Answers a page's requests for images with the cover. */
export async function showCover(page: Page): Promise<void> {
  const body = await readFile(new URL("../../vendor/pictures/daybreak.jpg", import.meta.url));
  await page.route("**/*.jpg", (route) => route.fulfill({ body, contentType: "image/jpeg" }));
}
