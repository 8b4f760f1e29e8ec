import { html } from "hono/html";
import { type Glyph, icon } from "./icons.ts";
import type { Markup } from "./markup.ts";

/** A drawing above the head. */
export function mark(glyph: Glyph): Markup {
  return html`<div class="mark">${icon(glyph)}</div>
`;
}

/** What went wrong. Screen readers say it at once. */
export function alert(text: string): Markup {
  return html`<p class="fault alert" role="alert">${text}</p>
`;
}
