import { type Content, makePage, type Page } from "../page.ts";
import type { StepView } from "../view.ts";
import { contactCardPage } from "./contact-card.ts";
import { formPage } from "./form.ts";
import { messagePage } from "./message.ts";
import { multiLinkPage } from "./multi-link.ts";
import { passwordPage } from "./password.ts";
import { socialLinksPage } from "./social-links.ts";
import { thankYouPage } from "./thank-you.ts";

/**
 * The page of a step: 200, or with faults 401 for a password and 422 for a form. Pure; the same view gives the same bytes.
 */
export function renderStep(view: StepView): Page {
  const { language, theme, media } = view;
  return makePage({ ...contentOf(view), status: statusOf(view), language, theme, media });
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
      return passwordPage(step.payload, view);
    case "FORM_SUBMIT":
      return formPage(step.payload, view);
    case "MESSAGE_PAGE":
      return messagePage(step.payload, view);
    case "MULTI_LINK":
      return multiLinkPage(step.payload, view);
    case "SOCIAL_LINKS_PAGE":
      return socialLinksPage(step.payload, view);
    case "CONTACT_CARD":
      return contactCardPage(step.payload, view);
    case "THANK_YOU_PAGE":
      return thankYouPage(step.payload, view);
  }
}
