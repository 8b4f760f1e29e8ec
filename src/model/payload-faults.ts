import type { Choices, DeviceChoice, NamedChoice, Payloads } from "./payloads.ts";
import { readPayload } from "./read-payload.ts";
import type { StepAction, StoredStep } from "./workflow.ts";

/**
 * What is wrong with the payload of a step so that it cannot do its work, in words for people; nothing when it is sound.
 * Such payloads can be saved. Whatever the scan runtime cannot read is among them.
 */
export function payloadFaults({
  action,
  payload,
}: Pick<StoredStep, "action" | "payload">): readonly string[] {
  return faultsOf(action, payload);
}

function faultsOf<Action extends StepAction>(action: Action, stored: unknown): readonly string[] {
  const payload = readPayload(action, stored);
  if (payload === undefined) return [brokenBecause[action] ?? "the payload cannot be read: give it anew"];
  return checks[action]?.(payload) ?? [];
}

/** Why payloads that the interface takes are broken all the same. */
const brokenBecause: Partial<Record<StepAction, string>> = {
  CLIENT_REDIRECT: "the redirect has no destination: give it one",
  CONTACT_CARD: "the contact card has no name: give it one",
  MULTI_LINK: "the page has no buttons: add one",
};

type Checks = { readonly [Action in StepAction]?: (payload: Payloads[Action]) => string[] };

const checks: Checks = {
  PASSWORD_VERIFY: ({ password }) =>
    password === "" ? ["no password is set, and nobody can enter: set one"] : [],
  SOCIAL_LINKS_PAGE: ({ links }) =>
    links.length === 0 ? ["the page has no links to show: add one with a URL"] : [],
  FORM_SUBMIT: ({ fields }) =>
    fields.length === 0
      ? ["the form has no fields: add one"]
      : fields
          .filter(({ type, options }) => /^(RADIO|CHECKBOX|DROPDOWN)$/.test(type) && options.length === 0)
          .map(({ label, key }) => `field ${label || key} has no options to choose from: add one`),
  DAY_OF_WEEK_CONDITION: ({ choices }) =>
    choices.filter(({ daysOfWeek }) => daysOfWeek.length === 0).map(({ name }) => unmatched(name, "days")),
  VISITOR_DATA_CONDITION: ({ choices }) =>
    choices
      .filter(({ operator }) => operator === undefined)
      .map(({ attributeKey }) => unmatched(attributeKey, "operator")),
  DEVICE_TYPE_CONDITION: unmatchedDevices,
  DEVICE_PLATFORM_CONDITION: unmatchedDevices,
  DEVICE_BROWSER_CONDITION: unmatchedDevices,
  DEVICE_BRAND_CONDITION: unmatchedDevices,
  DEVICE_ACTOR_CONDITION: unmatchedDevices,
};

function unmatchedDevices({ choices }: Choices<NamedChoice & DeviceChoice>): string[] {
  return choices.filter(({ value }) => value === "").map(({ name }) => unmatched(name, "value"));
}

function unmatched(name: string, what: string): string {
  return `option ${JSON.stringify(name)} has no ${what} and matches nobody: complete it`;
}
