import type { CallError, Precondition } from "./errors.ts";

/** The `domain` of every ErrorInfo. */
export const errorDomain = "signpost";

/** One detail of an error as google.rpc describes it, independent of the protocol. */
export type ErrorDetail =
  | { readonly type: "google.rpc.BadRequest"; readonly fieldViolations: readonly DetailedViolation[] }
  | {
      readonly type: "google.rpc.ErrorInfo";
      readonly reason: string;
      readonly domain: string;
      readonly metadata: Readonly<Record<string, string>>;
    }
  | { readonly type: "google.rpc.PreconditionFailure"; readonly violations: readonly Precondition[] }
  | { readonly type: "google.rpc.RetryInfo"; readonly retryDelaySeconds: number };

interface DetailedViolation {
  readonly field: string;
  readonly description: string;
}

/** The details that every protocol sends with code and message. ErrorInfo is always present and comes first. */
export function errorDetails({ reason, refusal }: CallError): ErrorDetail[] {
  const details: ErrorDetail[] = [
    { type: "google.rpc.ErrorInfo", reason, domain: errorDomain, metadata: refusal.metadata ?? {} },
  ];
  if (refusal.fields !== undefined && refusal.fields.length > 0) {
    details.push({
      type: "google.rpc.BadRequest",
      fieldViolations: refusal.fields.map(({ field, description }) => ({ field, description })),
    });
  }
  if (refusal.preconditions !== undefined && refusal.preconditions.length > 0)
    details.push({ type: "google.rpc.PreconditionFailure", violations: refusal.preconditions });
  if (refusal.retryAfterSeconds !== undefined) {
    details.push({ type: "google.rpc.RetryInfo", retryDelaySeconds: refusal.retryAfterSeconds });
  }
  return details;
}
