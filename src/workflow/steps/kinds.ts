import type { StepAction } from "../../model/steps/kinds.ts";
import { clientRedirect } from "./client-redirect.ts";
import { contactCard } from "./contact-card.ts";
import { countryCondition } from "./country-condition.ts";
import { dayOfMonthCondition } from "./day-of-month-condition.ts";
import { dayOfWeekCondition } from "./day-of-week-condition.ts";
import {
  deviceActorCondition,
  deviceBrandCondition,
  deviceBrowserCondition,
  devicePlatformCondition,
  deviceTypeCondition,
} from "./device-conditions.ts";
import { formSubmit } from "./form-submit.ts";
import { linkVisit } from "./link-visit.ts";
import { messagePage } from "./message-page.ts";
import { multiLink } from "./multi-link.ts";
import { passwordVerify } from "./password-verify.ts";
import { socialLinksPage } from "./social-links-page.ts";
import { specificDateCondition } from "./specific-date-condition.ts";
import type { StepKindOf } from "./step.ts";
import { thankYouPage } from "./thank-you-page.ts";
import { timeOfDayCondition } from "./time-of-day-condition.ts";
import { visitTypeCondition } from "./visit-type-condition.ts";
import { visitorDataCondition } from "./visitor-data-condition.ts";

/** Every kind of step; one that is missing does not compile. */
export const stepKinds: { readonly [Action in StepAction]: StepKindOf<Action> } = {
  LINK_VISIT: linkVisit,
  PASSWORD_VERIFY: passwordVerify,
  FORM_SUBMIT: formSubmit,
  MESSAGE_PAGE: messagePage,
  MULTI_LINK: multiLink,
  CLIENT_REDIRECT: clientRedirect,
  THANK_YOU_PAGE: thankYouPage,
  CONTACT_CARD: contactCard,
  SOCIAL_LINKS_PAGE: socialLinksPage,
  VISIT_TYPE_CONDITION: visitTypeCondition,
  VISITOR_DATA_CONDITION: visitorDataCondition,
  COUNTRY_CONDITION: countryCondition,
  DAY_OF_WEEK_CONDITION: dayOfWeekCondition,
  TIME_OF_DAY_CONDITION: timeOfDayCondition,
  DAY_OF_MONTH_CONDITION: dayOfMonthCondition,
  SPECIFIC_DATE_CONDITION: specificDateCondition,
  DEVICE_TYPE_CONDITION: deviceTypeCondition,
  DEVICE_PLATFORM_CONDITION: devicePlatformCondition,
  DEVICE_BROWSER_CONDITION: deviceBrowserCondition,
  DEVICE_BRAND_CONDITION: deviceBrandCondition,
  DEVICE_ACTOR_CONDITION: deviceActorCondition,
};
