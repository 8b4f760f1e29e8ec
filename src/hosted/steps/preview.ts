import { html } from "hono/html";
import type { PageMedia } from "../../model/look/page-image.ts";
import type { PageTheme } from "../../model/look/page-theme.ts";
import { imageAddress, largestCopy } from "../../pages/images.ts";
import type { Language } from "../../pages/languages.ts";
import { attribute, type Markup } from "../../pages/markup.ts";
import { type HostedPage, makePage } from "../../pages/page.ts";
import type { PageStep } from "../view.ts";
import { heading } from "./heading.ts";

export interface PreviewView {
  /** The step whose page people would meet. */
  readonly step: PageStep;
  readonly linkName: string;
  /** The link's address without query. */
  readonly entrypoint: string;
  readonly language: Language;
  readonly theme: PageTheme;
  readonly media: PageMedia;
}

/** What crawlers and the link previews of chats see in place of an interaction: what it is about, and never a form. */
export function renderPreview({
  step,
  linkName,
  entrypoint,
  language,
  theme,
  media,
}: PreviewView): HostedPage {
  const { title, description } = aboutOf(step);
  const shownTitle = title || linkName;
  return makePage({
    status: 200,
    language,
    theme,
    media,
    title: shownTitle,
    head: html`${meta("name", "description", description)}${meta("property", "og:type", "website")}${meta("property", "og:site_name", URL.parse(entrypoint)?.host ?? "")}${meta("property", "og:title", shownTitle)}${meta("property", "og:description", description)}${meta("property", "og:url", entrypoint)}${meta("property", "og:image", pictureUrl(media, entrypoint))}${meta("name", "twitter:card", media.cover === undefined ? "summary" : "summary_large_image")}${meta("name", "twitter:title", shownTitle)}${meta("name", "twitter:description", description)}`,
    content: heading({ title, description }, linkName),
  });
}

/** The address of the picture of a preview; empty when the theme has no image. */
function pictureUrl({ cover, badge }: PageMedia, entrypoint: string): string {
  const image = cover ?? badge;
  return image === undefined
    ? ""
    : (URL.parse(imageAddress(image, largestCopy(image)), entrypoint)?.href ?? "");
}

function aboutOf({ action, payload }: PageStep): { readonly title: string; readonly description: string } {
  if (action !== "CONTACT_CARD") return payload;
  const { firstName, lastName, title, organization } = payload;
  return {
    title: [firstName, lastName].filter(Boolean).join(" ") || organization,
    description: [title, organization].filter(Boolean).join(" · "),
  };
}

function meta(kind: "name" | "property", name: string, content: string): Markup | "" {
  if (content === "") return "";
  return html`<meta${attribute(kind, name)}${attribute("content", content)}>
`;
}
