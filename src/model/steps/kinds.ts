import { clientRedirect } from "./client-redirect.ts";
import type { Choices } from "./conditions.ts";
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
import type { StepFacts } from "./step.ts";
import { thankYouPage } from "./thank-you-page.ts";
import { timeOfDayCondition } from "./time-of-day-condition.ts";
import { visitTypeCondition } from "./visit-type-condition.ts";
import { visitorDataCondition } from "./visitor-data-condition.ts";

/** Everything that follows from a step's action, by the event action's name without `EVENT_ACTION_`. */
export const stepActions = {
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
} as const;

/** What a step does: the event action's name without `EVENT_ACTION_`, as it is stored. */
export type StepAction = keyof typeof stepActions;

/** The facts of one action, with the types of its own. */
type FactsOf<Action extends StepAction> = (typeof stepActions)[Action];

/**
 * The payloads of steps, as the engine and the pages read them: enum values bare, defaults filled in, choices in the
 * order shown.
 */
export type Payloads = {
  readonly [Action in StepAction]: NonNullable<ReturnType<FactsOf<Action>["read"]>>;
};

/** One choice of a condition of this kind. */
export type StepChoice<Action extends StepAction> =
  Payloads[Action] extends Choices<infer Choice> ? Choice : never;

/** The JSON name of a payload's variant. */
export type PayloadName = FactsOf<StepAction>["payload"];

/** Actions by the names of their payloads. */
export const actionsByPayload = Object.fromEntries(
  Object.entries(stepActions).map(([action, { payload }]) => [payload, action]),
  // Every action has a payload of its own, which the types of the entries do not say.
) as { readonly [Name in PayloadName]: StepAction };

/** The steps that have a page. */
export type PageAction = {
  [Action in StepAction]: FactsOf<Action>["hasPage"] extends true ? Action : never;
}[StepAction];

/** The conditions. */
export type ConditionAction = {
  [Action in StepAction]: FactsOf<Action>["kind"] extends "CONDITION" ? Action : never;
}[StepAction];

/** The same record for a caller that has an action and its payload without knowing which action it is. */
export const factsByAction: { readonly [Action in StepAction]: StepFacts<Payloads[Action]> } = stepActions;
