import type { JsonSchema } from "./json-schema.ts";
import { reference } from "./json-schema.ts";

/** A parameter in the form of OpenAPI. */
export interface ParameterObject {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description?: string;
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly schema: JsonSchema;
}

/** Request headers that many operations take. */
export const headerParameters: Readonly<Record<string, ParameterObject>> = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes it safe to repeat the call: within 24 hours the same key with the same request gets the first answer, without a second effect.",
    schema: { type: "string", pattern: "^[ -~]{1,255}$" },
  },
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "An id for this call, to find it in logs: 1 to 128 letters, digits, hyphens and underscores. If it is missing or malformed, the service makes one.",
    schema: { type: "string" },
  },
};

/** Headers of answers. */
export const answerHeaders = {
  "Cache-Control": {
    description: "How long shared caches may keep the answer.",
    schema: { type: "string" },
  },
  Deprecation: {
    description: "Since when the operation is deprecated, as `@` and Unix seconds (RFC 9745).",
    schema: { type: "string" },
  },
  "Idempotent-Replayed": {
    description: "Only on the answer of a repeated call with the same `Idempotency-Key`.",
    schema: { type: "string", const: "true" },
  },
  Link: {
    description: 'A page that tells people what to use instead, with `rel="deprecation"`.',
    schema: { type: "string" },
  },
  Location: {
    description: "The address of the job.",
    schema: { type: "string" },
  },
  RateLimit: {
    description: 'The calls left, and the seconds until the limit is full again: `"default";r=199;t=1`.',
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description: 'The limit itself, as calls in a number of seconds: `"default";q=200;w=2`.',
    schema: { type: "string" },
  },
  "Retry-After": {
    description:
      "The number of seconds after which the call may be repeated. Missing if waiting does not help.",
    schema: { type: "integer", minimum: 0 },
  },
  Sunset: {
    description: "From when the operation may be gone (RFC 8594).",
    schema: { type: "string" },
  },
  "WWW-Authenticate": {
    description: "How to authenticate, and with which scope.",
    schema: { type: "string" },
  },
  "X-Request-Id": {
    description: "The id of the call in logs.",
    schema: { type: "string" },
  },
} as const satisfies Record<string, { description: string; schema: JsonSchema }>;

type HeaderName = keyof typeof answerHeaders;

/** References to an answer's headers, including those of every answer. */
export function headersOf(...names: readonly HeaderName[]): Record<string, object> {
  const all: HeaderName[] = ["X-Request-Id", "RateLimit", "RateLimit-Policy", ...names];
  return Object.fromEntries(all.map((name) => [name, reference("headers", name)]));
}
