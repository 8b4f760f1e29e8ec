import { html } from "hono/html";
import type { HostedPage } from "../../pages/page.ts";
import type { Visit } from "../visit.ts";
import { wordsOf } from "../words/languages.ts";
import type { NoticeKind } from "../words/words.ts";
import { formPage, links } from "./form-page.ts";

const statuses = {
  NOT_FOUND: 404,
  LINK_OVER: 410,
  FORBIDDEN: 403,
  WRONG_METHOD: 405,
  BAD_REQUEST: 400,
  TOO_LARGE: 413,
  UNAVAILABLE: 503,
  BAD_PROGRAM: 400,
} as const satisfies Record<NoticeKind, number>;

/** A page of fixed words, with the way to the sign-in page. */
export function noticePage(
  visit: Visit,
  kind: NoticeKind,
  status: number = statuses[kind],
  detail?: string,
): HostedPage {
  const words = wordsOf(visit.language);
  const { title, text } = words.notices[kind];
  const said =
    detail === undefined
      ? ""
      : html`<p lang="en" dir="ltr">${detail}</p>
`;
  const below = html`${said}${links(visit, [["sign-in", words.toSignIn]])}`;
  return formPage(visit, { status, glyph: "signpost", title, lead: text, below });
}
