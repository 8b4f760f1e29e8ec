import { type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Reach } from "../../assistant/converse.ts";
import type { Tool } from "../../assistant/tools.ts";
import type { Context } from "../../rpc/handlers.ts";

/** Makes calls as the caller of a call, for the assistant's tools. */
export function actOf(context: Context): Reach["act"] {
  return async ({ method }: Pick<Tool, "method">, request: JsonObject) => {
    const answer = await context.act(method, request);
    return { desc: method.output, json: toJson(method.output, answer, { alwaysEmitImplicit: true }) };
  };
}
