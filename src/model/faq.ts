/** What is wrong with stored questions and answers, which are a JSON array of both. Undefined when nothing is. */
export function faqFault(text: string): string | undefined {
  if (text === "") return undefined;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return "must be JSON";
  }
  const isList = Array.isArray(read) && read.every(isQuestion);
  return isList ? undefined : "must be a JSON array of objects with the texts question and answer";
}

function isQuestion(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { question, answer } = value as { readonly question?: unknown; readonly answer?: unknown };
  return typeof question === "string" && typeof answer === "string";
}
