import { answerOnce } from "../../lib/images/ask-process.ts";
import type { Design } from "../../qr/drawing/design.ts";
import { renderImage } from "../../qr/drawing/render.ts";

/** A code to draw as PNG. */
export interface Drawing {
  readonly content: string;
  readonly design: Design;
}

answerOnce(async ({ content, design }: Drawing) => renderImage(content, design, "PNG"));
