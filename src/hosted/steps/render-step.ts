import { html } from "hono/html";
import { type Content, type HostedPage, makePage } from "../../pages/page.ts";
import { aboutOf, previewTags } from "../preview-tags.ts";
import type { StepView } from "../view.ts";
import { withBrand } from "./brand-line.ts";
import { contactCardContent } from "./contact-card.ts";
import { formContent } from "./form.ts";
import { messageContent } from "./message.ts";
import { multiLinkContent } from "./multi-link.ts";
import { passwordContent } from "./password.ts";
import { socialLinksContent } from "./social-links.ts";
import { thankYouContent } from "./thank-you.ts";

/**
 * The page of a step: 200, or with faults 401 for a password and 422 for a form. Pure: the same view gives the same
 * bytes.
 */
export function renderStep(view: StepView): HostedPage {
  const { step, language, theme, media, brandUrl, reportTo, preview } = view;
  const content = withBrand(contentOf(view), brandUrl, language);
  const { title, head = "" } = content;
  const tags = preview && previewTags({ ...aboutOf(step), title }, preview, media);
  return makePage({
    ...content,
    ...(tags && { head: html`${head}${tags}` }),
    status: statusOf(view),
    language,
    theme,
    media,
    reportTo,
  });
}

function statusOf({ status, faults, step }: StepView): number {
  if (status !== undefined) return status;
  if (faults.size === 0) return 200;
  return step.action === "PASSWORD_VERIFY" ? 401 : 422;
}

function contentOf(view: StepView): Content {
  const { step } = view;
  switch (step.action) {
    case "PASSWORD_VERIFY":
      return passwordContent(step.payload, view);
    case "FORM_SUBMIT":
      return formContent(step.payload, view);
    case "MESSAGE_PAGE":
      return messageContent(step.payload, view);
    case "MULTI_LINK":
      return multiLinkContent(step.payload, view);
    case "SOCIAL_LINKS_PAGE":
      return socialLinksContent(step.payload, view);
    case "CONTACT_CARD":
      return contactCardContent(step.payload, view);
    case "THANK_YOU_PAGE":
      return thankYouContent(step.payload, view);
  }
}
