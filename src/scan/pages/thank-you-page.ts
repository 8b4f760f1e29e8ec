import { html } from "hono/html";
import type { TitledPayload } from "../../model/payloads.ts";
import { heading, mark } from "./heading.ts";
import { makePage, type Page } from "./page.ts";
import type { Setting } from "./view.ts";

export function thankYouPage(payload: TitledPayload, { language, theme, media, linkName }: Setting): Page {
  return makePage({
    status: 200,
    language,
    theme,
    media,
    title: payload.title || linkName,
    content: html`${theme.badge === undefined ? mark("check") : ""}${heading(payload, linkName)}`,
  });
}
