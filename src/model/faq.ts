/** What is wrong with questions and answers as they are stored: undefined for none, or a JSON array of both. */
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
