import { html } from "hono/html";
import type { Language } from "../../pages/languages.ts";
import type { Content } from "../../pages/page.ts";
import { wordsOf } from "../languages.ts";

/** Ends a page with the line that names the service, which leads to `url`. Leaves the page as it is without one. */
export function withBrand(page: Content, url: string, language: Language): Content {
  if (url === "") return page;
  const words = wordsOf(language);
  const line = words.madeWith.replace("{service}", words.notices.HOME.title);
  return {
    ...page,
    sheets: [...(page.sheets ?? []), "brand"],
    content: html`${page.content}<a class="brand" href="${url}">${line}</a>
`,
  };
}
