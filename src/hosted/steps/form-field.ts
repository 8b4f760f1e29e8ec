import { html } from "hono/html";
import type { FormField, FormFieldType } from "../../model/steps/form-submit.ts";
import { isYesOrNo } from "../../model/steps/form-submit.ts";
import { icon } from "../../pages/icons.ts";
import { attribute, type Markup } from "../../pages/markup.ts";
import { formFieldName } from "../../workflow/answer-fields.ts";
import type { Answer, AnswerFault } from "../../workflow/steps/step.ts";
import type { Words } from "../words/words.ts";

interface FieldSetting {
  /** The position in the form. Element ids are made from it, because field ids may hold any text. */
  readonly index: number;
  readonly words: Words;
  readonly entered: Answer | undefined;
  readonly fault: AnswerFault | undefined;
  /** Whether the page focuses this field, as the first one with a fault. */
  readonly isFocused: boolean;
}

interface DrawnField extends FieldSetting {
  readonly field: FormField;
  readonly name: string;
  readonly id: string;
  readonly label: string;
  readonly values: readonly string[];
  /** What every control of the field has. */
  readonly attributes: Markup;
}

/** One question of a form, with its help and its fault. */
export function drawField(field: FormField, setting: FieldSetting): Markup {
  const { index, words, entered, fault, isFocused } = setting;
  const name = formFieldName(field.id);
  const id = `f${index}`;
  const notes = [field.helpText !== "" && `${id}-help`, fault !== undefined && `${id}-fault`];
  const describedBy = notes.filter(Boolean).join(" ");
  const drawn: DrawnField = {
    ...setting,
    field,
    name,
    id,
    label: field.label || reservedLabel(field.key, words),
    values: entered === undefined ? defaultValues(field) : (entered.get(name) ?? []),
    attributes: html`${attribute("aria-invalid", fault !== undefined && "true")}${attribute("aria-describedby", describedBy)}${attribute("autofocus", isFocused)}`,
  };
  const help =
    field.helpText === ""
      ? ""
      : html`<p class="help" id="${id}-help"><bdi>${field.helpText}</bdi></p>
`;
  const complaint =
    fault === undefined
      ? ""
      : html`<p class="fault" id="${id}-fault">${words.faults[fault]}</p>
`;
  const notesBelow = html`${help}${complaint}`;
  if (isYesOrNo(field)) return box(drawn, notesBelow);
  return isGroup(field.type) ? group(drawn, describedBy, notesBelow) : single(drawn, notesBelow);
}

function reservedLabel(key: string, words: Words): string {
  if (key === "$email") return words.email;
  if (key === "$phone") return words.phone;
  if (key === "$firstName") return words.firstName;
  return key === "$lastName" ? words.lastName : key;
}

/**
 * The values of a field's checkboxes are saved as one text, joined by a comma and a space, which may also be part of a
 * value.
 */
function defaultValues(field: FormField): string[] {
  const { type, defaultValue, options } = field;
  if (type !== "CHECKBOX" || isYesOrNo(field)) return [defaultValue];
  const list = `, ${defaultValue}, `;
  return options.map(({ value }) => value).filter((value) => list.includes(`, ${value}, `));
}

function isGroup(type: FormFieldType): boolean {
  return type === "RADIO" || type === "CHECKBOX" || type === "RATING";
}

/** The words of the label. They say when an answer is optional, because most answers are required. */
function caption({ label, field, words }: DrawnField): Markup {
  const optional = field.required ? "" : html` <span class="quiet">(${words.optional})</span>`;
  return html`<bdi>${label}</bdi>${optional}`;
}

function single(drawn: DrawnField, notes: Markup): Markup {
  return html`<div class="field">
<label for="${drawn.id}">${caption(drawn)}</label>
${control(drawn)}
${notes}</div>
`;
}

/** One checkbox, with the label beside it. */
function box(drawn: DrawnField, notes: Markup): Markup {
  const { field, name, id, values, attributes } = drawn;
  return html`<div class="field">
<label class="choice"><input type="checkbox" id="${id}" name="${name}" value="true"${attribute("checked", values.includes("true"))}${attribute("required", field.required)}${attributes}><span>${caption(drawn)}</span></label>
${notes}</div>
`;
}

