import { html } from "hono/html";
import type { Markup } from "../../pages/markup.ts";
import { alert } from "../../pages/parts.ts";
import { wordsOf } from "../languages.ts";
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

/**
 * The alert on a page that is shown again because the pressed button is none of its own, such as one of an older
 * version.
 */
export function notOfferedAlert({ status, language }: Setting): Markup | "" {
  return status === undefined ? "" : alert(wordsOf(language).faults.OPTION);
}
