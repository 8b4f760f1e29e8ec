import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { PageImage, PageMedia } from "../model/look/page-image.ts";
import { builtInTheme, type PageTheme } from "../model/look/page-theme.ts";
import { reportScript } from "./device-report.ts";
import { fontFaces } from "./font-faces.ts";
import { icon } from "./icons.ts";
import { badgePicture, coverPicture } from "./images.ts";
import { directionOf, type Language } from "./languages.ts";
import { browserColors, lookOf } from "./look.ts";
import { attribute, type Markup } from "./markup.ts";
import { type Sheet, sheets } from "./stylesheet.ts";

/**
 * A page, ready to be sent. Without a `policy` of its own it has no script, and loads nothing but the images of its
 * theme, from its own host.
 */
export interface HostedPage {
  readonly status: number;
  readonly body: Buffer;
  /** Names and values in turn: the content security policy of this page, its language, and what only this page has. */
  readonly headers: readonly string[];
}

/** What a page says. */
export interface Content {
  readonly title: string;
  /** What stands in `main`. */
  readonly content: Markup;
  /** The class of `body`, for the style. */
  readonly kind?: "form" | "card";
  /** The parts of the style that the content of `main` needs. */
  readonly sheets?: readonly Sheet[];
  /** More of `head`. */
  readonly head?: Markup;
  /** More of the style, in CSS. */
  readonly style?: string;
  readonly headers?: readonly string[];
  /** Whether it has forms to send. */
  readonly hasForm?: boolean;
  /** More directives of the content security policy. */
  readonly policy?: readonly string[];
}

/** What a page is made of. */
export interface Draft extends Content {
  readonly status: number;
  readonly language: Language;
  readonly theme?: PageTheme;
  readonly media?: PageMedia;
  /** Where the page reports what its browser knows of the device. Without it, the page has no script. */
  readonly reportTo?: string | undefined;
}

/**
 * Puts a page together. Its content stands in the middle, so a browser that knows `rel="expect"` paints it only when all of
 * it has come; it would move otherwise.
 */
export function makePage(draft: Draft): HostedPage {
  const { status, language, title, content, theme = builtInTheme, media = {}, kind, head = "" } = draft;
  const { cover } = media;
  const parts: readonly Sheet[] = [
    ...(draft.sheets ?? []),
    ...(cover === undefined ? [] : (["cover"] as const)),
    ...(theme.badge === undefined ? [] : (["badge"] as const)),
  ];
  const fonts = fontFaces(theme, () => `${title}${String(content)}`);
  const style = [
    fonts,
    lookOf(theme, cover !== undefined),
    draft.style,
    sheets.base,
    ...parts.map((part) => sheets[part]),
  ].join("");
  const classes = [kind, cover === undefined ? undefined : coverClasses[theme.coverMode]];
  const document = html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
${browserColor(theme)}<link rel="icon" href="data:,">
<link rel="expect" href="#end" blocking="render">
${head}<style>${raw(style)}</style>
</head>
<body${attribute("class", classes.filter(Boolean).join(" "))}>
${cover === undefined ? "" : coverPicture(cover, theme.coverMode)}
<main>
${badge(theme, media.badge)}${content}
</main>
${reporter(draft.reportTo)}<p id="end" hidden></p>
</body>
</html>
`;
  const hasImage = cover !== undefined || (theme.badge !== undefined && media.badge !== undefined);
  const policy = [
    ...pagePolicy(style, hasImage, draft.hasForm === true),
    ...(fonts === "" ? [] : ["font-src 'self'"]),
    ...(draft.reportTo === undefined ? [] : ["script-src 'self'", "connect-src 'self'"]),
    ...(draft.policy ?? []),
  ];
  return {
    status,
    body: Buffer.from(String(document)),
    headers: [
      "Content-Security-Policy",
      policy.join("; "),
      "Content-Language",
      language,
      ...(draft.headers ?? []),
    ],
  };
}

const coverClasses = { FULL: undefined, PROGRESSIVE_TOP: "top", PROGRESSIVE_BOTTOM: "bottom" } as const;

function browserColor(theme: PageTheme): Markup {
  const { day, night } = browserColors(theme);
  const dark =
    night === undefined
      ? ""
      : html`<meta name="theme-color" media="(prefers-color-scheme:dark)" content="${night}">
`;
  return html`${dark}<meta name="theme-color" content="${day}">
`;
}

function reporter(reportTo: string | undefined): Markup | "" {
  if (reportTo === undefined) return "";
  return html`<script defer src="${reportScript.path}" data-to="${reportTo}"></script>
`;
}

function badge(theme: PageTheme, image: PageImage | undefined): Markup | "" {
  if (theme.badge === undefined) return "";
  // A star stands for an image to come. A signpost would be this service's sign on somebody else's page.
  const picture = image === undefined ? icon("star") : badgePicture(image);
  return html`<div class="badge">${picture}</div>
`;
}

/**
 * The content security policy of a page. It allows the page's style and the images of its theme, and nothing else. It
 * leaves `form-action` open for pages with a form, because browsers apply it to every address that the answer is sent
 * on to: the destinations of links, and wherever those lead. A page has no form but ours.
 */
function pagePolicy(style: string, hasImage: boolean, hasForm: boolean): string[] {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    hasImage ? "img-src data: 'self'" : "img-src data:",
    "base-uri 'none'",
    ...(hasForm ? [] : ["form-action 'none'"]),
    "frame-ancestors 'none'",
  ];
}
