import { html } from "hono/html";
import type { Markup } from "../../pages/markup.ts";
import { passkeysMax } from "../../people/passkeys.ts";
import type { Visit } from "../visit.ts";
import { filled, wordsOf } from "../words/languages.ts";
import { buttonForm, hidden } from "./form-page.ts";

/** A button that the script shows, with the words for when it fails. */
export function passkeyButton(visit: Visit, task: "register" | "sign-in"): Markup {
  const { passkeys } = wordsOf(visit.language);
  return html`<div class="stack" data-passkeys="${task}" data-url="${visit.pathTo("passkeys")}" hidden>
<button type="button" class="button plain">${task === "register" ? passkeys.add : passkeys.signIn}</button>
<p class="fault" role="alert" hidden>${passkeys.failed}</p>
</div>
`;
}

/** The passkeys of whoever is signed in, each with a button that removes it. */
export function passkeyList(
  visit: Visit,
  passkeys: readonly { readonly id: string; readonly createdAt: Date }[],
): Markup {
  const words = wordsOf(visit.language);
  const format = new Intl.DateTimeFormat(visit.language, { dateStyle: "long", timeZone: "UTC" });
  const items = passkeys.map(({ id, createdAt }, index) => {
    const name = filled(words.passkeyOf, { date: format.format(createdAt) });
    const label = `${words.passkeys.remove} (${index + 1})`;
    return html`<li><span>${name}</span>${buttonForm(visit, "remove-passkey", { text: label, look: "bare", fields: hidden("id", id) })}</li>
`;
  });
  const list =
    items.length === 0 ? html`<p>${words.passkeys.none}</p>` : html`<ul class="keys">${items}</ul>`;
  const add =
    items.length < passkeysMax ? passkeyButton(visit, "register") : html`<p>${words.passkeys.full}</p>`;
  return html`<section class="stack" aria-labelledby="passkeys">
<h2 id="passkeys">${words.passkeys.title}</h2>
<p class="quiet">${words.passkeys.lead}</p>
${list}
${add}</section>
`;
}
