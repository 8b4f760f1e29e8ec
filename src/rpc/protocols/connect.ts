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
  /** Adds the services that the pipeline does not serve: health and reflection. */
  readonly otherRoutes?: (router: ConnectRouter) => void;
  /** Ends endless streams at shutdown. */
  readonly shutdownSignal?: AbortSignal;
}

/** The limit of each message to health and reflection after decompression, in bytes: such messages only hold a name. */
const otherBytesMax = 16 * 1024;

/** How many bytes of a refused body are dropped before the connection is cut, so that the answer arrives first. */
const unreadMax = 8 * 1024 * 1024;

/**
 * Answers every RPC that `grpcStreams` declines: `webCalls` takes the calls of Connect and gRPC-Web, and the library's
 * adapter takes health and reflection. The library parses a message without looking at the bounds of its fields, so it
 * gets nothing else.
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
    // The library stops reading a body that is too large; destroying the request then would lose the connection for
    // ever.
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
 * Yields the answer and, before the answer ends, starts dropping the rest of the request. An HTTP/2 stream that ends
 * with an unread body keeps its connection counted as open, even after the client has gone.
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
  // Otherwise the library's reader would hold the bytes that still come.
  req.removeAllListeners("readable");
  req.resume();
}

const dayMs = 86_400_000;

/** Limits timeouts to one day: the library's timers overflow after 24 days and would then end the call at once. */
function clampTimeouts(headers: IncomingHttpHeaders): void {
  const grpc = single(headers["grpc-timeout"]) ?? "";
  if (/^\d{1,8}[HMS]$/.test(grpc) && (parseTimeout(grpc) ?? 0) > dayMs) headers["grpc-timeout"] = "86400S";
  const connect = single(headers["connect-timeout-ms"]) ?? "";
  if (/^\d{1,10}$/.test(connect) && Number(connect) > dayMs) headers["connect-timeout-ms"] = String(dayMs);
}
