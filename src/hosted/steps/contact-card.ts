import { html } from "hono/html";
import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { ContactCardPayload } from "../../model/steps/contact-card.ts";
import { type Glyph, icon, platformOf } from "../../pages/icons.ts";
import type { Language } from "../../pages/languages.ts";
import type { Markup } from "../../pages/markup.ts";
import type { Content } from "../../pages/page.ts";
import { wordsOf } from "../languages.ts";
import type { Setting } from "../view.ts";
import { isWebAddress } from "../web-address.ts";
import type { Words } from "../words/words.ts";

export function contactCardContent(card: ContactCardPayload, setting: Setting): Content {
  const { language, theme, cardUrl } = setting;
  const words = wordsOf(language);
  const name = [card.firstName, card.lastName].filter(Boolean).join(" ") || card.organization;
  const role = [card.title, card.organization].filter((part) => part !== "" && part !== name).join(" · ");
  const initials =
    theme.badge === undefined
      ? html`<div class="mark" aria-hidden="true">${initialsOf(name, language)}</div>`
      : "";
  return {
    title: name,
    kind: "card",
    sheets: ["card"],
    content: html`${initials}<header><h1><bdi>${name}</bdi></h1>${role === "" ? "" : html`<p class="lead"><bdi>${role}</bdi></p>`}</header>
<a class="button" href="${cardUrl}" download>${icon("download")}<bdi>${card.buttonLabel || words.saveContact}</bdi></a>
${lines(card, words)}${socialLinks(card)}`,
  };
}

function initialsOf(name: string, language: Language): string {
  const segments = new Intl.Segmenter(language, { granularity: "grapheme" });
  const first = (word: string) => segments.segment(word)[Symbol.iterator]().next().value?.segment ?? "";
  const [one = "", ...others] = name.split(/\s+/).filter(Boolean);
  return (first(one) + first(others.at(-1) ?? "")).toLocaleUpperCase(language);
}

function lines(card: ContactCardPayload, words: Words): Markup | "" {
  const { phone, email, website } = card;
  const isPhone = /^\+[1-9]\d{1,14}$/.test(phone);
  const grouped = parsePhoneNumberFromString(phone)?.formatInternational() ?? phone;
  const shown = [
    isPhone ? line("phone", words.phone, html`<bdi>${grouped}</bdi>`, `tel:${phone}`) : "",
    isPhone && card.phoneIsWhatsapp
      ? line("whatsapp", "WhatsApp", html`<bdi>${grouped}</bdi>`, `https://wa.me/${phone.slice(1)}`)
      : "",
    email === "" ? "" : line("mail", words.email, html`<bdi>${email}</bdi>`, mailUrl(email)),
    isWebAddress(website)
      ? line(
          "website",
          words.website,
          html`<bdi>${website.replace(/^https?:\/\/(?:www\.)?|\/$/gi, "")}</bdi>`,
          website,
        )
      : "",
    address(card, words),
  ].filter((item) => item !== "");
  return shown.length === 0
    ? ""
    : html`<ul class="lines">
${shown}</ul>
`;
}

function line(glyph: Glyph, label: string, text: Markup, url: string | undefined): Markup {
  const content = html`${icon(glyph)}<span><small>${label}</small>${text}</span>`;
  if (url === undefined)
    return html`<li><div class="line">${content}</div></li>
`;
  return html`<li><a class="line" href="${url}">${content}</a></li>
`;
}

function address(card: ContactCardPayload, words: Words): Markup | "" {
  const { streetAddress, postalCode, city, state, country } = card;
  const rows = [streetAddress, [postalCode, city].filter(Boolean).join(" "), state, country].filter(Boolean);
  const text = rows.map((row, index) => html`${index === 0 ? "" : html`<br>`}<bdi>${row}</bdi>`);
  return rows.length === 0 ? "" : line("pin", words.address, html`${text}`, undefined);
}

function socialLinks({ socialLinks }: ContactCardPayload): Markup | "" {
  const links = socialLinks
    .filter(({ url }) => isWebAddress(url))
    .map(({ platform, url }) => {
      const { glyph, name } = platformOf(platform, url);
      return html`<a class="button plain" href="${url}" title="${name}">${icon(glyph)}<span class="hide">${name}</span></a>
`;
    });
  return links.length === 0
    ? ""
    : html`<div class="icons">
${links}</div>`;
}

function mailUrl(email: string): string {
  return `mailto:${encodeURIComponent(email.toWellFormed()).replaceAll("%40", "@")}`;
}
