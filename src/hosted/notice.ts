import { html } from "hono/html";
import type { PageMedia } from "../model/look/page-image.ts";
import type { PageTheme } from "../model/look/page-theme.ts";
import { testClockRule } from "../model/test-clock.ts";
import type { Glyph } from "../pages/icons.ts";
import { inWords, type Language } from "../pages/languages.ts";
import type { Markup } from "../pages/markup.ts";
import { type HostedPage, makePage } from "../pages/page.ts";
import { mark } from "../pages/parts.ts";
import { wordsOf } from "./languages.ts";
import type { NoticeKind } from "./words/words.ts";

const statuses = {
  NOT_FOUND: 404,
  NOT_AVAILABLE: 404,
  EXPIRED: 410,
  BAD_REQUEST: 400,
  FORBIDDEN: 403,
  WRONG_METHOD: 405,
  TOO_LARGE: 413,
  TOO_MANY_MISSES: 429,
  TOO_MANY_TRIES: 429,
  UNAVAILABLE: 503,
  HOME: 200,
} as const satisfies Record<NoticeKind, number>;

/** Every notice except TOO_MANY_TRIES, which says when to come back. */
export type Notice = Exclude<NoticeKind, "TOO_MANY_TRIES">;

const notices = new Map<string, HostedPage>();

/** What a notice about a link looks like: the pages of its workflow. */
export interface Look {
  readonly theme: PageTheme;
  readonly media: PageMedia;
}

/**
 * A page of fixed words. NOT_FOUND stands for addresses that never had a link or have none any more, and does not say
 * which. NOT_AVAILABLE stands for a link that leads nowhere at the moment, EXPIRED for one that never will again. HOME
 * is the bare address of the service's own short host when it has no other site.
 */
export function notice(kind: Notice, language: Language, look?: Look): HostedPage {
  if (look !== undefined) return makeNotice(kind, language, { look });
  const key = `${kind} ${language}`;
  const known = notices.get(key) ?? makeNotice(kind, language);
  notices.set(key, known);
  return known;
}

/** The page after too many wrong passwords, with the header that says when to come back. */
export function tooManyTries(language: Language, retryAfterSeconds: number, look?: Look): HostedPage {
  return makeNotice("TOO_MANY_TRIES", language, { seconds: retryAfterSeconds, look });
}

/** The page for a test clock that is no time. Only developers meet it, so it is in English. */
export function badTestClock(look?: Look): HostedPage {
  const { title } = wordsOf("en").notices.BAD_REQUEST;
  const text = `testClock: ${testClockRule}`;
  return makePage({
    status: statuses.BAD_REQUEST,
    language: "en",
    title,
    ...look,
    content: html`${markOf("signpost", look)}<header><h1>${title}</h1><p class="lead">${text}</p></header>`,
  });
}

interface NoticeOptions {
  readonly look?: Look | undefined;
  /** When to come back. */
  readonly seconds?: number;
}

function makeNotice(
  kind: NoticeKind,
  language: Language,
  { look, seconds = 0 }: NoticeOptions = {},
): HostedPage {
  const { title, text } = wordsOf(language).notices[kind];
  return makePage({
    status: statuses[kind],
    language,
    title,
    ...look,
    headers: seconds === 0 ? [] : ["Retry-After", String(seconds)],
    content: html`${markOf(kind === "TOO_MANY_TRIES" ? "lock" : "signpost", look)}<header><h1>${title}</h1><p class="lead">${text.replace("{when}", inWords(language, seconds))}</p></header>`,
  });
}

/** A badge stands where a notice has its drawing. */
function markOf(glyph: Glyph, look: Look | undefined): Markup | "" {
  return look?.theme.badge === undefined ? mark(glyph) : "";
}
