/**
 * One component of a path: fixed text (percent-decoded), any one component (`*`), or all remaining components (`**`).
 */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "one" }
  | { readonly kind: "rest" };

/** A variable of a template and the components that it covers. */
export interface Variable {
  /** Proto field names, starting at the request message. */
  readonly fieldPath: readonly string[];
  /** The column where the variable begins in the template, counted from 1. */
  readonly column: number;
  /** The first component, counted from 0. */
  readonly start: number;
  /** One past the last component; undefined when `**` takes all remaining ones. */
  readonly end: number | undefined;
}

/** A parsed path template of google.api.http. */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly Segment[];
  /** The literal after the last colon (`resolve` of `/v1/images:resolve`), or the empty string. */
  readonly verb: string;
  readonly variables: readonly Variable[];
}

interface Scanner {
  readonly text: string;
  position: number;
}

const identifierPattern = /[A-Za-z_][A-Za-z0-9_]*/y;
const literalPattern = /(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+/y;

/**
 * Parses a path template; throws an Error that names the column, counted from 1. The grammar, from google/api/http.proto:
 *
 *     Template = "/" Segments [ Verb ] ;
 *     Segments = Segment { "/" Segment } ;
 *     Segment  = "*" | "**" | LITERAL | Variable ;
 *     Variable = "{" FieldPath [ "=" Segments ] "}" ;
 *     FieldPath = IDENT { "." IDENT } ;
 *     Verb     = ":" LITERAL ;
 */
export function parsePathTemplate(text: string): PathTemplate {
  const scanner: Scanner = { text, position: 0 };
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  expect(scanner, "/");
  do {
    if (scanner.text[scanner.position] === "{") variables.push(parseVariable(scanner, segments));
    else pushSegment(scanner, segments);
  } while (take(scanner, "/"));
  const verb = take(scanner, ":") ? parseLiteral(scanner) : "";
  if (scanner.position < text.length) throw unexpected(scanner, "the end");
  return { text, segments, verb, variables };
}

function parseVariable(scanner: Scanner, segments: Segment[]): Variable {
  const column = scanner.position + 1;
  expect(scanner, "{");
  const fieldPath = [match(scanner, identifierPattern, "a field name")];
  while (take(scanner, ".")) fieldPath.push(match(scanner, identifierPattern, "a field name"));
  const start = segments.length;
  if (take(scanner, "=")) {
    do pushSegment(scanner, segments);
    while (take(scanner, "/"));
  } else {
    refuseAfterRest(scanner, segments);
    segments.push({ kind: "one" });
  }
  expect(scanner, "}");
  const end = segments.at(-1)?.kind === "rest" ? undefined : segments.length;
  return { fieldPath, column, start, end };
}

function pushSegment(scanner: Scanner, segments: Segment[]): void {
  refuseAfterRest(scanner, segments);
  if (take(scanner, "**")) segments.push({ kind: "rest" });
  else if (take(scanner, "*")) segments.push({ kind: "one" });
  else segments.push({ kind: "literal", text: parseLiteral(scanner) });
}

function refuseAfterRest(scanner: Scanner, segments: readonly Segment[]): void {
  if (segments.at(-1)?.kind !== "rest") return;
  throw new Error(`column ${scanner.position + 1}: nothing but a verb may follow "**"`);
}

function parseLiteral(scanner: Scanner): string {
  const column = scanner.position + 1;
  const raw = match(scanner, literalPattern, 'a literal, "*", "**" or "{"');
  const decoded = decodeComponent(raw);
  if (decoded === undefined) throw new Error(`column ${column}: the percent-escapes are not UTF-8`);
  return decoded;
}

function match(scanner: Scanner, pattern: RegExp, wanted: string): string {
  pattern.lastIndex = scanner.position;
  const found = pattern.exec(scanner.text)?.[0];
  if (found === undefined) throw unexpected(scanner, wanted);
  scanner.position += found.length;
  return found;
}

function take(scanner: Scanner, token: string): boolean {
  if (!scanner.text.startsWith(token, scanner.position)) return false;
  scanner.position += token.length;
  return true;
}

function expect(scanner: Scanner, token: string): void {
  if (!take(scanner, token)) throw unexpected(scanner, `"${token}"`);
}

function unexpected(scanner: Scanner, wanted: string): Error {
  const found = scanner.text[scanner.position];
  const what = found === undefined ? "the template ends" : `found "${found}"`;
  return new Error(`column ${scanner.position + 1}: expected ${wanted}, but ${what}`);
}

/** Percent-decodes one component; undefined when an escape is malformed or does not decode to UTF-8. */
export function decodeComponent(raw: string): string | undefined {
  if (!raw.includes("%")) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}
