import { type DescField, type DescMessage, type DescMethodUnary, getOption } from "@bufbuild/protobuf";
import { success_status, tells_parts_of } from "../../gen/signpost/options/v1/handling_pb.js";
import { type Binding, isHttpBody } from "../../src/rest/binding.ts";
import { answersTable } from "../../src/rest/encode-csv.ts";
import { cacheControlOf, methodAccess, takesIdempotencyKey } from "../../src/rpc/access.ts";
import { retirementOf } from "../../src/rpc/deprecation.ts";
import { type Comment, type Commented, parseMethodComment, wholeText } from "./comments.ts";
import { errorResponse, type ResponseObject } from "./error-schemas.ts";
import { type Circumstances, type ErrorWords, parseErrors, type Refusals, refusalsOf } from "./errors.ts";
import { headersOf, type ParameterObject } from "./headers.ts";
import { type JsonSchema, present, reference } from "./json-schema.ts";
import { limitsOf } from "./limits.ts";
import { type Pagination, paginationOf } from "./pagination.ts";
import { parametersOf } from "./parameters.ts";
import type { Schemas } from "./schemas.ts";

/** An operation in the form of OpenAPI. */
export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  /** The day from which the operation may be gone. */
  readonly "x-sunset"?: string;
  readonly "x-scope"?: string;
  readonly "x-pagination"?: Pagination;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly (ParameterObject | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<string, { schema: JsonSchema; example?: unknown }>;
  };
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
}

export interface OperationsOptions {
  readonly schemas: Schemas;
  readonly commentOf: (desc: Commented) => Comment;
  readonly tagOf: (method: DescMethodUnary) => string;
  /** Whether a word is a value of ErrorReason. */
  readonly isReason: (word: string) => boolean;
  /** Describes a reason under a status, and records its use. */
  readonly textOf: (reason: string, status: number) => string;
  /** Stores a response shared by many operations under a name, and returns a reference to it. */
  readonly shared: (name: string, response: ResponseObject) => { readonly $ref: string };
}

/** The names of responses that are equal for many operations, by their reasons. */
const sharedNames: Readonly<Record<string, string>> = {
  "UNAUTHENTICATED TOKEN_ENVIRONMENT_MISMATCH": "Unauthenticated",
  "INSUFFICIENT_SCOPE INSUFFICIENT_ROLE": "Forbidden",
  IDEMPOTENCY_IN_PROGRESS: "InProgress",
  REQUEST_TOO_LARGE: "RequestTooLarge",
  UNSUPPORTED_MEDIA_TYPE: "UnsupportedMediaType",
  IDEMPOTENCY_KEY_REUSED: "KeyReused",
  RATE_LIMITED: "RateLimited",
  "RATE_LIMITED MAX_PUBLIC_API_QUERIED_REACHED SANDBOX_CAP_REACHED": "LimitReached",
};

/** Describes the operation of a binding. */
export function describeOperation(binding: Binding, options: OperationsOptions): OperationObject {
  const { schemas, commentOf, tagOf } = options;
  const { method } = binding;
  const comment = parseMethodComment(commentOf(method));
  const allowed = accessOf(method);
  const keyed = takesIdempotencyKey(method);
  return present<OperationObject>({
    operationId: `${method.parent.name}_${method.name}`,
    summary: comment.summary,
    description: [comment.rest, allowed.text].filter((text) => text !== "").join("\n\n"),
    tags: [tagOf(method)],
    deprecated: method.deprecated ? true : undefined,
    "x-sunset": retirementOf(method)?.sunset?.toISOString().slice(0, 10),
    "x-scope": allowed.scope,
    "x-pagination": paginationOf(binding),
    security: allowed.security,
    parameters: [
      ...parametersOf(binding, schemas),
      ...(keyed ? [reference("parameters", "IdempotencyKey")] : []),
      reference("parameters", "RequestId"),
    ],
    requestBody: requestBodyOf(binding, schemas),
    responses: {
      [getOption(method, success_status) || 200]: successOf(binding, options),
      ...refusalResponses(binding, allowed, options),
      431: reference("responses", "HeadersTooLarge"),
      default: reference("responses", "Unexpected"),
    },
  });
}

interface Allowed {
  readonly kind: Circumstances["access"];
  readonly mayNeedFullAccess: boolean;
  readonly refusedInSandbox: string | undefined;
  readonly scope: string | undefined;
  readonly text: string;
  readonly security: OperationObject["security"];
}