function control(drawn: DrawnField): Markup {
  const { field, name, id, values, attributes } = drawn;
  const [value = ""] = values;
  const common = html` id="${id}" name="${name}"${attribute("required", field.required)}${attributes}`;
  if (field.type === "DROPDOWN") return dropdown(drawn, common);
  const typed = html`${common}${attribute("placeholder", field.placeholder)}${attribute("autocomplete", autocomplete(field))}`;
  if (field.type === "TEXTAREA") {
    // The first line break after the tag is not part of the text.
    return html`<textarea${typed} rows="4" maxlength="4096" dir="auto">
${value}</textarea>`;
  }
  const pattern = html`${attribute("pattern", field.validationPattern)}${attribute("title", field.validationPattern && (field.helpText || drawn.label))}`;
  return html`<input${typed} value="${value}"${inputAttributes[field.type] ?? text}${pattern}>`;
}

const text = html` type="text" maxlength="4096" dir="auto"`;

const inputAttributes: Partial<Record<FormFieldType, Markup>> = {
  EMAIL: html` type="email" inputmode="email" dir="ltr" maxlength="254" autocapitalize="none" spellcheck="false"`,
  PHONE: html` type="tel" inputmode="tel" dir="ltr" maxlength="64"`,
  NUMBER: html` type="number" inputmode="decimal" step="any"`,
  DATE: html` type="date"`,
};

/** The `autocomplete` value, for what the browser may know of its user. */
function autocomplete({ key, type }: FormField): string | undefined {
  if (key === "$firstName") return "given-name";
  if (key === "$lastName") return "family-name";
  if (key === "$email" || type === "EMAIL") return "email";
  return key === "$phone" || type === "PHONE" ? "tel" : undefined;
}

function dropdown({ field, words, values }: DrawnField, common: Markup): Markup {
  const options = field.options.map(
    ({ label, value }) =>
      html`<option value="${value}"${attribute("selected", values.includes(value))}>${label || value}</option>
`,
  );
  return html`<div class="select"><select${common}>
<option value="">${field.placeholder || words.choose}</option>
${options}</select></div>`;
}

function group(drawn: DrawnField, describedBy: string, notes: Markup): Markup {
  const choices = drawn.field.type === "RATING" ? stars(drawn) : options(drawn);
  return html`<fieldset class="field"${attribute("aria-describedby", describedBy)}${attribute("role", drawn.field.type !== "CHECKBOX" && "radiogroup")}${attribute("aria-required", drawn.field.type !== "CHECKBOX" && drawn.field.required && "true")}>
<legend>${caption(drawn)}</legend>
${choices}
${notes}</fieldset>
`;
}

function options({ field, name, values, isFocused }: DrawnField): Markup {
  const type = field.type === "RADIO" ? "radio" : "checkbox";
  // Browsers can require one of several radio buttons, but not one of several checkboxes. The server checks those.
  const isRequired = field.required && (type === "radio" || field.options.length === 1);
  const choices = field.options.map(
    ({ label, value }, index) =>
      html`<label class="choice"><input type="${type}" name="${name}" value="${value}"${attribute("checked", values.includes(value))}${attribute("required", isRequired)}${attribute("autofocus", isFocused && index === 0)}><span><bdi>${label || value}</bdi></span></label>
`,
  );
  return html`${choices}`;
}

function stars({ field, name, values, words, isFocused }: DrawnField): Markup {
  const choices = ["1", "2", "3", "4", "5"].map(
    (value, index) =>
      html`<label><input type="radio" name="${name}" value="${value}"${attribute("checked", values.includes(value))}${attribute("required", field.required)}${attribute("autofocus", isFocused && index === 0)}>${icon("star")}<span class="hide">${words.rating.replace("{rating}", value)}</span></label>
`,
  );
  return html`<div class="stars">
${choices}</div>`;
}
