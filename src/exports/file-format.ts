import type { Portion } from "./portions.ts";

export interface FormatOptions {
  readonly workspaceId: string;
}

/** Writes a file from its beginning to its end. */
export interface FileFormat {
  /** The bytes of some events, and of the file's beginning when they are the first. A caller keeps what it is given. */
  readonly write: (portion: Portion) => Buffer | Promise<Buffer>;
  /** The bytes that end the file; those of the whole file when it has no event. */
  readonly end: () => Buffer;
}
