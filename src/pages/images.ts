import { html } from "hono/html";
import { filesPath } from "../lib/storage/file-url.ts";
import { type CopyShape, copyName, type ImageCopy, type PageImage } from "../model/look/page-image.ts";
import type { PageTheme } from "../model/look/page-theme.ts";
import type { Markup } from "./markup.ts";

/** The address of a copy: a path, which every host of the service serves. */
export function imageAddress({ folder }: PageImage, copy: ImageCopy): string {
  return `${filesPath}${folder}${copyName(copy)}`;
}

/** The largest copy that shows all of the image, or as much of it as there is. */
export function largestCopy({ copies }: PageImage): ImageCopy {
  return copies.findLast(({ shape }) => shape === "wide") ?? copies.at(-1) ?? copies[0];
}

/**
 * The cover behind a page. A page that it fills shows the cut for phones where the screen is upright. The text does not
 * wait for it, and nothing moves when it is there.
 */
export function coverPicture(image: PageImage, mode: PageTheme["coverMode"]): Markup {
  const whole = mode === "FULL" ? sourceOf(image, "tall", fillingWidth) : undefined;
  const { width, height } = largestCopy(image);
  const upright =
    whole && html`<source media="(orientation:portrait)" srcset="${whole.srcset}" sizes="${whole.sizes}">`;
  const wide = sourceOf(image, "wide", mode === "FULL" ? fillingWidth : bandWidth) ?? whole;
  return html`<div class="cover"><picture>${upright ?? ""}<img src="${wide?.src}" srcset="${wide?.srcset}" sizes="${wide?.sizes}" width="${width}" height="${height}" alt="" decoding="async" fetchpriority="low"></picture></div>`;
}

/** The badge on top of a page. */
export function badgePicture(image: PageImage): Markup {
  const { src, srcset } = sourceOf(image, "square", fillingWidth) ?? {};
  return html`<img src="${src}" srcset="${srcset}" sizes="5.5rem" width="88" height="88" alt="" decoding="async">`;
}

interface ImageSource {
  /** The smallest copy, for browsers that cannot choose. */
  readonly src: string;
  readonly srcset: string;
  readonly sizes: string;
}

/** The copies of a shape for a browser to choose from. Undefined when there are none. */
function sourceOf(
  image: PageImage,
  wanted: CopyShape,
  widthOf: (ratio: number) => string,
): ImageSource | undefined {
  const copies = image.copies.filter(({ shape }) => shape === wanted);
  const [first] = copies;
  if (first === undefined) return undefined;
  const srcset = copies.map((copy) => `${imageAddress(image, copy)} ${copy.width}w`).join(",");
  return { src: imageAddress(image, first), srcset, sizes: widthOf(first.width / first.height) };
}

/** How wide an image is that fills the screen, whichever side it overhangs. */
function fillingWidth(ratio: number): string {
  return `max(100vw,${Math.round(100 * ratio)}vh)`;
}

/** The same for the band of a cover that fades; `stylesheet.ts` says how high it is. */
function bandWidth(ratio: number): string {
  return `max(100vw,min(${Math.round(46 * ratio)}vh,${Math.round(26 * ratio)}rem))`;
}
