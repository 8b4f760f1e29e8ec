import type { AnyDesc, DescFile } from "@bufbuild/protobuf";

/** Any element that a comment may precede. */
export type Commented = Exclude<AnyDesc, DescFile>;

/** Returns the raw comment before an element, if there is one. */
export type ReadComment = (desc: Commented) => string | undefined;

/** A comment, parsed for the documentation. */
export interface Comment {
  /** The first sentence, without its full stop. */
  readonly summary: string;
  /** Everything else except the errors: paragraphs separated by empty lines, each on one line. */
  readonly rest: string;
  /** The paragraph that begins with `Errors:`, without that word. */
  readonly errors: string;
}

const errorsMark = "Errors: ";

/**
 * Parses a comment. Field names in backticks become their JSON names, because the document describes the JSON
 * interface.
 */
export function parseComment(raw: string | undefined, jsonNames: ReadonlyMap<string, string>): Comment {
  const paragraphs = paragraphsOf(raw ?? "").map((paragraph) =>
    paragraph.replace(/`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`/g, (all, name: string) => {
      const jsonName = jsonNames.get(name);
      return jsonName === undefined ? all : `\`${jsonName}\``;
    }),
  );
  const errors = paragraphs.find((paragraph) => paragraph.startsWith(errorsMark));
  const [first = "", ...others] = paragraphs.filter((paragraph) => paragraph !== errors);
  const end = /(?<!e\.g|i\.e)[.!?](?= [A-Z`]|$)/.exec(first)?.index ?? first.length;
  const afterFirst = first.slice(end + 1).trim();
  return {
    summary: first.slice(0, end),
    rest: [afterFirst, ...others].filter((text) => text !== "").join("\n\n"),
    errors: errors?.slice(errorsMark.length) ?? "",
  };
}

/**
 * Parses a method's comment, whose summary may also end at a colon; the rest of that sentence then starts the
 * description.
 */
export function parseMethodComment(comment: Comment): Comment {
  const colon = comment.summary.indexOf(": ");
  if (colon === -1) return comment;
  const after = comment.summary.slice(colon + 2);
  const sentence = `${after.charAt(0).toUpperCase()}${after.slice(1)}.`;
  const rest = comment.rest === "" ? sentence : `${sentence} ${comment.rest}`;
  return { ...comment, summary: comment.summary.slice(0, colon), rest };
}

/** The whole comment as one text; empty for a comment that only says whose request or response a message is. */
export function wholeText({ summary, rest }: Comment): string {
  if (summary === "" || /^(?:Request|Response) for \w+$/.test(summary)) return rest;
  const apart = rest.startsWith("- ") ? "\n\n" : " ";
  return rest === "" ? `${summary}.` : `${summary}.${apart}${rest}`;
}

function paragraphsOf(raw: string): string[] {
  return raw
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !line.startsWith("buf:lint:"))
    .join("\n")
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim().replace(/\n(?!- )/g, " "))
    .filter((paragraph) => paragraph !== "");
}
