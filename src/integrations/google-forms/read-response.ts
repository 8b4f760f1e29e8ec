import { cleanText, clipBytes } from "../../lib/clean-text.ts";
import { objectOf, objectsOf, textOf } from "../../model/json-fields.ts";
import { eventOfLbid } from "../../model/visitors/lbid.ts";
import type { AttributeType } from "../../model/workflow/attribute-capture.ts";
import { readEmail } from "../../workflow/identity.ts";
import type { GoogleForm } from "./read-form.ts";

/** An answer as it is saved to a visitor. */
export interface ResponseAnswer {
  readonly key: string;
  readonly type: AttributeType;
  readonly value: string;
  /** The id of the visit that the answer names, if it is an `lbid` as a whole. It may be one by chance. */
  readonly eventId: string | undefined;
}

export interface FormResponse {
  readonly id: string;
  /** When it was sent, or sent again after an edit: RFC 3339 in UTC, in nanoseconds, so that texts sort as times do. */
  readonly submittedAt: string;
  readonly answers: readonly ResponseAnswer[];
  /** The address that Google asked the respondent for, or else the first answer that is an address. */
  readonly email: string | undefined;
}

/** How many bytes of an answer are kept, as of an attribute that a caller sets. */
const valueBytesMax = 4_096;

/** RFC 3339 with `Z`, at most nanoseconds. */
const timeForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;

const idForm = /^[\w-]{1,200}$/;

/** Reads one response. Undefined when it has no id or no time. Answers to questions that the form lacks are left out. */
export function readResponse(response: unknown, { questions }: GoogleForm): FormResponse | undefined {
  const { responseId, lastSubmittedTime, respondentEmail, answers } = objectOf(response);
  const id = textOf(responseId);
  const submittedAt = exactTime(textOf(lastSubmittedTime));
  if (!idForm.test(id) || submittedAt === undefined) return undefined;
  const given = objectOf(answers);
  const read = [...questions].flatMap(([questionId, { key, type }]): ResponseAnswer[] => {
    const value = answerText(given[questionId]);
    return value === "" ? [] : [{ key, type, value, eventId: eventOfLbid(value) }];
  });
  const email = [textOf(respondentEmail), ...read.map(({ value }) => value)].map(readEmail).find(Boolean);
  return { id, submittedAt, answers: read, email };
}

function exactTime(time: string): string | undefined {
  const [, seconds, fraction = ""] = timeForm.exec(time) ?? [];
  if (seconds === undefined || Number.isNaN(Date.parse(time))) return undefined;
  return `${seconds}.${fraction.padEnd(9, "0")}Z`;
}

/** The answer as one text: several choices, and the names of several files, are joined by `, `. */
function answerText(answer: unknown): string {
  const { textAnswers, fileUploadAnswers } = objectOf(answer);
  const texts = objectsOf(objectOf(textAnswers).answers).map(({ value }) => textOf(value));
  const files = objectsOf(objectOf(fileUploadAnswers).answers).map(({ fileName }) => textOf(fileName));
  const whole = [...texts, ...files].filter((text) => text !== "").join(", ");
  return clipBytes(cleanText(whole.slice(0, valueBytesMax)), valueBytesMax).trim();
}
