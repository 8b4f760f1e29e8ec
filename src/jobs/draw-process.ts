import { answerOnce } from "../lib/ask-process.ts";
import type { Design } from "../qr/design.ts";
import { renderImage } from "../qr/render.ts";

/** A code to draw as PNG. */
export interface Drawing {
  readonly content: string;
  readonly design: Design;
}

answerOnce(async ({ content, design }: Drawing) => renderImage(content, design, "PNG"));