function accessOf(method: DescMethodUnary): Allowed {
  const { scope, refusedInSandbox, ...access } = methodAccess(method);
  const mayNeedFullAccess = access.fullAccess || access.fullAccessFields.length > 0;
  const facts = { mayNeedFullAccess, refusedInSandbox, scope };
  if (scope === undefined) return { ...facts, kind: "open", text: "Needs no token.", security: [] };
  const needs = `Needs the scope \`${scope}\``;
  if (access.memberSession) {
    const held = access.everyRole ? ", which members of every role hold here" : "";
    const text = `${needs}${held}, and the session of a member.`;
    return { ...facts, kind: "member", text, security: [{ memberSession: [] }] };
  }
  const besides = access.publishable ? "; publishable tokens may call without it" : "";
  const live = refusedInSandbox === undefined ? "" : " Callers of a sandbox are refused.";
  const text = `${needs}${access.fullAccess ? " and full access" : ""}${besides}.${live}`;
  return { ...facts, kind: "scope", text, security: [{ bearerAuth: [scope] }] };
}

function requestBodyOf({ method, body }: Binding, schemas: Schemas): OperationObject["requestBody"] {
  switch (body.kind) {
    case "none":
      return undefined;
    case "message": {
      const schema = schemas.message(method.input);
      const required = method.input.fields.some(
        (field) => schemas.isRequired(field) && !schemas.isHidden(field),
      );
      return { required, content: { "application/json": { schema } } };
    }
    case "field":
      return {
        required: schemas.isRequired(body.field),
        content: { "application/json": { schema: bare(schemas.field(body.field)) } },
      };
    case "raw":
      return { required: true, content: { "*/*": { schema: {} } } };
  }
}

function successOf(binding: Binding, { schemas, commentOf }: OperationsOptions): ResponseObject {
  const { method, responseField } = binding;
  const keyed = takesIdempotencyKey(method);
  const retirement = retirementOf(method);
  const headers = headersOf(
    ...(retirement === undefined ? [] : (["Deprecation", "Link"] as const)),
    ...(retirement?.sunset === undefined ? [] : (["Sunset"] as const)),
    ...(keyed ? (["Idempotent-Replayed"] as const) : []),
    ...(cacheControlOf(method) === undefined ? [] : (["Cache-Control"] as const)),
    ...(getOption(method, success_status) === 202 ? (["Location"] as const) : []),
  );
  const told = wholeText(commentOf(responseField ?? method.output));
  // The document shows whose response it is, so the prefix `Response for List:` is removed.
  const description = told.replace(/^Response for \w+: (\w)/, (_, first: string) => first.toUpperCase());
  const shown = description === "" ? "The call succeeded." : description;
  if (isHttpBody(responseField?.message ?? method.output))
    return { description: shown, headers, content: { "*/*": {} } };
  const schema =
    responseField === undefined ? schemas.message(method.output) : bare(schemas.field(responseField));
  const table = answersTable(binding) ? { "text/csv": { schema: { type: "string" as const } } } : {};
  const isTold = method.parent.methods.some((other) => getOption(other, tells_parts_of) === method.name);
  const events = isTold ? { "text/event-stream": { schema: { type: "string" as const } } } : {};
  return { description: shown, headers, content: { "application/json": { schema }, ...table, ...events } };
}

/** A schema without the keys that belong to the field it is used in. */
function bare({ description: _, readOnly: __, writeOnly: ___, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function refusalResponses(
  { method, body, httpMethod }: Binding,
  { kind, mayNeedFullAccess, refusedInSandbox }: Allowed,
  { commentOf, isReason, textOf, shared }: OperationsOptions,
): OperationObject["responses"] {
  const words: ErrorWords = {
    isReason,
    errorsOf: (name) => {
      const other = method.parent.methods.find((each) => each.name === name);
      return other === undefined ? undefined : commentOf(other).errors;
    },
  };
  const fields = reachableFields(method.input, new Set());
  const refusals = refusalsOf(parseErrors(commentOf(method).errors, words), {
    access: kind,
    mayNeedFullAccess,
    refusedInSandbox,
    hasInput: fields.length > 0 || body.kind !== "none",
    hasId: fields.some(holdsId),
    hasBody: httpMethod !== "GET" && httpMethod !== "DELETE",
    takesIdempotencyKey: takesIdempotencyKey(method),
  });
  return Object.fromEntries(
    refusals.map((refusal) => {
      const { status, reasons, texts } = refusal;
      const response = errorResponse(refusal, (reason) => textOf(reason, status), refusalHeaders(refusal));
      const name = texts.length === 0 ? sharedNames[reasons.join(" ")] : undefined;
      return [status, name === undefined ? response : shared(name, response)];
    }),
  );
}

function refusalHeaders({ status }: Refusals): ResponseObject["headers"] {
  if (status === 401 || status === 403) return headersOf("WWW-Authenticate");
  return status === 429 || status === 409 ? headersOf("Retry-After") : headersOf();
}

function holdsId(field: DescField): boolean {
  const { value, element } = limitsOf(field);
  return value.format === "uuid" || element.format === "uuid";
}

function reachableFields(message: DescMessage, seen: Set<DescMessage>): DescField[] {
  if (seen.has(message)) return [];
  seen.add(message);
  return message.fields.flatMap((field) => [
    field,
    ...(field.message === undefined ? [] : reachableFields(field.message, seen)),
  ]);
}
