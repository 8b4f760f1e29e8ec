import type { ServerResponse } from "node:http";

/** A response as Google's API has it. */
export interface StoredResponse {
  readonly responseId: string;
  readonly createTime: string;
  readonly lastSubmittedTime: string;
  readonly respondentEmail?: string;
  readonly answers: Readonly<Record<string, object>>;
}

/** The answer of one text, or of several choices, to a question. */
export function answered(questionId: string, ...values: readonly string[]): Record<string, object> {
  const answers = values.map((value) => ({ value }));
  return { [questionId]: { questionId, textAnswers: { answers } } };
}

export function send(res: ServerResponse, status: number, body: object): ServerResponse {
  return res
    .writeHead(status, { "content-type": "application/json; charset=UTF-8" })
    .end(JSON.stringify(body));
}

/** An error as Google's APIs answer it (google.aip.dev/193). */
export function refuse(
  res: ServerResponse,
  code: number,
  status: string,
  errors?: readonly object[],
): ServerResponse {
  return send(res, code, { error: { code, message: status, status, ...(errors && { errors }) } });
}

const filterForm = /^timestamp (>=?) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)$/;

/** Answers one page of a listing. A page token is good for the filter that it was given for. */
export function listResponses(
  responses: readonly StoredResponse[],
  asked: URLSearchParams,
  res: ServerResponse,
): ServerResponse {
  const [size, filter] = [Number(asked.get("pageSize") ?? 5000), asked.get("filter") ?? ""];
  const [, operator, from = ""] = filterForm.exec(filter) ?? [];
  const isFair =
    Number.isInteger(size) && size > 0 && size <= 5000 && (filter === "" || operator !== undefined);
  const [given = filter, place = "0"] = asked.get("pageToken")?.split("|") ?? [];
  if (!isFair || given !== filter) return refuse(res, 400, "INVALID_ARGUMENT");
  const isWanted = ({ lastSubmittedTime }: StoredResponse) =>
    filter === "" ||
    exact(lastSubmittedTime) > exact(from) ||
    (operator === ">=" && exact(lastSubmittedTime) === exact(from));
  const wanted = responses.filter(isWanted);
  const end = Number(place) + size;
  const page = wanted.slice(Number(place), end);
  const nextPageToken = end < wanted.length ? { nextPageToken: `${filter}|${end}` } : {};
  // Google leaves out a list without items.
  return send(res, 200, { ...(page.length > 0 && { responses: page }), ...nextPageToken });
}

function exact(time: string): string {
  const [seconds = "", fraction = ""] = time.replace("Z", "").split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
