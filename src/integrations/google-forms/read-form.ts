import { objectOf, objectsOf, textOf } from "../../model/json-fields.ts";
import type { AttributeType } from "../../model/workflow/attribute-capture.ts";
import { readFormAddress } from "./form-address.ts";
import { questionKeys, type TitledQuestion } from "./question-keys.ts";

/** A question of a form, as an attribute of visitors. */
export interface FormQuestion {
  readonly key: string;
  readonly type: AttributeType;
}

export interface GoogleForm {
  /** The id in the public address of the form; undefined for a form that is not published. */
  readonly publishedId: string | undefined;
  /** Questions by their ids, in the order of the form. */
  readonly questions: ReadonlyMap<string, FormQuestion>;
}

/** How many questions of a form are known. A visitor has 200 attributes at most. */
const questionsMax = 1_000;

/** Reads what Google answers about a form. Whatever is no question is left out. */
export function readForm(form: unknown): GoogleForm {
  const { items, responderUri } = objectOf(form);
  const found = objectsOf(items).flatMap(questionsOf).slice(0, questionsMax);
  const keys = questionKeys(found);
  const questions = new Map<string, FormQuestion>();
  for (const { id, type } of found) {
    const key = keys.get(id);
    if (key !== undefined && !questions.has(id)) questions.set(id, { key, type });
  }
  return { publishedId: readFormAddress(textOf(responderUri))?.publishedId, questions };
}

interface TypedQuestion extends TitledQuestion {
  readonly type: AttributeType;
}

/** The question of an item, or the rows of a grid. */
function questionsOf(item: ReturnType<typeof objectOf>): TypedQuestion[] {
  const title = textOf(item.title);
  const rows = objectsOf(objectOf(item.questionGroupItem).questions).map((question) => ({
    question,
    title: `${title} ${textOf(objectOf(question.rowQuestion).title)}`,
  }));
  const single = objectOf(objectOf(item.questionItem).question);
  return [{ question: single, title }, ...rows].flatMap(({ question, title: own }) => {
    const id = textOf(question.questionId);
    return id === "" ? [] : [{ id, title: own, type: typeOf(question) }];
  });
}

function typeOf(question: ReturnType<typeof objectOf>): AttributeType {
  if (question.scaleQuestion !== undefined || question.ratingQuestion !== undefined) return "NUMBER";
  if (question.choiceQuestion !== undefined || question.rowQuestion !== undefined) return "ENUM";
  // A date without a year is no date.
  if (objectOf(question.dateQuestion).includeYear === true) return "DATE";
  return "STRING";
}
