import type { DescEnum } from "@bufbuild/protobuf";
import type { Comment, Commented } from "./comments.ts";
import { wholeText } from "./comments.ts";
import type { Refusals } from "./errors.ts";
import { type JsonSchema, reference } from "./json-schema.ts";

/** A response in the form of OpenAPI. */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  /** The possible values of `codeType`. */
  readonly "x-reasons"?: readonly string[];
  readonly content?: Readonly<Record<string, object>>;
}

const text: JsonSchema = { type: "string" };

function detail(name: string, description: string, properties: Record<string, JsonSchema>): JsonSchema {
  return {
    type: "object",
    description,
    required: ["@type", ...Object.keys(properties)],
    properties: { "@type": { type: "string", const: typeUrl(name) }, ...properties },
  };
}

function typeUrl(name: string): string {
  return `type.googleapis.com/google.rpc.${name}`;
}

function violations(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "array", items: { type: "object", required: Object.keys(properties), properties } };
}

/** The possible elements of an error's `details`, in the form that `rest` writes. */
const details: Readonly<Record<string, JsonSchema>> = {
  ErrorInfo: detail("ErrorInfo", "The reason, for programs; always the first detail.", {
    reason: { ...reference("schemas", "ErrorReason"), description: "The same as `codeType`." },
    domain: { ...text, description: "The owner of the reasons: `signpost`." },
    metadata: { type: "object", description: "Facts about the reason.", additionalProperties: text },
  }),
  BadRequest: detail("BadRequest", "All refused fields.", {
    fieldViolations: violations({
      field: { ...text, description: "The field's path in JSON names, such as `links[3].destination`." },
      description: { ...text, description: "What is wrong with it." },
    }),
  }),
  PreconditionFailure: detail("PreconditionFailure", "All obstacles to the call.", {
    violations: violations({ type: text, subject: text, description: text }),
  }),
  QuotaFailure: detail("QuotaFailure", "All limits that are used up.", {
    violations: violations({ subject: text, description: text }),
  }),
  RetryInfo: detail("RetryInfo", "When the call may be repeated; `Retry-After` says the same.", {
    retryDelay: { ...text, pattern: "^[0-9]+s$", description: "Such as `5s`." },
  }),
};

/** Properties of signpost.v1.ErrorBody with more information than its descriptor holds. */
export const errorProperties: ReadonlyMap<string, JsonSchema> = new Map<string, JsonSchema>([
  ["signpost.v1.ErrorBody.code_type", reference("schemas", "ErrorReason")],
  ["signpost.v1.ErrorBody.details", { type: "array", items: reference("schemas", "ErrorDetail") }],
]);

/** The schemas of an error's parts, by name; `error` refers to the schema of signpost.v1.ErrorBody. */
export function errorSchemas(
  reasons: DescEnum,
  error: JsonSchema,
  commentOf: (desc: Commented) => Comment,
): Record<string, JsonSchema> {
  const sent = reasons.values.filter(({ number }) => number !== 0);
  const lines = sent.map((value) => `- \`${value.localName}\`: ${wholeText(commentOf(value))}`);
  return {
    ...details,
    ErrorDetail: {
      description: "A fact about an error; `@type` names its kind.",
      oneOf: Object.keys(details).map((name) => reference("schemas", name)),
      discriminator: {
        propertyName: "@type",
        mapping: Object.fromEntries(
          Object.keys(details).map((name) => [typeUrl(name), reference("schemas", name).$ref]),
        ),
      },
    },
    ErrorReason: {
      type: "string",
      description: `${wholeText(commentOf(reasons))}\n\n${lines.join("\n")}`,
      enum: sent.map(({ localName }) => localName),
    },
    ErrorResponse: {
      type: "object",
      description: "The answer of every refused or failed call.",
      required: ["error"],
      properties: { error },
    },
  };
}

/** The response of one status, with its possible reasons and an example of each. */
export function errorResponse(
  { reasons, texts }: Refusals,
  textOf: (reason: string) => string,
  headers: ResponseObject["headers"],
): ResponseObject {
  const lines = reasons.map((reason) => `- \`${reason}\`: ${textOf(reason)}`);
  // The list of reasons already covers a clause that only names its reasons.
  const told = texts.filter((clause) => !/^[A-Z_]+ \([A-Z_, ]+\)$/.test(clause));
  const when = told.length === 0 ? "" : `${told.join("; ")}.\n\n`;
  return {
    description: `${when}${lines.join("\n")}`,
    ...(headers === undefined ? {} : { headers }),
    "x-reasons": reasons,
    content: {
      "application/json": {
        // A bare reference: with other keys beside it, generators write an empty type of its own.
        schema: reference("schemas", "ErrorResponse"),
        examples: Object.fromEntries(reasons.map((reason) => [reason, reference("examples", reason)])),
      },
    },
  };
}

/** The body of an error, as the example of a reason. */
export function errorExample(reason: string, status: number, sentence: string): object {
  const message = sentence.charAt(0).toLowerCase() + sentence.slice(1);
  const info = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason,
    domain: "signpost",
    metadata: {},
  };
  return { value: { error: { code: status, codeType: reason, message, details: [info] } } };
}
