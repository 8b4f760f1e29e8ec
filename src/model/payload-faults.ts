import type { StepAction, StoredStep } from "./workflow.ts";

/**
 * What is wrong with the payload of a step so that it cannot do its work, in words for people; nothing when it is sound.
 * Such payloads can be saved.
 */
export function payloadFaults({ action, payload }: Pick<StoredStep, "action" | "payload">): string[] {
  // Stored payloads are objects of these fields, of which those with defaults may be absent.
  return checks[action]?.((payload ?? {}) as Fields) ?? [];
}

interface Fields {
  readonly destination?: string;
  readonly password?: string;
  readonly title?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly buttons?: readonly Item[];
  readonly links?: readonly Item[];
  readonly formFields?: readonly Item[];
  readonly options?: readonly Item[];
}

interface Item {
  readonly url?: string;
  readonly type?: string;
  readonly label?: string;
  readonly name?: string;
  readonly value?: string;
  readonly operator?: string;
  readonly attributeKey?: string;
  readonly daysOfWeek?: readonly number[];
  readonly options?: readonly unknown[];
}

type Check = (fields: Fields) => string[];

const unspecified = /_UNSPECIFIED$/;

const device: Check = ({ options = [] }) =>
  options
    .filter(({ value = "_UNSPECIFIED" }) => unspecified.test(value))
    .map(({ name = "" }) => `option ${JSON.stringify(name)} has no value and matches nobody: choose one`);

const checks: Partial<Record<StepAction, Check>> = {
  CLIENT_REDIRECT: ({ destination }) => (destination ? [] : ["the redirect has no destination: give it one"]),
  PASSWORD_VERIFY: ({ password }) => (password ? [] : ["no password is set, and nobody can enter: set one"]),
  CONTACT_CARD: ({ firstName, lastName }) =>
    firstName || lastName ? [] : ["the contact card has no name: give it one"],
  MULTI_LINK: ({ buttons = [] }) => (buttons.length > 0 ? [] : ["the page has no buttons: add one"]),
  SOCIAL_LINKS_PAGE: ({ links = [] }) =>
    links.length === 0
      ? ["the page has no links: add one"]
      : links.flatMap(({ url }, index) => (url ? [] : [`link ${index + 1} has no URL: give it one`])),
  FORM_SUBMIT: ({ formFields = [] }) =>
    formFields.length === 0
      ? ["the form has no fields: add one"]
      : formFields
          .filter(
            ({ type = "", options = [] }) => /_(RADIO|CHECKBOX|DROPDOWN)$/.test(type) && options.length === 0,
          )
          .map(({ label = "" }) => `field ${JSON.stringify(label)} has no options to choose from: add one`),
  DAY_OF_WEEK_CONDITION: ({ options = [] }) =>
    options
      .filter(({ daysOfWeek = [] }) => daysOfWeek.length === 0)
      .map(({ name = "" }) => `option ${JSON.stringify(name)} has no days and matches nobody: add one`),
  VISITOR_DATA_CONDITION: ({ options = [] }) =>
    options
      .filter(({ operator = "_UNSPECIFIED" }) => unspecified.test(operator))
      .map(
        ({ attributeKey = "" }) =>
          `the option on ${attributeKey} has no operator and matches nobody: choose one`,
      ),
  DEVICE_TYPE_CONDITION: device,
  DEVICE_PLATFORM_CONDITION: device,
  DEVICE_BROWSER_CONDITION: device,
  DEVICE_BRAND_CONDITION: device,
  DEVICE_ACTOR_CONDITION: device,
};
