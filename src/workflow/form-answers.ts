import { cleanText } from "../lib/clean-text.ts";
import { type FormField, type FormFieldType, isYesOrNo } from "../model/steps/form-submit.ts";
import { parseDate, parseNumber } from "../model/visitors/attribute-operators.ts";
import type { AttributeType } from "../model/workflow/attribute-capture.ts";
import { formFieldName } from "./answer-fields.ts";
import { readEmail, readPhone } from "./identity.ts";
import type { Answer, AnswerFault } from "./steps/step.ts";

/** The type that the answer to a field is saved as. */
export function answerType(field: FormField): AttributeType {
  return isYesOrNo(field) ? "BOOLEAN" : answerTypes[field.type];
}

const answerTypes: { readonly [Type in FormFieldType]: AttributeType } = {
  TEXT: "STRING",
  EMAIL: "STRING",
  PHONE: "STRING",
  TEXTAREA: "STRING",
  RADIO: "ENUM",
  CHECKBOX: "ENUM",
  DROPDOWN: "ENUM",
  NUMBER: "NUMBER",
  DATE: "DATE",
  RATING: "NUMBER",
};

/** The answer to a field, or what is wrong with it. An empty value means that there is no answer. */
export type Checked =
  | { readonly value: string; readonly fault?: never }
  | { readonly fault: AnswerFault; readonly value?: never };

export const formAnswerBytesMax = 4_096;

/** Checks the answer to one field. `country` gives the region of phone numbers that come without a country code. */
export function checkAnswer(field: FormField, answer: Answer, country: () => string): Checked {
  const given = (answer.get(formFieldName(field.id)) ?? []).map(cleanText).filter((text) => text !== "");
  if (isYesOrNo(field) && checkedAs(field) === "CHECKBOX") return yesOrNo(given, field);
  if (given.length === 0) return field.required ? { fault: "REQUIRED" } : { value: "" };
  if (byteLength(given.join(", ")) > formAnswerBytesMax) return { fault: "TOO_LONG" };
  return checks[checkedAs(field)](given, field, country);
}

/**
 * The type that an answer is checked as. An answer that identifies a visitor must have the form of an identity,
 * whatever the type of its field.
 */
function checkedAs({ key, type }: FormField): FormFieldType {
  return key === "$email" ? "EMAIL" : key === "$phone" ? "PHONE" : type;
}

type AnswerCheck = (given: readonly string[], field: FormField, country: () => string) => Checked;

const checks: { readonly [Type in FormFieldType]: AnswerCheck } = {
  TEXT: anyText,
  TEXTAREA: anyText,
  EMAIL: single("EMAIL", readEmail),
  PHONE: single("PHONE", (text, country) => readPhone(text, country)),
  NUMBER: single("NUMBER", (text) => (parseNumber(text) === undefined ? undefined : text)),
  DATE: single("DATE", (text) => (isDay(text) ? text : undefined)),
  RATING: single("RATING", (text) => (/^[1-5]$/.test(text) ? text : undefined)),
  RADIO: oneOption,
  DROPDOWN: oneOption,
  CHECKBOX: (given, { options }) => {
    const offered = new Set(options.map(({ value }) => value));
    if (!given.every((value) => offered.has(value))) return { fault: "OPTION" };
    return { value: [...offered].filter((value) => given.includes(value)).join(", ") };
  },
};

/** Browsers send nothing for a box that is not checked. */
function yesOrNo(given: readonly string[], { required }: FormField): Checked {
  const [value = "false", ...more] = given;
  if (more.length > 0 || (value !== "true" && value !== "false")) return { fault: "OPTION" };
  return required && value === "false" ? { fault: "REQUIRED" } : { value };
}

function anyText(given: readonly string[]): Checked {
  return { value: given[0] ?? "" };
}

function oneOption(given: readonly string[], { options }: FormField): Checked {
  const [chosen = ""] = given;
  const isOffered = given.length === 1 && options.some(({ value }) => value === chosen);
  return isOffered ? { value: chosen } : { fault: "OPTION" };
}

function single(
  fault: AnswerFault,
  read: (text: string, country: () => string) => string | undefined,
): AnswerCheck {
  return ([text = "", ...more], _field, country) => {
    const value = more.length === 0 ? read(text, country) : undefined;
    return value === undefined ? { fault } : { value };
  };
}

function isDay(text: string): boolean {
  return text.length === 10 && parseDate(text) !== undefined;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
