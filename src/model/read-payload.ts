import { isAttributeOperator } from "./attribute-operators.ts";
import { asObject, type JsonFields, objectOf, objectsOf, textOf } from "./json-fields.ts";
import type {
  AttributeCapture,
  AttributeType,
  CapturedAttribute,
  Choices,
  DeviceChoice,
  FormField,
  FormFieldType,
  NamedChoice,
  Payloads,
  TitledPayload,
} from "./payloads.ts";
import { parseTarget } from "./redirect-target.ts";
import { inOrder, type StepAction } from "./workflow.ts";

/**
 * Reads a stored payload: enum values bare, defaults filled in, choices in the order they are shown or tried. Undefined
 * when it is broken, which leads visitors to the fallback: it is no object, lacks what its step cannot do without, or holds
 * what nobody can evaluate.
 */
export function readPayload<Action extends StepAction>(
  action: Action,
  stored: unknown,
): Payloads[Action] | undefined {
  const fields = asObject(stored);
  return fields === undefined ? undefined : readers[action](fields);
}

/** Reads a stored AttributeCapture; undefined when there is nothing to capture. What is broken in it is left out. */
export function readAttributeCapture(stored: unknown): AttributeCapture | undefined {
  const fields = objectOf(stored);
  const attributes = objectsOf(fields.attributes).flatMap((attribute): CapturedAttribute[] => {
    const source = oneOf(bare(attribute.source, "ATTRIBUTE_CAPTURE_SOURCE_"), captureSources);
    const key = textOf(attribute.key);
    if (source === undefined || key === "") return [];
    const type = oneOf(bare(attribute.type, "VISITOR_ATTRIBUTE_TYPE_"), attributeTypes) ?? "STRING";
    return [{ key, source, value: textOf(attribute.value), type }];
  });
  return attributes.length === 0 ? undefined : { attributes, setOnce: fields.setOnce === true };
}

const captureSources = ["CHOICE", "MILESTONE", "LINK_CONTEXT"] as const;
const attributeTypes: readonly AttributeType[] = ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM"];

type Reader<Payload> = (fields: JsonFields) => Payload | undefined;

const readers: { readonly [Action in StepAction]: Reader<Payloads[Action]> } = {
  LINK_VISIT: () => ({}),

  PASSWORD_VERIFY: (fields) => ({ ...titledOf(fields), password: textOf(fields.password) }),

  FORM_SUBMIT: (fields) => ({
    title: textOf(fields.formTitle),
    description: textOf(fields.formDescription),
    fields: ordered(objectsOf(fields.formFields)).map(formFieldOf),
    submitButtonText: textOf(fields.submitButtonText),
    skipForm: fields.skipForm === true,
    skipButtonText: textOf(fields.skipButtonText),
    autoSkipIfKnown: fields.autoSkipIfKnown === true,
  }),

  MESSAGE_PAGE: (fields) => {
    const navigationType = oneOf(bare(fields.navigationType, "MESSAGE_PAGE_NAVIGATION_TYPE_"), [
      "BUTTON",
      "TIMER",
    ]);
    const timerSeconds = integerOf(fields.timerSeconds) ?? 0;
    if (navigationType === undefined) return undefined;
    if (navigationType === "TIMER" && (timerSeconds < 1 || timerSeconds > 300)) return undefined;
    return { ...titledOf(fields), navigationType, buttonLabel: textOf(fields.buttonLabel), timerSeconds };
  },

  MULTI_LINK: (fields) => {
    const buttons = ordered(objectsOf(fields.buttons)).map(({ id, label, order }) => {
      return { id: textOf(id), label: textOf(label), order };
    });
    return buttons.length === 0 ? undefined : { ...titledOf(fields), buttons };
  },

  CLIENT_REDIRECT: (fields) => {
    const destination = textOf(fields.destination);
    if (destination === "") return undefined;
    const conversionTracking = fields.conversionTracking === true;
    return { destination, conversionTracking, target: parseTarget(destination) };
  },

  THANK_YOU_PAGE: titledOf,

  CONTACT_CARD: (fields) => {
    const firstName = textOf(fields.firstName);
    const lastName = textOf(fields.lastName);
    if (firstName === "" && lastName === "") return undefined;
    return {
      firstName,
      lastName,
      title: textOf(fields.title),
      organization: textOf(fields.organization),
      email: textOf(fields.email),
      phone: textOf(fields.phone),
      phoneIsWhatsapp: fields.phoneIsWhatsapp === true,
      website: textOf(fields.website),
      streetAddress: textOf(fields.streetAddress),
      city: textOf(fields.city),
      state: textOf(fields.state),
      postalCode: textOf(fields.postalCode),
      country: textOf(fields.country),
      socialLinks: objectsOf(fields.socialLinks).filter(hasUrl).map(placeElsewhere),
      buttonLabel: textOf(fields.buttonLabel),
    };
  },

  SOCIAL_LINKS_PAGE: (fields) => ({
    ...titledOf(fields),
    displayStyle:
      bare(fields.displayStyle, "SOCIAL_LINKS_DISPLAY_STYLE_") === "COMPACT" ? "COMPACT" : "DETAILED",
    links: ordered(objectsOf(fields.links))
      .filter(hasUrl)
      .map((link) => {
        return { id: textOf(link.id), ...placeElsewhere(link), order: link.order };
      }),
  }),

  VISIT_TYPE_CONDITION: choices("options", ({ value }) => {
    const visitType = oneOf(bare(value, "VISIT_TYPE_"), ["FIRST", "RETURNING"]);
    return visitType && { branchId: textOf(value), value: visitType };
  }),

  VISITOR_DATA_CONDITION: choices("options", (choice) => {
    const operator = bare(choice.operator, "ATTRIBUTE_OPERATOR_");
    return {
      ...namedOf(choice),
      attributeKey: textOf(choice.attributeKey),
      operator: isAttributeOperator(operator) ? operator : undefined,
      comparisonValue: textOf(choice.comparisonValue),
    };
  }),

  COUNTRY_CONDITION: choices("countries", (choice) => {
    const countryCode = textOf(choice.countryCode);
    return { branchId: countryCode, countryCode };
  }),

  DAY_OF_WEEK_CONDITION: choices("options", (choice) => {
    const daysOfWeek = integersOf(choice.daysOfWeek);
    return daysOfWeek && { ...namedOf(choice), daysOfWeek };
  }),

  TIME_OF_DAY_CONDITION: choices("ranges", (choice) => {
    const startTime = textOf(choice.startTime);
    const endTime = textOf(choice.endTime);
    if (!clockTime.test(startTime) || !clockTime.test(endTime)) return undefined;
    return { ...namedOf(choice), startTime, endTime };
  }),

  DAY_OF_MONTH_CONDITION: choices("options", (choice) => {
    const dayOfMonth = integerOf(choice.dayOfMonth);
    return dayOfMonth === undefined ? undefined : { ...namedOf(choice), dayOfMonth };
  }),

  SPECIFIC_DATE_CONDITION: choices("options", (choice) => {
    const month = integerOf(choice.month);
    const day = integerOf(choice.day);
    if (month === undefined || day === undefined) return undefined;
    return { ...namedOf(choice), year: integerOf(choice.year), month, day };
  }),

  DEVICE_TYPE_CONDITION: deviceChoices("DEVICE_TYPE_CONDITION_VALUE_"),
  DEVICE_PLATFORM_CONDITION: deviceChoices("DEVICE_PLATFORM_CONDITION_VALUE_"),
  DEVICE_BROWSER_CONDITION: deviceChoices("DEVICE_BROWSER_CONDITION_VALUE_"),
  DEVICE_BRAND_CONDITION: deviceChoices("DEVICE_BRAND_CONDITION_VALUE_"),
  DEVICE_ACTOR_CONDITION: deviceChoices("DEVICE_ACTOR_CONDITION_VALUE_"),
};

