import { html } from "hono/html";
import type { FormPayload } from "../../model/steps/form-submit.ts";
import type { Content } from "../../pages/page.ts";
import { alert } from "../../pages/parts.ts";
import { skipName } from "../../workflow/answer-fields.ts";
import { wordsOf } from "../languages.ts";
import type { Setting } from "../view.ts";
import { drawField } from "./form-field.ts";
import { heading } from "./heading.ts";

/**
 * The content of a form's page. When it opens, it has the default values; after a refusal, it has what was entered and
 * says what is wrong.
 */
export function formContent(payload: FormPayload, setting: Setting): Content {
  const { language, action, entered, faults, status, linkName } = setting;
  const words = wordsOf(language);
  const firstFaulty = payload.fields.find(({ id }) => faults.has(id))?.id;
  const fields = payload.fields.map((field, index) =>
    drawField(field, {
      index,
      words,
      entered,
      fault: faults.get(field.id),
      isFocused: field.id === firstFaulty,
    }),
  );
  // A visitor may skip the form without its required answers.
  const skip = payload.skipForm
    ? html`<button class="button bare" name="${skipName}" value="1" formnovalidate><bdi>${payload.skipButtonText || words.skip}</bdi></button>
`
    : "";
  return {
    title: payload.title || linkName,
    kind: "form",
    sheets: ["controls"],
    hasForm: true,
    content: html`${heading(payload, linkName)}${firstFaulty === undefined && status === undefined ? "" : alert(words.checkAnswers)}<form class="answers" method="post" action="${action}">
${fields}<div class="stack">
<button class="button"><bdi>${payload.submitButtonText || words.submit}</bdi></button>
${skip}</div>
</form>`,
  };
}
