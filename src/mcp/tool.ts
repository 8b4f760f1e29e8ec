import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { Caller } from "../rpc/handlers.ts";

/** A parsed JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** What a tool, a prompt or a resource may use while it runs: the caller, and the caller's right to call operations. */
export interface Use {
  readonly caller: Caller;
  /**
   * Calls an operation as the caller, through the same checks, limits, quota and log line as every protocol. Returns the JSON
   * that REST answers, without secrets. Throws the CallError that refuses the call.
   */
  call(method: DescMethodUnary, request: Json, options?: CallOptions): Promise<Json>;
  /** Like `call`, and returns the answer as it was written, which costs least. */
  perform(method: DescMethodUnary, request: Json, options?: CallOptions): Promise<Performed>;
  /** Reads an image of the service's own storage by an address that an operation answered; undefined for any other. */
  image(address: string): Promise<Image | undefined>;
}

export interface CallOptions {
  /** Makes the call happen once, however often it is repeated with the same key. */
  readonly idempotencyKey?: string | undefined;
  /** The size of the arguments as they came, when the request is made of them as they are. */
  readonly bytes?: number;
}

/** The answer of an operation. */
export interface Performed {
  readonly message: Message;
  /** `application/json`, unless the operation answers a file. */
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** An image in an answer. */
export interface Image {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** What a tool answers. */
export interface ToolAnswer {
  /** The text of a JSON object, which fits the tool's output schema. */
  readonly structured: string | Uint8Array;
  /** What matters of it to a model; the transport cuts it at 4 kB. */
  readonly text: string;
  readonly images?: readonly Image[];
}

/** One tool, as `tools/list` shows it and `tools/call` runs it. */
export interface Tool {
  /** Snake case, such as `links_create`. */
  readonly name: string;
  /** The scopes that the caller must all hold to see the tool. */
  readonly scopes: readonly string[];
  /** Whether a caller who holds the scopes sees the tool; every such caller does when this is absent. */
  readonly isFor?: (caller: Caller) => boolean;
  /** The tool's entry in `tools/list` as JSON text: name, title, description, inputSchema, outputSchema, annotations. */
  readonly definition: string;
  /** Runs the tool. `bytes` is the size of the arguments. Throws a CallError when it refuses or fails. */
  run(given: Json, use: Use, bytes: number): Promise<ToolAnswer>;
}

/** A prompt, as `prompts/list` shows it and `prompts/get` makes it. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  /** The scopes that the caller must all hold to see the prompt. */
  readonly scopes: readonly string[];
  /** Makes the messages. Throws a CallError for wrong arguments. */
  make(given: Readonly<Record<string, string>>, use: Use): Promise<readonly PromptMessage[]>;
}

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A resource, or with `uriTemplate` a family of resources. */
export interface Resource {
  /** The address of a single resource, such as `signpost://reference`. */
  readonly uri?: string;
  /** The address of a family (RFC 6570), such as `signpost://links/{id}/workflow`. */
  readonly uriTemplate?: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** The scopes that the caller must all hold to see the resource. */
  readonly scopes: readonly string[];
  /** Reads the resource; undefined when the address is not one of this resource. Throws a CallError when it cannot. */
  read(uri: string, use: Use): Promise<string | undefined>;
}

/** What one choice of `?tools=` offers. */
export interface Surface {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  /** How to work with the tools, in a few sentences for the model. */
  readonly instructions: string;
}
