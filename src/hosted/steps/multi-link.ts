import { html } from "hono/html";
import type { MultiLinkPayload } from "../../model/steps/multi-link.ts";
import type { Content } from "../../pages/page.ts";
import { buttonName } from "../../workflow/answer-fields.ts";
import type { Setting } from "../view.ts";
import { heading, notOfferedAlert } from "./heading.ts";

export function multiLinkContent(payload: MultiLinkPayload, setting: Setting): Content {
  const { action, linkName } = setting;
  const buttons = payload.buttons.map(
    ({ id, label }, index) =>
      html`<button class="button" name="${buttonName}" value="${id}"><bdi>${label || String(index + 1)}</bdi></button>
`,
  );
  return {
    title: payload.title || linkName,
    hasForm: true,
    content: html`${heading(payload, linkName)}${notOfferedAlert(setting)}<form method="post" action="${action}">
${buttons}</form>`,
  };
}
