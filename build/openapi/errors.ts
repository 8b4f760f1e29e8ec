import { type Code, codeNumbers } from "../../src/lib/errors.ts";
import { httpStatuses } from "../../src/rest/error-body.ts";

/** One clause of a method's `Errors:` paragraph. */
export interface Clause {
  readonly code: Code;
  /** Values of ErrorReason, without their prefix. */
  readonly reasons: readonly string[];
  readonly text: string;
}

/** All refusals of an operation under one HTTP status. */
export interface Refusals {
  readonly status: number;
  readonly reasons: readonly string[];
  /** When the refusals occur, in sentences; empty when the reasons say it all. */
  readonly texts: readonly string[];
}

/** The properties of an operation that decide which pipeline errors it has. */
export interface Circumstances {
  readonly access: "scope" | "open" | "member";
  /** Whether some or all requests need full access in addition to the scope. */
  readonly mayNeedFullAccess: boolean;
  /** Why callers of a sandbox are refused, if they are. */
  readonly refusedInSandbox: string | undefined;
  /** Whether the request has any fields. */
  readonly hasInput: boolean;
  /** Whether one of the fields is a UUID. */
  readonly hasId: boolean;
  readonly hasBody: boolean;
  readonly takesIdempotencyKey: boolean;
}

export interface ErrorWords {
  readonly isReason: (word: string) => boolean;
  /** Returns the `Errors:` paragraph of a method of the same service. */
  readonly errorsOf: (method: string) => string | undefined;
}

/**
 * Reads an `Errors:` paragraph. Semicolons separate its clauses. Each clause begins with a gRPC code, names reasons in
 * parentheses (without parentheses the code's name is the reason), and continues in words. `those of Create` includes
 * the errors of another method. Throws on any other form.
 */
export function parseErrors(paragraph: string, words: ErrorWords): Clause[] {
  if (paragraph === "") return [];
  return paragraph.split(/;\s+/).flatMap((text) => {
    const other = /^those of (\w+)/.exec(text)?.[1];
    if (other !== undefined) {
      const errors = words.errorsOf(other);
      if (errors === undefined) throw new Error(`"${text}": there is no method ${other}`);
      return parseErrors(errors, words);
    }
    const code = /^[A-Z_]+/.exec(text)?.[0] ?? "";
    if (!isCode(code)) throw new Error(`"${text}" does not begin with a gRPC code`);
    const named = [...text.matchAll(/\(([A-Z_]+(?:, [A-Z_]+)*)\)/g)].flatMap(([, list = ""]) =>
      list.split(", "),
    );
    const unknown = named.find((reason) => !words.isReason(reason));
    if (unknown !== undefined) throw new Error(`"${text}": ${unknown} is no value of ErrorReason`);
    return [{ code, reasons: named.length === 0 ? [code] : named, text: text.replace(/\.$/, "") }];
  });
}

/** Joins a method's errors with those of the pipeline, by HTTP status in ascending order. */
export function refusalsOf(clauses: readonly Clause[], circumstances: Circumstances): Refusals[] {
  const byStatus = new Map<number, { reasons: Set<string>; texts: Set<string> }>();
  const at = (status: number) => {
    const known = byStatus.get(status) ?? { reasons: new Set(), texts: new Set() };
    byStatus.set(status, known);
    return known;
  };
  for (const [status, reason] of pipelineReasons(circumstances)) at(status).reasons.add(reason);
  for (const { code, reasons, text } of clauses) {
    const known = at(httpStatuses[code]);
    for (const reason of reasons) known.reasons.add(reason);
    // A fault of the service may always come without a specific reason.
    if (httpStatuses[code] >= 500) known.reasons.add(code);
    known.texts.add(text);
  }
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, { reasons, texts }]) => ({ status, reasons: [...reasons], texts: [...texts] }));
}

/** The errors that any call may get before its handler runs, in the order of the checks in `rest` and `rpc`. */
function pipelineReasons(circumstances: Circumstances): [status: number, reason: string][] {
  const { access, mayNeedFullAccess, refusedInSandbox } = circumstances;
  const { hasInput, hasId, hasBody, takesIdempotencyKey } = circumstances;
  const reasons: [number, string, boolean][] = [
    [413, "REQUEST_TOO_LARGE", hasBody],
    [415, "UNSUPPORTED_MEDIA_TYPE", hasBody],
    [401, "UNAUTHENTICATED", true],
    [401, "TOKEN_ENVIRONMENT_MISMATCH", true],
    [429, "RATE_LIMITED", true],
    [403, refusedInSandbox ?? "", refusedInSandbox !== undefined],
    [403, "INSUFFICIENT_SCOPE", access === "scope"],
    [403, "INSUFFICIENT_ROLE", access === "scope"],
    [403, "MEMBER_SESSION_REQUIRED", access === "member"],
    [429, "MAX_PUBLIC_API_QUERIED_REACHED", access === "scope"],
    [403, "FULL_ACCESS_REQUIRED", mayNeedFullAccess],
    [429, "SANDBOX_CAP_REACHED", access === "scope"],
    [400, "INVALID_ARGUMENT", hasInput],
    [400, "INVALID_ID", hasId],
    [400, "INVALID_IDEMPOTENCY_KEY", takesIdempotencyKey],
    [409, "IDEMPOTENCY_IN_PROGRESS", takesIdempotencyKey],
    [422, "IDEMPOTENCY_KEY_REUSED", takesIdempotencyKey],
  ];
  return reasons.flatMap(([status, reason, applies]) => (applies ? [[status, reason]] : []));
}

function isCode(word: string): word is Code {
  return Object.hasOwn(codeNumbers, word);
}
