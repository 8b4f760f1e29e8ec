import type { FormPayload } from "../../model/steps/form-submit.ts";
import { nextBranchId } from "../../model/workflow/workflow.ts";
import { skipName } from "../answer-fields.ts";
import { defaultWords } from "../default-words.ts";
import { answerType, checkAnswer } from "../form-answers.ts";
import type { KnownAttributes } from "../visit.ts";
import type { SavedAttribute, TraceData } from "../walk-result.ts";
import { type AnswerFault, notOffered, type StepKindOf, type Submitted, waitsForAnswer } from "./step.ts";

/**
 * FORM_SUBMIT: asks questions and saves the answers. The step may let a visitor on without its page when everything
 * that it asks is already known.
 */
export const formSubmit: StepKindOf<"FORM_SUBMIT"> = {
  explain: (_step, branchId) =>
    branchId === "" ? waitsForAnswer : "everything that the form needs is known, so it skips itself",

  enter({ payload }, { attributes }) {
    if (payload.autoSkipIfKnown && isKnown(payload, attributes))
      return { kind: "branch", branchId: nextBranchId, data: skipped(payload, "AUTO") };
    return { kind: "interaction", data: dataOf(payload, untouched) };
  },

  submit({ payload }, answer, { country, dataCollection }) {
    if (answer.has(skipName)) return payload.skipForm ? skip(payload) : notOffered;
    const values: string[] = [];
    const faults = new Map<string, AnswerFault>();
    const answers: SavedAttribute[] = [];
    for (const field of payload.fields) {
      const { value = "", fault } = checkAnswer(field, answer, country);
      values.push(value);
      if (fault !== undefined) faults.set(field.id, fault);
      else if (value !== "") answers.push({ key: field.key, value, type: answerType(field), setOnce: false });
    }
    if (faults.size > 0) return { kind: "refused", status: 422, faults };
    return {
      kind: "submitted",
      branchId: nextBranchId,
      data: dataOf(payload, {
        action: "SUBMITTED",
        skipMethod: "",
        // Where nothing may be kept, the trace says only that answers were given.
        values: dataCollection === "NONE" ? [] : values,
        submittedFields: answers.length,
      }),
      answers,
      choice: undefined,
      captures: true,
      to: "",
      reason: "the form is submitted",
    };
  },
};

/**
 * Whether the visitor has every required key or, when none is required, every key. Then the form has nothing to ask.
 */
function isKnown({ fields }: FormPayload, attributes: KnownAttributes | undefined): boolean {
  if (attributes === undefined) return false;
  const required = fields.filter((field) => field.required);
  return (required.length > 0 ? required : fields).every(
    ({ key }) => (attributes.get(key)?.value ?? "") !== "",
  );
}

function skip(payload: FormPayload): Submitted {
  return {
    kind: "submitted",
    branchId: nextBranchId,
    data: skipped(payload, "BUTTON"),
    answers: [],
    choice: undefined,
    captures: false,
    to: "",
    reason: "the form is skipped",
  };
}

interface FormOutcome {
  readonly action: "" | "SUBMITTED" | "SKIPPED";
  readonly skipMethod: "" | "BUTTON" | "AUTO";
  /** By the position of the field. */
  readonly values: readonly string[];
  readonly submittedFields: number;
}

const untouched: FormOutcome = { action: "", skipMethod: "", values: [], submittedFields: 0 };

function skipped(payload: FormPayload, skipMethod: "BUTTON" | "AUTO"): TraceData {
  return dataOf(payload, { action: "SKIPPED", skipMethod, values: [], submittedFields: 0 });
}

function dataOf(
  payload: FormPayload,
  { action, skipMethod, values, submittedFields }: FormOutcome,
): TraceData {
  const { title, description, submitButtonText, skipButtonText, autoSkipIfKnown, fields } = payload;
  return {
    form: {
      title,
      description,
      submitButtonText: submitButtonText || defaultWords.submit,
      skipButtonText: skipButtonText || defaultWords.skip,
      autoSkipIfKnown,
      action,
      skipped: action === "SKIPPED",
      skipMethod,
      fields: fields.map(
        ({ key, label, type, required, order, defaultValue, placeholder, helpText }, place) => ({
          key,
          label,
          type,
          required,
          order,
          defaultValue,
          placeholder,
          helpText,
          value: values[place] ?? "",
        }),
      ),
      submittedFields,
      totalFields: fields.length,
    },
  };
}
