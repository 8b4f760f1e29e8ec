import { type JsonFields, objectOf, objectsOf, textOf } from "./json-fields.ts";

/** What a step does: the event action's name without `EVENT_ACTION_`, as it is stored. */
export type StepAction = keyof typeof stepActions;

/** The part a step plays in its workflow. */
export type StepKind = "ENTRY" | "EXIT" | "INTERACTION" | "CONDITION";

/** COMPOSITE steps have a branch for each choice, ATOMIC ones a single `next`, or none when they are exits. */
export type NodeType = "COMPOSITE" | "ATOMIC";

interface ActionFacts {
  readonly kind: StepKind;
  readonly nodeType: NodeType;
  /** The JSON name of the payload's variant, in steps. */
  readonly payload: string;
  /** The JSON name of the data's variant, in traces. */
  readonly trace: string;
}

/** Everything that follows from a step's action. */
export const stepActions = {
  LINK_VISIT: { kind: "ENTRY", nodeType: "ATOMIC", payload: "linkVisit", trace: "entryAccess" },
  PASSWORD_VERIFY: { kind: "INTERACTION", nodeType: "ATOMIC", payload: "password", trace: "password" },
  FORM_SUBMIT: { kind: "INTERACTION", nodeType: "ATOMIC", payload: "form", trace: "form" },
  MESSAGE_PAGE: { kind: "INTERACTION", nodeType: "ATOMIC", payload: "messagePage", trace: "messagePage" },
  MULTI_LINK: { kind: "INTERACTION", nodeType: "COMPOSITE", payload: "multiLink", trace: "multiLink" },
  CLIENT_REDIRECT: { kind: "EXIT", nodeType: "ATOMIC", payload: "clientRedirect", trace: "redirect" },
  THANK_YOU_PAGE: { kind: "EXIT", nodeType: "ATOMIC", payload: "thankYouPage", trace: "thankYouPage" },
  CONTACT_CARD: { kind: "EXIT", nodeType: "ATOMIC", payload: "vcard", trace: "contactCard" },
  SOCIAL_LINKS_PAGE: { kind: "EXIT", nodeType: "ATOMIC", payload: "socialLinks", trace: "socialLinks" },
  VISIT_TYPE_CONDITION: condition("visitTypeCondition"),
  VISITOR_DATA_CONDITION: condition("visitorDataCondition"),
  COUNTRY_CONDITION: condition("countryCondition"),
  DAY_OF_WEEK_CONDITION: condition("dayOfWeekCondition"),
  TIME_OF_DAY_CONDITION: condition("timeOfDayCondition"),
  DAY_OF_MONTH_CONDITION: condition("dayOfMonthCondition"),
  SPECIFIC_DATE_CONDITION: condition("specificDateCondition"),
  DEVICE_TYPE_CONDITION: condition("deviceTypeCondition"),
  DEVICE_PLATFORM_CONDITION: condition("devicePlatformCondition"),
  DEVICE_BROWSER_CONDITION: condition("deviceBrowserCondition"),
  DEVICE_BRAND_CONDITION: condition("deviceBrandCondition"),
  DEVICE_ACTOR_CONDITION: condition("deviceActorCondition"),
} as const satisfies Record<string, ActionFacts>;

function condition<Name extends string>(name: Name) {
  return { kind: "CONDITION", nodeType: "COMPOSITE", payload: name, trace: name } as const;
}

/**
 * A step as it is stored. `payload` is the JSON object of the variant that belongs to the action, without the variant's
 * name: `{"destination":"https://example.com","conversionTracking":false}`, and `{}` for LINK_VISIT. Fields that hold
 * their default may be absent.
 */
export interface StoredStep {
  readonly id: string;
  readonly action: StepAction;
  readonly payload: unknown;
  /** The JSON of the message AttributeCapture; absent or null for a step that captures nothing. */
  readonly attributeCapture?: unknown;
}

/** Where a branch leads; a branch without one is not connected. */
export interface StoredConnection {
  readonly stepId: string;
  readonly branchId: string;
  readonly nextStepId: string;
}

/** One way out of a step: its id, unique in the step, and what people read. */
export interface Branch {
  readonly id: string;
  readonly label: string;
}

export const nextBranchId = "next";
export const elseBranchId = "else";

/** Every way out of a step, in the order it is tried or shown: one per choice, then `else`; `next`; none for exits. */
export function branchesOf({ action, payload }: Pick<StoredStep, "action" | "payload">): Branch[] {
  const { kind, nodeType } = stepActions[action];
  if (kind === "EXIT") return [];
  if (nodeType === "ATOMIC") return [{ id: nextBranchId, label: "next step" }];
  const fields = objectOf(payload);
  if (action === "MULTI_LINK")
    return inOrder(objectsOf(fields.buttons)).map((button) => branch(button.id, button.label));
  const choices = objectsOf(fields.options ?? fields.ranges ?? fields.countries);
  return [...choices.map(conditionBranch[action] ?? namedBranch), { id: elseBranchId, label: "fallback" }];
}

const conditionBranch: Partial<Record<StepAction, (choice: JsonFields) => Branch>> = {
  VISIT_TYPE_CONDITION: ({ value }) => branch(value, value),
  COUNTRY_CONDITION: ({ countryCode }) => branch(countryCode, countryCode),
  VISITOR_DATA_CONDITION: ({ id, attributeKey }) => branch(id, attributeKey),
};

function namedBranch({ id, name }: JsonFields): Branch {
  return branch(id, name);
}

function branch(id: unknown, label: unknown): Branch {
  return { id: textOf(id), label: textOf(label) };
}

/** Sorts by `order`, ascending; a missing one is the position in the array, and equal ones keep their places. */
export function inOrder<Item extends { readonly order?: unknown }>(items: readonly Item[]): Item[] {
  return items
    .map((item, position) => ({ item, order: typeof item.order === "number" ? item.order : position }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
