import pg from "pg";

/** What is said of an error: where it happened and its kind. */
export type FailureDescription = Readonly<Record<string, string | undefined>>;

/**
 * What logs say of an error, all of them: none of the values that PostgreSQL quotes. Its `detail`, `where` and `hint` hold whole
 * rows, addresses of people among them, and its message what a statement was given.
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

/** The message of an error without what PostgreSQL quotes in it: all from the first quote to the last, for values have quotes too. */
export function failureMessage(error: unknown): string {
  if (!(error instanceof Error)) return `something of type ${typeof error} was thrown`;
  if (!(error instanceof pg.DatabaseError)) return error.message;
  const [first, last] = [error.message.indexOf('"'), error.message.lastIndexOf('"')];
  return first === last
    ? error.message
    : `${error.message.slice(0, first)}"…"${error.message.slice(last + 1)}`;
}

/** What PostgreSQL said as an error of our own, for those who keep errors or pass them on: the other thread, the queue of jobs. */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { message = "", stack = "" } = describeFailure(error);
  const plain = new Error(`${message} (${error.code})`);
  plain.stack = `Error: ${plain.message}\n${stack}`;
  return plain;
}
