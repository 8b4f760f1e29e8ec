import { readFile } from "node:fs/promises";
import type { DescMethod } from "@bufbuild/protobuf";

/** What models read of a tool. */
export interface ToolFacts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly properties?: Readonly<Record<string, object>> };
  readonly outputSchema: object;
  readonly annotations: {
    readonly title: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
  };
}

/** The facts of a method's tool; undefined for operations that models get no tool for. */
export type ToolTable = (method: DescMethod) => ToolFacts | undefined;

/** Reads the generated facts of all tools. Anybody may use them, since this file loads nothing of the protocol. */
export async function readToolTable(): Promise<ToolTable> {
  const text = await readFile(new URL("../../gen/tools.json", import.meta.url), "utf8");
  // The generator writes exactly this.
  const tools: Readonly<Record<string, ToolFacts>> = JSON.parse(text);
  return ({ parent, name }) => tools[`${parent.typeName}/${name}`];
}
