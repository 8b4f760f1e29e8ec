import { type JsonFields, objectsOf, textOf } from "../json-fields.ts";
import { bare, oneOf, ordered, type TitledPayload } from "./reading.ts";
import { type StepFacts, unreadable } from "./step.ts";

const formFieldTypes = [
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
] as const;

export type FormFieldType = (typeof formFieldTypes)[number];

export interface FormField {
  readonly id: string;
  /** The attribute that the answer is saved as. Reserved ones begin with `$`. */
  readonly key: string;
  readonly label: string;
  readonly type: FormFieldType;
  readonly required: boolean;
  readonly order: number;
  /** The options of RADIO, CHECKBOX and DROPDOWN. A CHECKBOX without options is one box. */
  readonly options: readonly { readonly label: string; readonly value: string }[];
  readonly defaultValue: string;
  readonly placeholder: string;
  readonly helpText: string;
  /** A regular expression that only the page runs, never the server. */
  readonly validationPattern: string;
}

/** Whether a field is one box that says yes or no: a CHECKBOX without options. */
export function isYesOrNo({ type, options }: Pick<FormField, "type" | "options">): boolean {
  return type === "CHECKBOX" && options.length === 0;
}

export interface FormPayload extends TitledPayload {
  readonly fields: readonly FormField[];
  /** Empty for the default words, in the visitor's language. */
  readonly submitButtonText: string;
  readonly skipForm: boolean;
  /** Empty for the default words, in the visitor's language. */
  readonly skipButtonText: string;
  readonly autoSkipIfKnown: boolean;
}

/** FORM_SUBMIT: a page that asks questions. It can let visitors on who have answered them before. */
export const formSubmit = {
  kind: "INTERACTION",
  nodeType: "ATOMIC",
  payload: "form",
  trace: "form",
  hasPage: true,
  answeredBy: "form",
  offersChoice: false,
  traced: { outcomes: ["SUBMITTED", "SKIPPED"], chosen: "action" },
  list: { name: "formFields", branch: undefined },
  urls: [],
  platforms: undefined,
  read: (stored): FormPayload => ({
    title: textOf(stored.formTitle),
    description: textOf(stored.formDescription),
    fields: ordered(objectsOf(stored.formFields)).map(fieldOf),
    submitButtonText: textOf(stored.submitButtonText),
    skipForm: stored.skipForm === true,
    skipButtonText: textOf(stored.skipButtonText),
    autoSkipIfKnown: stored.autoSkipIfKnown === true,
  }),
  completed: "Form submitted",
  brokenBecause: unreadable,
  faultsOf: ({ fields }) =>
    fields.length === 0
      ? ["the form has no fields: add one"]
      : fields
          .filter(({ type, options }) => /^(RADIO|DROPDOWN)$/.test(type) && options.length === 0)
          .map(({ label, key }) => `field ${label || key} has no options to choose from: add one`),
  lookupsOf: ({ autoSkipIfKnown }) => (autoSkipIfKnown ? ["visitor"] : []),
  skipsItself: ({ autoSkipIfKnown }) => autoSkipIfKnown,
} as const satisfies StepFacts<FormPayload>;

function fieldOf(field: JsonFields & { readonly order: number }): FormField {
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
