import { type JsonObject, toJson } from "@bufbuild/protobuf";
import type { Reach } from "../../assistant/converse.ts";
import type { Tool } from "../../assistant/tools.ts";
import type { Context } from "../../rpc/handlers.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** Makes calls as the caller of a call, for the assistant's tools. Their answers hold no secrets. */
export function actOf(context: Context): Reach["act"] {
  return async ({ method }: Pick<Tool, "method">, request: JsonObject) => {
    const answer = await context.act(method, request);
    const json = toJson(method.output, answer, { alwaysEmitImplicit: true });
    return { desc: method.output, json: withoutSecrets(method.output, json) };
  };
}
