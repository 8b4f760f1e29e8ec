/** What happened at a completed step, in words. All texts are as they were typed. */
export interface StepFacts {
  /** Such as `Form submitted`. */
  readonly what: string;
  /** Names and values, such as the answers of a form. */
  readonly details: readonly Detail[];
}

export interface Detail {
  readonly name: string;
  readonly value: string;
}

const whatOfAction: Readonly<Record<string, string>> = {
  EVENT_ACTION_CLIENT_REDIRECT: "Redirected",
  EVENT_ACTION_LINK_VISIT: "Link followed",
  EVENT_ACTION_PASSWORD_VERIFY: "Password accepted",
  EVENT_ACTION_FORM_SUBMIT: "Form submitted",
  EVENT_ACTION_CONTACT_CARD: "Contact card shown",
  EVENT_ACTION_MULTI_LINK: "Button pressed",
  EVENT_ACTION_SOCIAL_LINKS_PAGE: "Social links shown",
  EVENT_ACTION_THANK_YOU_PAGE: "Thank-you page shown",
  EVENT_ACTION_MESSAGE_PAGE: "Message read",
  EVENT_ACTION_VISIT_TYPE_CONDITION: "Visit type checked",
  EVENT_ACTION_COUNTRY_CONDITION: "Country checked",
  EVENT_ACTION_DAY_OF_WEEK_CONDITION: "Day of the week checked",
  EVENT_ACTION_TIME_OF_DAY_CONDITION: "Time of day checked",
  EVENT_ACTION_DAY_OF_MONTH_CONDITION: "Day of the month checked",
  EVENT_ACTION_SPECIFIC_DATE_CONDITION: "Date checked",
  EVENT_ACTION_DEVICE_TYPE_CONDITION: "Device type checked",
  EVENT_ACTION_DEVICE_PLATFORM_CONDITION: "Operating system checked",
  EVENT_ACTION_DEVICE_BROWSER_CONDITION: "Browser checked",
  EVENT_ACTION_DEVICE_BRAND_CONDITION: "Device brand checked",
  EVENT_ACTION_DEVICE_ACTOR_CONDITION: "Kind of visitor checked",
  EVENT_ACTION_VISITOR_DATA_CONDITION: "Visitor data checked",
};

/** Follows names into JSON. Undefined where the path ends early. */
export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** The text at a path into JSON; empty when there is none. */
export function textAt(json: unknown, ...path: readonly string[]): string {
  const value = valueAt(json, ...path);
  return typeof value === "string" ? value : "";
}

/** Reads the `data` of a message about a completed step. */
export function stepFactsOf(data: unknown): StepFacts {
  const action = textAt(data, "step", "eventAction");
  const isScan = textAt(data, "event", "action") === "ACTION_SCAN";
  const isSkipped = valueAt(data, "trace", "stepData", "form", "skipped") === true;
  const known = Object.hasOwn(whatOfAction, action) ? whatOfAction[action] : undefined;
  return {
    what:
      action === "EVENT_ACTION_LINK_VISIT" && isScan
        ? "QR code scanned"
        : isSkipped
          ? "Form skipped"
          : (known ?? "Step completed"),
    details: [...detailsOf(valueAt(data, "trace", "stepData")), ...visitorOf(valueAt(data, "visitor"))],
  };
}

function detailsOf(stepData: unknown): Detail[] {
  const fields = valueAt(stepData, "form", "fields");
  const answers = (Array.isArray(fields) ? fields : []).map((field) => ({
    name: textAt(field, "label") || textAt(field, "key"),
    value: textAt(field, "value"),
  }));
  return [
    ...answers,
    { name: "Button", value: textAt(stepData, "multiLink", "selectedButton", "label") },
    { name: "Destination", value: textAt(stepData, "redirect", "destination") },
  ].filter(({ value }) => value !== "");
}

function visitorOf(visitor: unknown): Detail[] {
  const names = [textAt(visitor, "firstName"), textAt(visitor, "lastName")];
  const known = [names.join(" ").trim(), textAt(visitor, "email"), textAt(visitor, "phone")];
  const value = known.filter((text) => text !== "").join(", ");
  return value === "" ? [] : [{ name: "Visitor", value }];
}
