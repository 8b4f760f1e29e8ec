import type { DescMethod, DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import type { ModelTool } from "./model.ts";

/** What a tool does: it reads, it changes something that can be changed back, or it destroys. */
export type ToolKind = "read" | "write" | "destructive";

/** What is known of an operation as a tool. */
export interface ToolFacts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
}

/** What matters here of the schema of a tool's arguments. */
interface JsonSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** An operation as a tool of a conversation. */
export interface Tool extends ModelTool {
  readonly title: string;
  readonly kind: ToolKind;
  readonly method: DescMethodUnary;
  /** The fields that the conversation's record decides, and no model. */
  readonly pinned: JsonObject;
}

/** Finds what is known of an operation. */
export type FactsOf = (method: DescMethod) => ToolFacts | undefined;

/** Makes the tool of an operation. Its schema lacks the pinned fields, and the idempotency key of other callers. */
export function toolOf(method: DescMethodUnary, pinned: JsonObject, factsOf: FactsOf): Tool | undefined {
  const facts = factsOf(method);
  if (facts === undefined) return undefined;
  const { name, title, description, annotations } = facts;
  const inputSchema: JsonSchema = facts.inputSchema;
  const { readOnlyHint, destructiveHint } = annotations;
  const isLeft = (field: string) => !Object.hasOwn(pinned, field) && field !== "idempotencyKey";
  const properties = Object.entries(inputSchema.properties ?? {}).filter(([field]) => isLeft(field));
  return {
    name,
    title,
    description,
    inputSchema: {
      ...inputSchema,
      properties: Object.fromEntries(properties),
      required: (inputSchema.required ?? []).filter(isLeft),
    },
    kind: readOnlyHint ? "read" : destructiveHint ? "destructive" : "write",
    method,
    pinned,
  };
}
