import type { ErrorReason } from "../../gen/signpost/v1/error_reason_pb.js";

/** The canonical codes of gRPC, by name. */
export type Code = keyof typeof codeNumbers;

/** gRPC status numbers (google/rpc/code.proto). */
export const codeNumbers = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** A machine-readable cause, one of `ErrorReason`. */
export type Reason = Exclude<keyof typeof ErrorReason, "UNSPECIFIED">;

/** One field that was refused: its path in JSON names (`links[3].destination`) and what to do about it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** A field that was refused, and why it is. */
export interface Fault extends FieldViolation {
  readonly reason: Reason;
}

/** A field that was refused for no reason that has a name of its own. */
export function invalidArgument(field: string, description: string): Fault {
  return { field, description, reason: "INVALID_ARGUMENT" };
}

/** One thing that stands in the way: its kind in UPPER_SNAKE, what it is about, and what to do. */
export interface Precondition {
  readonly type: string;
  readonly subject: string;
  readonly description: string;
}

export interface ErrorDetails {
  /** Facts for programs, sent as `ErrorInfo.metadata`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Sent as `BadRequest`. */
  readonly fields?: readonly FieldViolation[];
  /** Whatever stands in the way, sent as `PreconditionFailure`. */
  readonly preconditions?: readonly Precondition[];
  /** Sent as `RetryInfo`, and over HTTP as `Retry-After`, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /** Where HTTP has a status of its own for the fault (405, 413, 415, 422); else the code's status is sent. */
  readonly httpStatus?: number;
  /** Further HTTP headers, lower-case names: `www-authenticate`, `allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only, never sent. */
  readonly cause?: unknown;
}

/**
 * An error that a client is meant to see, the same over every protocol. Anything else that is thrown is a bug of ours
 * and reaches the client as INTERNAL without its message.
 */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: Code;
  readonly reason: Reason;
  readonly refusal: ErrorDetails;

  constructor(code: Code, reason: Reason, message: string, refusal: ErrorDetails = {}) {
    super(message, refusal.cause === undefined ? undefined : { cause: refusal.cause });
    this.code = code;
    this.reason = reason;
    this.refusal = refusal;
  }
}

/** Makes an error that a client is meant to see; messages are lower-case, name the thing and the fix. */
export function fail(code: Code, reason: Reason, message: string, refusal?: ErrorDetails): CallError {
  return new CallError(code, reason, message, refusal);
}

/** INVALID_ARGUMENT that lists every refused field. */
export function invalid(fields: readonly FieldViolation[], reason: Reason = "INVALID_ARGUMENT"): CallError {
  const [first] = fields;
  const others = fields.length > 1 ? ` (and ${fields.length - 1} more)` : "";
  const message = first === undefined ? "invalid request" : `${first.field}: ${first.description}${others}`;
  return new CallError("INVALID_ARGUMENT", reason, message, { fields });
}

/** INVALID_ARGUMENT with every fault, under their reason when they share one; undefined when there is none. */
export function refusal(faults: readonly Fault[]): CallError | undefined {
  const [first] = faults;
  if (first === undefined) return undefined;
  const shared = faults.every(({ reason }) => reason === first.reason);
  return invalid(
    faults.map(({ field, description }) => ({ field, description })),
    shared ? first.reason : "INVALID_ARGUMENT",
  );
}

/** Throws what `refusal` makes of the faults. */
export function refuse(faults: readonly Fault[]): void {
  const error = refusal(faults);
  if (error !== undefined) throw error;
}

/** What a function that reads a request refuses; none when it refuses nothing. */
export function faultsFrom(read: () => unknown): Fault[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const { reason, refusal: refused } = error;
    return (refused.fields ?? []).map((field) => ({ ...field, reason }));
  }
}
