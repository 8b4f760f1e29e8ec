import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import {
  type Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { type CallError, codeNumbers, fail } from "../lib/errors.ts";
import { requestIdOf } from "../lib/request-id.ts";
import type { AnswerHeaders } from "./call.ts";
import { recordWriters } from "./records.ts";
import { detailMessages } from "./status.ts";
import { isUnary, pathOf } from "./unary.ts";
import { type WebOptions, webCalls } from "./web.ts";

export interface ConnectOptions extends WebOptions {
  /** Adds what is no business of the pipeline: health and reflection. */
  readonly otherRoutes?: (router: ConnectRouter) => void;
  /** Ends streams that would go on for ever, at shutdown. */
  readonly shutdownSignal?: AbortSignal;
}

interface Arrival {
  readonly requestId: string;
  readonly clientAddress: string;
}

const arrivalKey = createContextKey<Arrival | undefined>(undefined);

/**
 * Answers every RPC that `grpcStreams` declines: unary Connect and gRPC-Web by `webCalls`, and what is left, such as gRPC
 * with JSON and all streams, by the general adapter. That one parses a message before the pipeline sees the call.
 */
export function connectHandler(options: ConnectOptions): (req: IncomingMessage, res: ServerResponse) => void {
  const { shutdownSignal } = options;
  const router = createConnectRouter({
    acceptCompression: [compressionGzip],
    jsonOptions: { ignoreUnknownFields: true },
    ...(shutdownSignal === undefined ? {} : { shutdownSignal }),
  });
  for (const method of options.services.flatMap((service) => service.methods)) {
    if (!isUnary(method)) continue;
    router.rpc(method, (request: Message, context) => call(method, request, context, options), {
      readMaxBytes: options.bytesMaxOf(method),
    });
  }
  options.otherRoutes?.(router);
  const unary = webCalls(options);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));

  return (req, res) => {
    const requestId = requestIdOf(req.headers["x-request-id"], options.newRequestId);
    res.setHeader("x-request-id", requestId);
    if (unary(req, res, requestId)) return;
    const [path = ""] = req.url?.split("?", 1) ?? [];
    const handler = handlers.get(path);
    if (handler === undefined) {
      // Clients of all three protocols take this for UNIMPLEMENTED.
      res.writeHead(404).end();
      return;
    }
    const arrival = { requestId, clientAddress: options.clientAddress(req) };
    const values = createContextValues().set(arrivalKey, arrival);
    handler(universalRequestFromNodeRequest(req, res, undefined, values))
      .then((answer) => universalResponseToNodeResponse(answer, res))
      .catch((error: unknown) => {
        if (!req.destroyed && !res.destroyed) options.onFault(error, requestId);
        res.destroy();
      });
  };
}

async function call(
  method: DescMethodUnary,
  request: Message,
  context: HandlerContext,
  { invoke, newRequestId, onFault }: ConnectOptions,
): Promise<Message> {
  const arrival = context.values.get(arrivalKey) ?? { requestId: newRequestId(), clientAddress: "0.0.0.0" };
  const { requestHeader } = context;
  const outcome = await invoke(method, () => request, {
    protocol: context.protocolName === "grpc" ? "grpc" : "connect",
    requestId: arrival.requestId,
    authorization: requestHeader.get("authorization") ?? undefined,
    idempotencyKey: requestHeader.get("idempotency-key") ?? undefined,
    target: `POST ${pathOf(method)}`,
    clientAddress: arrival.clientAddress,
    signal: context.signal,
    timeoutMs: context.timeoutMs(),
    // The general adapter writes an answer by itself, so that only the size is of use.
    writeRecord: recordWriters.json,
  }).catch((error: unknown) => {
    onFault(error, arrival.requestId);
    return { ok: false, error: fail("INTERNAL", "INTERNAL", "internal error"), headers: {} } as const;
  });
  if (!outcome.ok) throw toConnectError(outcome.error, outcome.headers);
  for (const [name, value] of Object.entries(outcome.headers)) context.responseHeader.set(name, value);
  return outcome.message;
}

function toConnectError(error: CallError, headers: AnswerHeaders): ConnectError {
  const { retryAfterSeconds } = error.refusal;
  const metadata = new Headers({
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    ...headers,
    ...error.refusal.headers,
  });
  // Connect's numbers are those of gRPC.
  const code = codeNumbers[error.code] as Code;
  return new ConnectError(error.message, code, metadata, detailMessages(error));
}
