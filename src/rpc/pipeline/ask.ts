import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { type CallError, invalid } from "../../lib/errors.ts";
import type { MethodPlan } from "../access.ts";
import type { Context, Finish, ReadRequest } from "../handlers.ts";
import type { Leave } from "./cost.ts";
import { completed, maskOfKeys } from "./update-mask.ts";

/** What the pipeline does for an operation that a handler asks. */
export interface Answerer {
  readonly planOf: (method: DescMethodUnary) => MethodPlan | undefined;
  /** Throws unless the caller may call the operation. */
  readonly permit: (plan: MethodPlan) => void;
  /** Throws when the request gives fields that its caller may not give. */
  readonly permitFields: (plan: MethodPlan, request: Message) => void;
  /** Waits for the operation's turn, if it needs one of its own. */
  readonly turnOf: (plan: MethodPlan) => Promise<Leave> | Leave | undefined;
  readonly readRequest: ReadRequest;
  /** The refusal of a whole request of the operation, if it breaks a rule. */
  readonly refusalOf: (plan: MethodPlan, request: Message) => CallError | undefined;
}

type Json = Parameters<Context["ask"]>[1];

/** Makes `ask` of a context. The asked handler gets a context of the same call, on the same connection. */
export function asker(answerer: Answerer, contextOf: () => Context): Context["ask"] {
  const ask = async (method: DescMethodUnary, json: Json): Promise<Message> => {
    const plan = answerer.planOf(method);
    if (plan?.readsOnly !== true)
      throw new Error(`${method.name}: only served operations that read are asked`);
    const context = contextOf();
    if (context.db.isTransaction)
      throw new Error(`${method.name}: ask before the transaction, as it may wait`);
    return run(answerer, plan, json, context);
  };
  // The answer is a message of the method's own output.
  return ask as Context["ask"];
}

/** Makes `act` of a context. */
export function actor(answerer: Answerer, contextOf: () => Context): Context["act"] {
  const act = async (method: DescMethodUnary, json: Json): Promise<Message> => {
    const plan = answerer.planOf(method);
    const context = contextOf();
    if (plan === undefined) throw new Error(`${method.name}: is not served`);
    if (context.db.isTransaction)
      throw new Error(`${method.name}: act before the transaction, as it may wait`);
    let finish: Finish | undefined;
    const answer = await run(answerer, plan, maskOfKeys(method, json), {
      ...context,
      complete: (given, stored) =>
        completed(given, method.input, stored, (whole) => answerer.refusalOf(plan, whole)),
      afterCommit: (left) => {
        finish = left;
      },
    });
    return finish === undefined ? answer : create(method.output, await finish(context.db));
  };
  return act as Context["act"];
}

async function run(answerer: Answerer, plan: MethodPlan, json: Json, context: Context): Promise<Message> {
  answerer.permit(plan);
  const { readRequest } = answerer;
  const { handle, method } = plan;
  // The request is read by the method's own descriptor; only the registry's common type is narrower.
  const check = (request: Message) => handle.check?.(request as never, readRequest);
  const { request, faults } = readRequest(method, json, check);
  if (faults.length > 0) throw invalid(faults);
  answerer.permitFields(plan, request);
  const leave = await answerer.turnOf(plan);
  try {
    return create(method.output, await handle(request as never, context));
  } finally {
    leave?.();
  }
}
