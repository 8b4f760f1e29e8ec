import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { type ConnectRouter, createConnectRouter, createContextValues } from "@connectrpc/connect";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { expectsContinue } from "../../lib/limits/request-body.ts";
import { requestIdOf } from "../../lib/request-id.ts";
import { parseTimeout } from "./grpc-frame.ts";
import { clientAddressKey } from "./strangers.ts";
import { isUnary, pathOf, single } from "./unary.ts";
import { type WebOptions, webCalls } from "./web.ts";

export interface ConnectOptions extends WebOptions {
  /** Adds what is no business of the pipeline: health and reflection. */
  readonly otherRoutes?: (router: ConnectRouter) => void;
  /** Ends streams that would go on for ever, at shutdown. */
  readonly shutdownSignal?: AbortSignal;
}

/** The limit of each message to health and reflection, unpacked: all that they are asked is a name. */
const otherBytesMax = 16 * 1024;

/** How much of a refused body is dropped before the connection is cut: enough for the answer to arrive before. */
const unreadMax = 8 * 1024 * 1024;

/**
 * Answers every RPC that `grpcStreams` declines: the calls of Connect and gRPC-Web by `webCalls`, health and reflection by
 * the general adapter. That one parses a message without looking at the bounds of its fields, so that it gets no other.
 */
export function connectHandler(options: ConnectOptions): (req: IncomingMessage, res: ServerResponse) => void {
  const { shutdownSignal } = options;
  const router = createConnectRouter({
    acceptCompression: [compressionGzip],
    readMaxBytes: otherBytesMax,
    jsonOptions: { ignoreUnknownFields: true },
    ...(shutdownSignal === undefined ? {} : { shutdownSignal }),
  });
  options.otherRoutes?.(router);
  const unary = webCalls(options);
  const methods = options.services.flatMap((service) => service.methods).filter(isUnary);
  const paths = new Set(methods.map(pathOf));
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));

  return (req, res) => {
    const requestId = requestIdOf(req.headers["x-request-id"], options.newRequestId);
    res.setHeader("x-request-id", requestId);
    if (unary(req, res, requestId)) return;
    const [path = ""] = req.url?.split("?", 1) ?? [];
    const handler = handlers.get(path);
    if (handler === undefined) {
      // Clients of all three protocols take 404 for UNIMPLEMENTED.
      res.writeHead(paths.has(path) ? 415 : 404).end();
      return;
    }
    if (expectsContinue(req)) res.writeContinue();
    clampTimeouts(req.headers);
    const values = createContextValues().set(clientAddressKey, options.clientAddress(req));
    // The library stops to read a body that is too large; to destroy it then would lose the connection for ever.
    const body = req.iterator({ destroyOnReturn: false });
    handler({ ...universalRequestFromNodeRequest(req, res, undefined, values), body })
      .then((answer) => universalResponseToNodeResponse({ ...answer, body: lastly(answer.body, req) }, res))
      .catch((error: unknown) => {
        if (!req.destroyed && !res.destroyed) options.onFault(error, requestId);
        res.destroy();
      });
  };
}

/**
 * What is answered; before its end, the rest of the request begins to be dropped. A stream of HTTP/2 that ends with a body
 * unread keeps its connection counted among the open ones, even once the client is gone.
 */
async function* lastly(
  answer: AsyncIterable<Uint8Array> | null | undefined,
  req: IncomingMessage | Http2ServerRequest,
): AsyncGenerator<Uint8Array> {
  if (answer) yield* answer;
  let length = 0;
  req.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= unreadMax) return;
    if ("stream" in req) req.stream.session?.destroy();
    else req.destroy();
  });
  // Its reader would otherwise hold on to what comes.
  req.removeAllListeners("readable");
  req.resume();
}

const dayMs = 86_400_000;

/** The library's timers overflow after 24 days and end the call at once; nobody waits longer than a day. */
function clampTimeouts(headers: IncomingHttpHeaders): void {
  const grpc = single(headers["grpc-timeout"]) ?? "";
  if (/^\d{1,8}[HMS]$/.test(grpc) && (parseTimeout(grpc) ?? 0) > dayMs) headers["grpc-timeout"] = "86400S";
  const connect = single(headers["connect-timeout-ms"]) ?? "";
  if (/^\d{1,10}$/.test(connect) && Number(connect) > dayMs) headers["connect-timeout-ms"] = String(dayMs);
}
