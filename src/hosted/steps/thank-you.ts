import { html } from "hono/html";
import type { TitledPayload } from "../../model/steps/reading.ts";
import type { Content } from "../../pages/page.ts";
import { mark } from "../../pages/parts.ts";
import type { Setting } from "../view.ts";
import { heading } from "./heading.ts";

export function thankYouContent(payload: TitledPayload, { theme, linkName }: Setting): Content {
  return {
    title: payload.title || linkName,
    content: html`${theme.badge === undefined ? mark("check") : ""}${heading(payload, linkName)}`,
  };
}
