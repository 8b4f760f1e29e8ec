import { html } from "hono/html";
import type { TitledPayload } from "../../../model/steps/reading.ts";
import type { Content } from "../page.ts";
import type { Setting } from "../view.ts";
import { heading, mark } from "./heading.ts";

export function thankYouContent(payload: TitledPayload, { theme, linkName }: Setting): Content {
  return {
    title: payload.title || linkName,
    content: html`${theme.badge === undefined ? mark("check") : ""}${heading(payload, linkName)}`,
  };
}
