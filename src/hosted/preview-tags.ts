import { html } from "hono/html";
import type { PageMedia } from "../model/look/page-image.ts";
import { imageAddress, largestCopy } from "../pages/images.ts";
import { attribute, type Markup } from "../pages/markup.ts";
import { card } from "../pages/picture/draw-card.ts";
import type { PageStep } from "./view.ts";

/** What link previews are told of a link, beside what its page says. */
export interface PreviewFacts {
  /** The link's address without query. */
  readonly entrypoint: string;
  /** The address of a picture for a page whose theme has none. */
  readonly cardAddress: string;
}

/** What a page is about, in the words of its step. */
export interface About {
  readonly title: string;
  readonly description: string;
}

export function aboutOf({ action, payload }: PageStep): About {
  if (action !== "CONTACT_CARD") return payload;
  const { firstName, lastName, title, organization } = payload;
  return {
    title: [firstName, lastName].filter(Boolean).join(" ") || organization,
    description: [title, organization].filter(Boolean).join(" · "),
  };
}

/** The tags by which chats and social networks draw the preview of a link. */
export function previewTags({ title, description }: About, facts: PreviewFacts, media: PageMedia): Markup {
  const { entrypoint } = facts;
  const { url, width, height, isLarge } = pictureOf(facts, media);
  return html`${tag("name", "description", description)}${tag("property", "og:type", "website")}${tag("property", "og:site_name", URL.parse(entrypoint)?.host ?? "")}${tag("property", "og:title", title)}${tag("property", "og:description", description)}${tag("property", "og:url", entrypoint)}${tag("property", "og:image", url)}${tag("property", "og:image:width", width)}${tag("property", "og:image:height", height)}${tag("name", "twitter:card", isLarge ? "summary_large_image" : "summary")}${tag("name", "twitter:title", title)}${tag("name", "twitter:description", description)}`;
}

/** The cover; else the badge, which chats show small beside the words; else the drawn card. */
function pictureOf({ entrypoint, cardAddress }: PreviewFacts, { cover, badge }: PageMedia) {
  const image = cover ?? badge;
  if (image === undefined) return { url: cardAddress, ...card, isLarge: true };
  const copy = largestCopy(image);
  const url = URL.parse(imageAddress(image, copy), entrypoint)?.href ?? "";
  return { url, width: copy.width, height: copy.height, isLarge: cover !== undefined };
}

function tag(kind: "name" | "property", name: string, content: string | number): Markup | "" {
  if (content === "") return "";
  return html`<meta${attribute(kind, name)}${attribute("content", content)}>
`;
}
