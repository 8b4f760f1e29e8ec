import { CallError, fail } from "../lib/errors.ts";
import type { AnswerHeaders, Call } from "../rpc/call.ts";
import type { Caller } from "../rpc/handlers.ts";
import { type RpcFault, type RpcMessage, rpcCodes, rpcFault } from "./json-rpc.ts";
import { createMethods, type ListedSurface, type Method } from "./methods.ts";
import { type Reply, refusalOf } from "./reply.ts";
import { type RepeatedHeaders, type Revision, revisionOf, type ServerInfo, stateless } from "./revisions.ts";
import type { Use } from "./tool.ts";
import type { Asking } from "./use.ts";

/** A caller whose access token was accepted. */
export interface Admitted {
  readonly caller: Caller;
  /** Takes a request of so many bytes that calls no operation out of the caller's rate; throws the refusal. */
  charge(bytes: number): AnswerHeaders;
}

export interface DispatchOptions {
  readonly server: ServerInfo;
  readonly useOf: (asking: Asking) => Use;
  /** The surface that `?tools=` names; undefined when there is none of this name. */
  readonly surfaceOf: (name: string | undefined) => Promise<ListedSurface> | undefined;
  /** Told of each bug of ours; the client gets an internal error under this request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** What is known of a request beside its message. */
export interface Received {
  readonly call: Pick<Call, "requestId" | "authorization" | "clientAddress" | "signal">;
  readonly bytes: number;
  /** The choice of tools in the address. */
  readonly surface: string | undefined;
  readonly repeated: RepeatedHeaders;
}

type Request = Extract<RpcMessage, { kind: "request" }>;

/** Makes what answers a message. Never rejects, except for a fault of the service before the message has an id. */
export function createDispatch(options: DispatchOptions) {
  const methodOf = createMethods(options.server);

  async function answer(request: Request, admitted: Admitted, received: Received): Promise<Reply> {
    const { id, method, params } = request;
    const { bytes, repeated } = received;
    // A call of an operation is charged by the pipeline, with the limits of the operation.
    const isCall = method === "tools/call";
    let headers = isCall ? undefined : admitted.charge(bytes);
    const charged = () => {
      headers ??= admitted.charge(bytes);
      return headers;
    };
    const revision = revisionOf(method, params, repeated);
    const run = typeof revision === "string" ? methodOf(revision, method) : undefined;
    const surface = options.surfaceOf(received.surface);
    if (typeof revision !== "string" || run === undefined || surface === undefined)
      return { kind: "fault", id, fault: faultOf(revision, run), headers: charged() };
    const { caller } = admitted;
    const onHeaders = (told: AnswerHeaders) => {
      headers = told;
    };
    const use = () => options.useOf({ caller, call: { ...received.call, ...ofTools }, onHeaders });
    const result = await run({ revision, params, bytes, caller, surface: await surface, use });
    return "code" in result
      ? { kind: "fault", id, fault: result, headers: charged() }
      : { kind: "result", id, result, headers: charged() };
  }

  return async (message: RpcMessage, admitted: Admitted, received: Received): Promise<Reply> => {
    const id = message.kind === "notification" ? null : message.id;
    try {
      if (message.kind === "request") return await answer(message, admitted, received);
      const headers = admitted.charge(received.bytes);
      return message.kind === "fault" ? { ...message, headers } : { kind: "nothing", headers };
    } catch (error) {
      if (!(error instanceof CallError)) options.onFault(error, received.call.requestId);
      return refusalOf(
        id,
        error instanceof CallError ? error : fail("INTERNAL", "INTERNAL", "the service failed"),
      );
    }
  };
}

/** What all calls of tools have in common. */
const ofTools = { protocol: "mcp", resource: "MCP", testClock: undefined, timeoutMs: undefined } as const;

/** Why a request goes to no method: its revision, its method, or the choice of tools in its address. */
function faultOf(revision: Revision | RpcFault, run: Method | undefined): RpcFault {
  if (typeof revision !== "string") return revision;
  if (run !== undefined)
    return rpcFault(rpcCodes.invalidRequest, "?tools= names no choice of tools; leave it out for all");
  // The stateless revision says so in the status, too.
  const httpStatus = revision === stateless ? 404 : 200;
  return rpcFault(rpcCodes.methodNotFound, "there is no such method", { httpStatus });
}
