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

/** What kind of failure it is: the canonical codes of gRPC by name. */
export type ErrorCode = (typeof codeNames)[Code];

/** One field that was refused. */
export interface FieldViolation {
  /** Its path in JSON names, such as `links[3].destination`. */
  readonly field: string;
  /** What is wrong, and what to do about it. */
  readonly description: string;
}

/** Everything a call can fail with, whether the service refused it or could not be reached. */
export class SignpostError extends Error {
  override readonly name = "SignpostError";
  readonly code: ErrorCode;
  /** The precise cause, such as `SHORTLINK_TAKEN`; the code's name where the service has said nothing more. */
  readonly reason: string;
  /** Facts that go with the reason, such as the missing scope. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Every refused field of an INVALID_ARGUMENT. */
  readonly fieldViolations: readonly FieldViolation[];
  /** How long the service asks to wait before another try; undefined when it does not say. */
  readonly retryDelayMs: number | undefined;
  /** Leads to the call in the service's log. */
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

/** Names whatever a transport throws. A `fetch` that reaches nobody throws a TypeError, which says nothing of itself. */
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
