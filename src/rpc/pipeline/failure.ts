import pg from "pg";
import { isLostRace } from "../../db/lost-races.ts";
import { CallError, fail } from "../../lib/errors.ts";

/** SQLSTATEs of a server that is starting, stopping, full or a standby (PostgreSQL, appendix A). */
const awayStates = /^(08...|57P0[123]|53300|25006)$/;
const lockTimeout = "55P03";
const statementTimeout = "57014";

const awayErrnos = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENOTFOUND",
]);

/** The messages of pg for broken connections; these errors have no code. */
const awayMessages =
  /^(connection terminated|timeout exceeded when trying to connect|client has encountered a connection error)/i;

/** Turns whatever was thrown into the error that the client sees; unexpected errors are masked. */
export function toCallError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  if (isDatabaseAway(error)) {
    return fail(
      "UNAVAILABLE",
      "UNAVAILABLE",
      "the service cannot reach its database; try again in a second",
      {
        retryAfterSeconds: 1,
        cause: error,
      },
    );
  }
  if (isLostRace(error) || (error instanceof pg.DatabaseError && error.code === lockTimeout)) {
    return fail("ABORTED", "ABORTED", "another call changed the same records; try again", { cause: error });
  }
  if (error instanceof pg.DatabaseError && error.code === statementTimeout) return deadlineExceeded(error);
  return fail("INTERNAL", "INTERNAL", "internal error; the request id finds it in the service's log", {
    cause: error,
  });
}

export function deadlineExceeded(cause?: unknown): CallError {
  return fail("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", "the call took too long", { cause });
}

function isDatabaseAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return awayStates.test(error.code ?? "");
  if (!(error instanceof Error)) return false;
  const errno = "code" in error ? error.code : undefined;
  return (
    (typeof errno === "string" && awayErrnos.has(errno) && "syscall" in error) ||
    awayMessages.test(error.message)
  );
}
