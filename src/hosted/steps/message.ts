import { html } from "hono/html";
import type { MessagePagePayload } from "../../model/steps/message-page.ts";
import { inWords } from "../../pages/languages.ts";
import type { Markup } from "../../pages/markup.ts";
import type { Content } from "../../pages/page.ts";
import { timerParameter } from "../../workflow/answer-fields.ts";
import { wordsOf } from "../languages.ts";
import type { Setting } from "../view.ts";
import { heading } from "./heading.ts";

export function messageContent(payload: MessagePagePayload, setting: Setting): Content {
  const onward = payload.navigationType === "TIMER" ? timer(payload, setting) : button(payload, setting);
  return {
    title: payload.title || setting.linkName,
    ...onward,
    content: html`${heading(payload, setting.linkName)}${onward.content}`,
  };
}

type Onward = Pick<Content, "sheets" | "style" | "headers" | "hasForm"> & { readonly content: Markup };

function button({ buttonLabel }: MessagePagePayload, { language, action }: Setting): Onward {
  return {
    hasForm: true,
    content: html`<form method="post" action="${action}"><button class="button"><bdi>${buttonLabel || wordsOf(language).continue}</bdi></button></form>`,
  };
}

/**
 * Moves the visitor on by the `Refresh` header, because the page has no script. In browsers that ignore the header, a
 * link appears when the time is over.
 */
function timer({ timerSeconds }: MessagePagePayload, { language, action }: Setting): Onward {
  const words = wordsOf(language);
  const url = `${action}${action.includes("?") ? "&" : "?"}${timerParameter}=1`;
  return {
    headers: ["Refresh", `${timerSeconds};url=${url}`],
    sheets: ["timer"],
    style: `:root{--seconds:${Number(timerSeconds)}s}`,
    content: html`<div class="stack"><div class="time" aria-hidden="true"></div><p class="quiet">${words.goesOn.replace("{when}", inWords(language, timerSeconds))}</p><a class="button bare late" href="${url}">${words.goOnNow}</a></div>`,
  };
}
