/** The exit codes of the command. */
export const exitCodes = {
  ok: 0,
  other: 1,
  usage: 2,
  access: 3,
  notFound: 4,
  conflict: 5,
  limit: 6,
  unavailable: 7,
} as const;

/** Every exit code with its meaning, for the help. */
export const exitCodeMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.ok, "done"],
  [exitCodes.other, "something else failed, or is not built yet"],
  [exitCodes.usage, "the command line or the request is wrong"],
  [exitCodes.access, "no token, a wrong one, or one that may not do this"],
  [exitCodes.notFound, "there is no such record"],
  [exitCodes.conflict, "it exists already, or its state does not allow this"],
  [exitCodes.limit, "a rate limit or a quota is used up"],
  [exitCodes.unavailable, "the service cannot be reached or is away"],
];

/** The exit code for the HTTP status of a refusal. */
export function exitCodeOf(httpStatus: number): number {
  switch (httpStatus) {
    case 400:
    case 405:
    case 413:
    case 415:
      return exitCodes.usage;
    case 401:
    case 403:
      return exitCodes.access;
    case 404:
      return exitCodes.notFound;
    case 409:
    case 412:
    case 422:
      return exitCodes.conflict;
    case 429:
      return exitCodes.limit;
    case 502:
    case 503:
    case 504:
      return exitCodes.unavailable;
    default:
      return exitCodes.other;
  }
}

/** A command line that cannot be run; `help` names the command whose help explains more, such as `links create`. */
export class UsageError extends Error {
  readonly help: string;

  constructor(message: string, help = "") {
    super(message);
    this.help = help;
  }
}

/** One field of the request that the service refused. */
export interface BadField {
  /** The field's path in JSON names, such as `links[3].destination`. */
  readonly field: string;
  readonly description: string;
}

/** Why the service refused a call, or why it could not be reached. */
export interface Refusal {
  /** A reason such as `SHORTLINK_TAKEN`. */
  readonly reason: string;
  readonly message: string;
  readonly exitCode: number;
  readonly fields: readonly BadField[];
  /** Further facts of the error by name, such as the missing `scope`. */
  readonly facts: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
}

/** Ends the command with a refusal. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/**
 * Makes text safe for a terminal: control characters and marks that change the direction of writing could make it show
 * something else.
 */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, " ");
}
