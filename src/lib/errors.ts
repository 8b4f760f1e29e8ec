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

/** A field that was refused, and the reason. */
export interface Fault extends FieldViolation {
  readonly reason: Reason;
}

/** A refused field under the general reason INVALID_ARGUMENT. */
export function invalidArgument(field: string, description: string): Fault {
  return { field, description, reason: "INVALID_ARGUMENT" };
}

/** One obstacle to the call: its kind in UPPER_SNAKE, its subject, and what to do. */
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
  /** The obstacles to the call, sent as `PreconditionFailure`. */
  readonly preconditions?: readonly Precondition[];
  /** Sent as `RetryInfo`, and over HTTP as `Retry-After`, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /**
   * The HTTP status, where HTTP has a specific one for the fault (405, 413, 415, 422); otherwise the code's status is
   * sent.
   */
  readonly httpStatus?: number;
  /** Further HTTP headers, with lower-case names: `www-authenticate`, `allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only, never sent. */
  readonly cause?: unknown;
}

/**
 * An error that a client is meant to see, the same over every protocol. Any other thrown error is a bug of ours and
 * reaches the client as INTERNAL without its message.
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

/** Makes an error that a client is meant to see. Messages are lower-case and name the thing and the fix. */
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

/** INVALID_ARGUMENT with every fault, under their reason if all share one; undefined when there are no faults. */
export function refusal(faults: readonly Fault[]): CallError | undefined {
  const [first] = faults;
  if (first === undefined) return undefined;
  const shared = faults.every(({ reason }) => reason === first.reason);
  return invalid(
    faults.map(({ field, description }) => ({ field, description })),
    shared ? first.reason : "INVALID_ARGUMENT",
  );
}

/** Throws the refusal of the faults, if there are any. */
export function refuse(faults: readonly Fault[]): void {
  const error = refusal(faults);
  if (error !== undefined) throw error;
}

/** Runs a function that reads a request, and returns the faults that it throws; none when it succeeds. */
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
