import { isJsonObject } from "../wire/read-message.ts";
import type { Json } from "./tool.ts";

/** How long the text beside an answer may be, in bytes. */
export const textBytesMax = 4_096;

/** How long one value of a line may be, in characters, and a line as a whole. */
const valueMax = 120;
const lineMax = 400;

/** What stays free for the last lines: what was left out, and the way to the next page. */
const reserved = 600;

/**
 * Tells a model what an answer says, in at most 4 kB. A small answer is told as it is; of a large one the lists are cut to a
 * line for each entry, and what does not fit is counted.
 */
export function modelText(json: string | Uint8Array): string {
  if (json.length <= textBytesMax) {
    const whole = typeof json === "string" ? json : Buffer.from(json).toString("utf8");
    if (Buffer.byteLength(whole) <= textBytesMax) return whole;
  }
  const value: unknown = JSON.parse(typeof json === "string" ? json : Buffer.from(json).toString("utf8"));
  return isJsonObject(value) ? summary(value) : cutText(JSON.stringify(value), textBytesMax);
}

/** Tells a model of a file that is text; of any other only its type and size. */
export function fileText(mimeType: string, bytes: Uint8Array): string {
  const kind = `${mimeType}, ${bytes.length} bytes`;
  if (!/^(text\/|application\/json$|image\/svg)/.test(mimeType)) return kind;
  const start = Buffer.from(bytes.subarray(0, textBytesMax)).toString("utf8");
  return cutText(`${kind}\n${start}`, textBytesMax);
}

function summary(answer: Json): string {
  const lines: string[] = [];
  let left = textBytesMax - reserved;
  const add = (line: string): boolean => {
    const bytes = Buffer.byteLength(line) + 1;
    if (bytes > left) return false;
    left -= bytes;
    lines.push(line);
    return true;
  };
  let isCut = false;
  for (const [key, value] of entriesOf(unwrapped(answer))) {
    if (key === "nextPageToken") continue;
    if (Array.isArray(value)) {
      add(`${key}: ${value.length}`);
      const told = value.findIndex((each) => !add(`- ${lineOf(each)}`));
      if (told !== -1) {
        isCut = true;
        lines.push(`  … and ${value.length - told} more`);
      }
    } else if (!add(`${key}: ${lineOf(value)}`)) isCut = true;
  }
  if (isCut) lines.push("This is the beginning; all of it is in structuredContent.");
  const token = nextPageTokenOf(answer);
  if (token !== undefined)
    lines.push(
      token.length <= 300
        ? `There are more: call again with the same arguments and pageToken ${JSON.stringify(token)}.`
        : "There are more: call again with the same arguments and nextPageToken of structuredContent as pageToken.",
    );
  return cutText(lines.join("\n"), textBytesMax);
}

/** An answer that only wraps one object is told as that object. */
function unwrapped(answer: Json): Json {
  const [only, ...others] = Object.values(answer);
  return others.length === 0 && isJsonObject(only) ? only : answer;
}

function nextPageTokenOf(answer: Json): string | undefined {
  const { nextPageToken } = unwrapped(answer);
  return typeof nextPageToken === "string" && nextPageToken !== "" ? nextPageToken : undefined;
}

/** The members that say something: what is empty or not chosen is left out, and what names a record comes first. */
function entriesOf(object: Json): [string, unknown][] {
  const told = Object.entries(object).filter(([, value]) => saysSomething(value));
  const isName = ([key]: [string, unknown]) => key === "id" || key === "name" || key === "title";
  return [...told.filter(isName), ...told.filter((entry) => !isName(entry))];
}

function saysSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return false;
  if (typeof value === "string") return !value.endsWith("_UNSPECIFIED");
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** A value on one line; of what is nested only the first members are told. */
function lineOf(value: unknown): string {
  if (!isJsonObject(value)) return Array.isArray(value) ? `${value.length} entries` : shortValue(value);
  const parts: string[] = [];
  let length = 0;
  for (const [key, each] of entriesOf(value)) {
    const part = `${key}: ${nested(each)}`;
    length += part.length + 2;
    if (length > lineMax) break;
    parts.push(part);
  }
  return parts.join(", ");
}

function nested(value: unknown): string {
  if (Array.isArray(value)) return `${value.length} entries`;
  if (!isJsonObject(value)) return shortValue(value);
  const [first] = entriesOf(value);
  return first === undefined
    ? "{}"
    : `{${first[0]}: ${isJsonObject(first[1]) ? "…" : shortValue(first[1])}, …}`;
}

function shortValue(value: unknown): string {
  const text = typeof value === "string" ? value.replaceAll(/\s+/g, " ") : String(value);
  return text.length > valueMax ? `${text.slice(0, valueMax)}…` : text;
}

/** Cuts a text to a number of bytes, between characters. */
export function cutText(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax - 3;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.subarray(0, end).toString("utf8")}…`;
}
