import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "./generated/google/rpc/error_details_pb.js";

const codeNames = {
  [Code.Canceled]: "CANCELLED",
  [Code.Unknown]: "UNKNOWN",
  [Code.InvalidArgument]: "INVALID_ARGUMENT",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.AlreadyExists]: "ALREADY_EXISTS",
  [Code.PermissionDenied]: "PERMISSION_DENIED",
  [Code.ResourceExhausted]: "RESOURCE_EXHAUSTED",
  [Code.FailedPrecondition]: "FAILED_PRECONDITION",
  [Code.Aborted]: "ABORTED",
  [Code.OutOfRange]: "OUT_OF_RANGE",
  [Code.Unimplemented]: "UNIMPLEMENTED",
  [Code.Internal]: "INTERNAL",
  [Code.Unavailable]: "UNAVAILABLE",
  [Code.DataLoss]: "DATA_LOSS",
  [Code.Unauthenticated]: "UNAUTHENTICATED",
} as const satisfies Record<Code, string>;

/** The kind of failure: gRPC's canonical codes by name. */
export type ErrorCode = (typeof codeNames)[Code];

/** One refused field. */
export interface FieldViolation {
  /** Its path in JSON names, such as `links[3].destination`. */
  readonly field: string;
  /** What is wrong, and how to mend it. */
  readonly description: string;
}

/** The error of every failed call, whether the service refused it or could not be reached. */
export class SignpostError extends Error {
  override readonly name = "SignpostError";
  readonly code: ErrorCode;
  /** The precise cause, such as `SHORTLINK_TAKEN`, or the code's name if the service gave no reason. */
  readonly reason: string;
  /** Facts about the reason, such as the missing scope. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Every refused field of an INVALID_ARGUMENT. */
  readonly fieldViolations: readonly FieldViolation[];
  /** The wait that the service asks for before another try; undefined when it names none. */
  readonly retryDelayMs: number | undefined;
  /** Finds the call in the service's log. */
  readonly requestId: string;

  constructor(cause: ConnectError, requestId: string) {
    super(cause.rawMessage, { cause });
    const [info] = cause.findDetails(ErrorInfoSchema);
    const [retry] = cause.findDetails(RetryInfoSchema);
    this.code = codeNames[cause.code];
    this.reason = info?.reason || this.code;
    this.metadata = info?.metadata ?? {};
    this.fieldViolations = cause
      .findDetails(BadRequestSchema)
      .flatMap(({ fieldViolations }) =>
        fieldViolations.map(({ field, description }) => ({ field, description })),
      );
    this.retryDelayMs =
      retry?.retryDelay && Number(retry.retryDelay.seconds) * 1000 + retry.retryDelay.nanos / 1_000_000;
    this.requestId = requestId;
  }
}

/** Turns whatever a transport throws into a SignpostError. A `fetch` without a connection throws a bare TypeError. */
export function toSignpostError(thrown: unknown, requestId: string): SignpostError {
  const error = ConnectError.from(thrown);
  const { cause } = error;
  if (error.code !== Code.Unknown || !(cause instanceof TypeError))
    return new SignpostError(error, requestId);
  const inner = cause.cause instanceof Error && cause.cause.message !== "" ? `: ${cause.cause.message}` : "";
  const message = `${cause.message}${inner}`;
  return new SignpostError(
    new ConnectError(message, Code.Unavailable, undefined, undefined, cause),
    requestId,
  );
}
