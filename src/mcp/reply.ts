import type { ServerResponse } from "node:http";
import type { CallError } from "../lib/errors.ts";
import { httpStatusOf } from "../rest/error-body.ts";
import type { AnswerHeaders } from "../rpc/call.ts";
import { faultBody, type RpcFault, type RpcId, resultBody } from "./json-rpc.ts";
import { failed, type Result } from "./methods.ts";

/** What is answered: nothing to a notification, a result, or a fault. */
export type Reply =
  | { readonly kind: "nothing"; readonly headers: AnswerHeaders }
  | { readonly kind: "result"; readonly id: RpcId; readonly result: Result; readonly headers: AnswerHeaders }
  | {
      readonly kind: "fault";
      readonly id: RpcId | null;
      readonly fault: RpcFault;
      readonly headers?: AnswerHeaders;
    };

/** The refusal of a request that reached no tool: unlike that of a tool, it has its own HTTP status. */
export function refusalOf(id: RpcId | null, error: CallError): Reply {
  return { kind: "fault", id, fault: { ...failed(error), httpStatus: httpStatusOf(error) } };
}

const always = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** Writes an answer. All headers go in one step, which takes less than one by one. */
export function writeReply(res: ServerResponse, reply: Reply, common: AnswerHeaders): void {
  if (reply.kind === "nothing") {
    res.writeHead(204, { ...reply.headers, ...always, ...common });
    res.end();
    return;
  }
  const isFault = reply.kind === "fault";
  const body = isFault ? faultBody(reply.id, reply.fault) : resultBody(reply.id, reply.result);
  res.writeHead(isFault ? reply.fault.httpStatus : 200, {
    ...reply.headers,
    ...(isFault ? reply.fault.headers : undefined),
    ...always,
    ...common,
    "content-type": "application/json",
    "content-length": typeof body === "string" ? Buffer.byteLength(body) : body.length,
  });
  res.end(body);
}
