import { html } from "hono/html";
import type { PasswordPayload } from "../../model/steps/password-verify.ts";
import { attribute } from "../../pages/markup.ts";
import type { Content } from "../../pages/page.ts";
import { mark } from "../../pages/parts.ts";
import { passwordName } from "../../workflow/answer-fields.ts";
import { wordsOf } from "../languages.ts";
import type { Setting } from "../view.ts";
import { heading } from "./heading.ts";

/** The content of a password's page, which never shows what was entered. */
export function passwordContent(payload: PasswordPayload, setting: Setting): Content {
  const { language, theme, action, faults } = setting;
  const words = wordsOf(language);
  const title = payload.title || words.passwordTitle;
  const isWrong = faults.size > 0;
  const fault = isWrong
    ? html`<p class="fault" id="fault" role="alert">${words.faults.PASSWORD}</p>
`
    : "";
  return {
    title,
    sheets: ["controls"],
    hasForm: true,
    content: html`${theme.badge === undefined ? mark("lock") : ""}${heading({ title, description: payload.description }, "")}
<form class="answers" method="post" action="${action}">
<div class="field">
<label for="password">${words.password}</label>
<input id="password" name="${passwordName}" type="password" required maxlength="255" autocomplete="off" autocapitalize="none" spellcheck="false"${attribute("aria-invalid", isWrong && "true")}${attribute("aria-describedby", isWrong && "fault")}${attribute("autofocus", isWrong)}>
${fault}</div>
<button class="button">${words.continue}</button>
</form>`,
  };
}
