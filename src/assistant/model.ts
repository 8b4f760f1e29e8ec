/** A file as a model gets it. */
export interface ModelFile {
  readonly name: string;
  /** `image/png`, `image/jpeg`, `application/pdf`, `text/plain` or `text/csv`. */
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A call of a tool, as a model asks for it. Nothing in it is checked. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** What should be JSON. */
  readonly input: string;
  /** What the model's maker wants back with the result. */
  readonly memo?: unknown;
}

/** What came of a call. */
export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** One entry of what a model is told. */
export type Said =
  | { readonly by: "user"; readonly text: string; readonly files: readonly ModelFile[] }
  | { readonly by: "assistant"; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly by: "tools"; readonly results: readonly ToolResult[] };

/** A tool, as a model is told of it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

/** What a model is asked. */
export interface Question {
  readonly instructions: string;
  readonly said: readonly Said[];
  readonly tools: readonly ModelTool[];
}

/** What a model answers. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Whether the answer was longer than allowed, and lacks its end. */
  readonly isCut: boolean;
}

/** A language model. */
export interface Model {
  /**
   * Asks once. `onText` gets the text while it is made. Rejects with a `ModelFault`, or with the signal's reason.
   */
  reply(
    question: Question,
    options: { readonly signal: AbortSignal; readonly onText?: (text: string) => void },
  ): Promise<Reply>;
}

/** Why a model gave no answer: it is too slow, has too much to do, does not work, or its answer makes no sense. */
export type ModelFailing = "late" | "busy" | "away" | "garbled";

/** The failure of a model. Its message holds nothing of the conversation, so that it can be logged. */
export class ModelFault extends Error {
  override readonly name = "ModelFault";
  readonly failing: ModelFailing;
  /** When the model's server wants to be asked again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(failing: ModelFailing, message: string, retryAfterSeconds?: number) {
    super(message);
    this.failing = failing;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The bounds of one answer of a model. */
export const replyLimits = {
  /** Of the text, in characters. */
  text: 16_000,
  tokens: 2_048,
  calls: 8,
  /** Of one call, in characters. */
  input: 16_000,
  /** Of everything that the server sends, in bytes. */
  bytes: 2 * 1024 * 1024,
} as const;
