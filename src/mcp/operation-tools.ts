import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { fail } from "../lib/errors.ts";
import { type MethodAccess, methodAccess, takesIdempotencyKey } from "../rpc/access.ts";
import type { Caller, RegisteredService } from "../rpc/handlers.ts";
import { imagesIn } from "./images.ts";
import { fileText, modelText } from "./model-text.ts";
import type { Json, Performed, Tool, ToolAnswer } from "./tool.ts";
import type { ToolFacts, ToolTable } from "./tool-table.ts";

/** How many entries of a list a model gets when it does not say how many it wants. */
const pageSizeDefault = 25;

/** Makes one tool of each operation that is built and that models get a tool for. */
export function operationTools(services: readonly RegisteredService[], table: ToolTable): Tool[] {
  return services.flatMap(({ service, unbuilt }) =>
    service.methods.flatMap((method) => {
      const facts = unbuilt.has(method.localName) ? undefined : table(method);
      return facts === undefined || !isUnary(method) ? [] : [operationTool(method, facts)];
    }),
  );
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function operationTool(method: DescMethodUnary, facts: ToolFacts): Tool {
  const access = methodAccess(method);
  const takesKey = takesIdempotencyKey(method);
  const hasPages = method.input.fields.some(({ name }) => name === "page_size");
  const images = imagesIn(method);
  return {
    name: facts.name,
    scopes: access.scope === undefined ? [] : [access.scope],
    isFor: (caller) => mayCall(access, caller),
    definition: JSON.stringify(hasPages ? withPageSize(facts) : facts),
    async run(given, use, bytes) {
      const { idempotencyKey, ...rest } = given;
      const request = hasPages ? { pageSize: pageSizeDefault, ...present(rest) } : rest;
      const key = takesKey ? keyOf(idempotencyKey) : undefined;
      const performed = await use.perform(method, request, { idempotencyKey: key, bytes });
      return answerOf(performed, await images(performed.message, use));
    },
  };
}

/** Whether the operation lets a caller with its scope in. */
function mayCall({ fullAccess, refusedInSandbox }: MethodAccess, caller: Caller): boolean {
  return (!fullAccess || caller.fullAccess) && (refusedInSandbox === undefined || !caller.sandbox);
}

function withPageSize(facts: ToolFacts): ToolFacts {
  const { pageSize, ...others } = facts.inputSchema.properties ?? {};
  return {
    ...facts,
    inputSchema: {
      ...facts.inputSchema,
      properties: { pageSize: { ...pageSize, default: pageSizeDefault }, ...others },
    },
  };
}

/** An absent page size must not hide the default. */
function present({ pageSize, page_size: other, ...rest }: Json): Json {
  const size = pageSize ?? other;
  return size === undefined || size === null || size === 0 ? rest : { ...rest, pageSize: size };
}

function keyOf(given: unknown): string | undefined {
  if (given === undefined || given === null || typeof given === "string") return given ?? undefined;
  throw fail("INVALID_ARGUMENT", "INVALID_ARGUMENT", "idempotencyKey: must be a text", {
    fields: [{ field: "idempotencyKey", description: "must be a text" }],
  });
}

function answerOf({ contentType, body }: Performed, images: ToolAnswer["images"] = []): ToolAnswer {
  if (contentType === "application/json") return { structured: body, text: modelText(body), images };
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const [mimeType = ""] = contentType.split(";", 1);
  const structured = JSON.stringify({ contentType, bytes: bytes.length });
  if (mimeType.startsWith("image/") && mimeType !== "image/svg+xml")
    return { structured, text: `${mimeType}, ${bytes.length} bytes`, images: [{ mimeType, bytes }] };
  return { structured, text: fileText(mimeType, bytes) };
}
