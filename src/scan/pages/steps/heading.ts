import { html } from "hono/html";
import { type Glyph, icon } from "../icons.ts";
import { wordsOf } from "../languages.ts";
import type { Markup } from "../markup.ts";
import type { Setting } from "../view.ts";

/** The head of a page. A page without a title has a hidden one, for screen readers. */
export function heading(
  { title, description }: { readonly title: string; readonly description: string },
  fallback: string,
): Markup {
  const lead = description === "" ? "" : html`<p class="lead"><bdi>${description}</bdi></p>`;
  if (title === "") {
    return html`<header><h1 class="hide">${fallback}</h1>${lead}</header>
`;
  }
  return html`<header><h1><bdi>${title}</bdi></h1>${lead}</header>
`;
}

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

/**
 * The alert on a page that is shown again because the pressed button is none of its own, such as one of an older
 * version.
 */
export function notOfferedAlert({ status, language }: Setting): Markup | "" {
  return status === undefined ? "" : alert(wordsOf(language).faults.OPTION);
}