const clockTime = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Reads a condition; one choice that is broken breaks it, because nobody can say who would have taken it. */
function choices<Choice extends { readonly branchId: string }>(
  name: "options" | "ranges" | "countries",
  read: (choice: JsonFields) => Choice | undefined,
): Reader<Choices<Choice>> {
  return (fields) => {
    const stored = fields[name] ?? [];
    if (!Array.isArray(stored)) return undefined;
    const found: Choice[] = [];
    for (const item of stored) {
      const choice = read(objectOf(item));
      if (choice === undefined || choice.branchId === "") return undefined;
      found.push(choice);
    }
    return { choices: found };
  };
}

function deviceChoices(prefix: string): Reader<Choices<NamedChoice & DeviceChoice & { branchId: string }>> {
  return choices("options", (choice) => {
    const value = bare(choice.value, prefix);
    return { ...namedOf(choice), value: value === "UNSPECIFIED" ? "" : value };
  });
}

function namedOf({ id, name }: JsonFields) {
  return { branchId: textOf(id), id: textOf(id), name: textOf(name) };
}

function titledOf({ title, description }: JsonFields): TitledPayload {
  return { title: textOf(title), description: textOf(description) };
}

const formFieldTypes: readonly FormFieldType[] = [
  "TEXT",
  "EMAIL",
  "PHONE",
  "TEXTAREA",
  "RADIO",
  "CHECKBOX",
  "DROPDOWN",
  "NUMBER",
  "DATE",
  "RATING",
];

function formFieldOf(field: JsonFields & { readonly order: number }): FormField {
  return {
    id: textOf(field.id),
    key: textOf(field.key),
    label: textOf(field.label),
    type: oneOf(bare(field.type, "FORM_FIELD_TYPE_"), formFieldTypes) ?? "TEXT",
    required: field.required === true,
    order: field.order,
    options: objectsOf(field.options).map(({ label, value }) => {
      return { label: textOf(label) || textOf(value), value: textOf(value) || textOf(label) };
    }),
    defaultValue: textOf(field.defaultValue),
    placeholder: textOf(field.placeholder),
    helpText: textOf(field.helpText),
    validationPattern: textOf(field.validationPattern),
  };
}

/** A link without an address is not shown. */
function hasUrl({ url }: JsonFields): boolean {
  return textOf(url) !== "";
}

function placeElsewhere({ platform, url }: JsonFields) {
  return { platform: textOf(platform).toLowerCase() || "website", url: textOf(url) };
}

/** In the order they are shown, each with its `order`: where it is missing, the position in the array. */
function ordered(items: readonly JsonFields[]): (JsonFields & { readonly order: number })[] {
  return inOrder(items.map((item, position) => ({ ...item, order: integerOf(item.order) ?? position })));
}

function bare(value: unknown, prefix: string): string {
  const name = textOf(value);
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function oneOf<Name extends string>(name: string, names: readonly Name[]): Name | undefined {
  return names.find((known) => known === name);
}

function integerOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

function integersOf(value: unknown = []): number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const numbers = value.map(integerOf).filter((number) => number !== undefined);
  return numbers.length === value.length ? numbers : undefined;
}
