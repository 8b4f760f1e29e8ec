import { html } from "hono/html";
import type { SocialLink, SocialLinksPayload } from "../../model/steps/social-links-page.ts";
import { icon, platformOf } from "../../pages/icons.ts";
import type { Markup } from "../../pages/markup.ts";
import type { Content } from "../../pages/page.ts";
import { linkName as linkField } from "../../workflow/answer-fields.ts";
import type { Setting } from "../view.ts";
import { heading, notOfferedAlert } from "./heading.ts";

export function socialLinksContent(payload: SocialLinksPayload, setting: Setting): Content {
  const { action, linkName } = setting;
  const isCompact = payload.displayStyle === "COMPACT";
  const links = payload.links.map((link) => (isCompact ? compact(link) : detailed(link)));
  return {
    title: payload.title || linkName,
    hasForm: true,
    content: html`${heading(payload, linkName)}${notOfferedAlert(setting)}<form method="post" action="${action}"${isCompact ? html` class="icons"` : ""}>
${links}</form>`,
  };
}

/** The class of a button. The first link in the owner's order stands out. */
function look({ order }: SocialLink): string {
  return order === 1 ? "button" : "button plain";
}

function detailed(link: SocialLink): Markup {
  const { glyph, name } = platformOf(link.platform, link.url);
  return html`<button class="${look(link)} between" name="${linkField}" value="${link.id}">${icon(glyph)}<span>${name}</span><span class="turn">${icon("arrow")}</span></button>
`;
}

function compact(link: SocialLink): Markup {
  const { glyph, name } = platformOf(link.platform, link.url);
  return html`<button class="${look(link)}" name="${linkField}" value="${link.id}" title="${name}">${icon(glyph)}<span class="hide">${name}</span></button>
`;
}
