/** Why a declared program fetches pages. An `assistant` is an AGENT, every other program a BOT. */
export type Purpose = "assistant" | "link preview" | "crawler" | "program";

/** A program that says who it is. `pattern` is tried on the whole user agent, in the order of the tables. */
export type DeclaredProgram = {
  readonly name: string;
  /** Who operates it; empty when anybody may, as with a library. */
  readonly origin: string;
  readonly pattern: RegExp;
};
