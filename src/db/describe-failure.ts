import pg from "pg";

/** The loggable facts of an error: its kind and place. */
export type FailureDescription = Readonly<Record<string, string | undefined>>;

/**
 * Describes an error for every log, without the values that PostgreSQL quotes. PostgreSQL's `detail`, `where` and
 * `hint` hold whole rows, including addresses of people, and its message quotes the statement's values.
 */
export function describeFailure(error: unknown): FailureDescription {
  if (!(error instanceof Error)) return { type: typeof error };
  const frames = error.stack?.indexOf("\n    at ") ?? -1;
  const stack = frames < 0 ? undefined : error.stack?.slice(frames + 1);
  const { name: type } = error;
  const message = failureMessage(error);
  if (!(error instanceof pg.DatabaseError)) {
    const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
    return { type, message, code, stack };
  }
  const { code, constraint, table, column } = error;
  return { type, message, code, constraint, table, column, stack };
}

/**
 * The message of an error without PostgreSQL's quotations: everything from the first quote to the last, because values
 * contain quotes too.
 */
export function failureMessage(error: unknown): string {
  if (!(error instanceof Error)) return `something of type ${typeof error} was thrown`;
  if (!(error instanceof pg.DatabaseError)) return error.message;
  const [first, last] = [error.message.indexOf('"'), error.message.lastIndexOf('"')];
  return first === last
    ? error.message
    : `${error.message.slice(0, first)}"…"${error.message.slice(last + 1)}`;
}

/**
 * Turns a PostgreSQL error into one of our own, for code that stores errors or passes them to another thread or to the
 * job queue.
 */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { message = "", stack = "" } = describeFailure(error);
  const plain = new Error(`${message} (${error.code})`);
  plain.stack = `Error: ${plain.message}\n${stack}`;
  return plain;
}
