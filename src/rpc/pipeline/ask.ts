import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { invalid } from "../../lib/errors.ts";
import type { MethodPlan } from "../access.ts";
import type { Context, ReadRequest } from "../handlers.ts";
import type { Leave } from "./cost.ts";

/** What the pipeline does for an operation that a handler asks. */
export interface Answerer {
  readonly planOf: (method: DescMethodUnary) => MethodPlan | undefined;
  /** Throws unless the caller may call the operation. */
  readonly permit: (plan: MethodPlan) => void;
  /** Waits for the operation's turn, if it needs one of its own. */
  readonly turnOf: (plan: MethodPlan) => Promise<Leave> | Leave | undefined;
  readonly readRequest: ReadRequest;
}

/** Makes `ask` of a context. The asked handler gets a context of the same call, on the same connection. */
export function asker(answerer: Answerer, contextOf: () => Context): Context["ask"] {
  const ask = async (method: DescMethodUnary, json: Parameters<Context["ask"]>[1]): Promise<Message> => {
    const plan = answerer.planOf(method);
    if (plan?.readsOnly !== true)
      throw new Error(`${method.name}: only served operations that read are asked`);
    answerer.permit(plan);
    const { readRequest } = answerer;
    const { handle } = plan;
    // The request is read by the method's own descriptor; only the registry's common type is narrower.
    const check = (request: Message) => handle.check?.(request as never, readRequest);
    const { request, faults } = readRequest(method, json, check);
    if (faults.length > 0) throw invalid(faults);
    const leave = await answerer.turnOf(plan);
    try {
      return create(method.output, await handle(request as never, contextOf()));
    } finally {
      leave?.();
    }
  };
  // The answer is a message of the method's own output.
  return ask as Context["ask"];
}
