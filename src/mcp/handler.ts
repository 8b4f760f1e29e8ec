import type { IncomingMessage, ServerResponse } from "node:http";
import { CallError, fail } from "../lib/errors.ts";
import type { BodyBudget } from "../lib/limits/body-budget.ts";
import { bodyBytesMax } from "../lib/limits/body-bytes.ts";
import { inflated, isCompressed, tooLarge } from "../lib/limits/inflated.ts";
import {
  announcedLength,
  discardBody,
  dropMax,
  expectsContinue,
  lingerBeforeClose,
  receiveBody,
} from "../lib/limits/request-body.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { checkMediaType, contentCoding, header } from "../rest/body.ts";
import type { Call } from "../rpc/call.ts";
import { parseJson } from "../wire/parse-json.ts";
import { type Admitted, createDispatch, type DispatchOptions } from "./dispatch.ts";
import { type RpcMessage, readRpcMessage, rpcCodes, rpcFault } from "./json-rpc.ts";
import { answerPreflight, isTrustedOrigin, originHeaders } from "./origins.ts";
import { type Reply, refusalOf, writeReply } from "./reply.ts";

export interface McpOptions extends DispatchOptions {
  /** Lets the holder of an access token in; throws the CallError that refuses everybody else. */
  readonly admit: (call: Pick<Call, "authorization" | "clientAddress">) => Promise<Admitted>;
  readonly bodies: BodyBudget;
  readonly clientAddress: (req: IncomingMessage) => string;
  readonly newRequestId: () => string;
}

/** Serves the protocol at one address, over HTTP/1.1 and HTTP/2. Never rejects. */
export type McpHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Handles requests over Streamable HTTP. Every answer is one JSON body, and nothing is kept between requests. */
export function mcpHandler(options: McpOptions): McpHandler {
  const dispatch = createDispatch(options);

  async function replyTo(req: IncomingMessage, res: ServerResponse, requestId: string): Promise<Reply> {
    const clientAddress = options.clientAddress(req);
    const authorization = header(req, "authorization");
    const admitted = await options.admit({ authorization, clientAddress });
    checkMediaType(req, false);
    const hold = options.bodies.open(clientAddress);
    try {
      const body = await bodyOf(req, res, hold);
      return await dispatch(messageIn(body), admitted, {
        call: { requestId, authorization, clientAddress, signal: signalOf(res) },
        bytes: body.length,
        surface: surfaceName(req.url),
        repeated: {
          version: header(req, "mcp-protocol-version")?.trim(),
          method: header(req, "mcp-method")?.trim(),
          name: header(req, "mcp-name")?.trim(),
        },
      });
    } finally {
      hold.release();
    }
  }

  return async (req, res) => {
    const requestId = requestIdOf(header(req, "x-request-id"), options.newRequestId);
    const origin = header(req, "origin");
    const common = { "x-request-id": requestId, ...originHeaders(origin) };
    try {
      if (!isTrustedOrigin(origin)) throw originRefusal();
      if (req.method === "OPTIONS") return answerPreflight(res);
      if (req.method !== "POST") throw onlyPost();
      writeReply(res, await replyTo(req, res, requestId), common);
    } catch (error) {
      if (!(error instanceof CallError)) options.onFault(error, requestId);
      const refusal = error instanceof CallError ? error : fail("INTERNAL", "INTERNAL", "the service failed");
      // A client that still sends must receive the answer.
      await lingerBeforeClose(req, dropMax);
      writeReply(res, refusalOf(null, refusal), common);
      discardBody(req, dropMax);
    }
  };
}

async function bodyOf(
  req: IncomingMessage,
  res: ServerResponse,
  hold: ReturnType<BodyBudget["open"]>,
): Promise<Uint8Array> {
  if (expectsContinue(req)) res.writeContinue();
  const announced = announcedLength(req);
  const bytes = await receiveBody(req, { bytesMax: bodyBytesMax, announced, hold, tooLarge });
  const coding = contentCoding(req);
  return isCompressed(coding) ? inflated(bytes, coding, { bytesMax: bodyBytesMax, hold }) : bytes;
}

/** Reads a body. What is no JSON is told in the protocol's own form. */
function messageIn(body: Uint8Array): RpcMessage {
  try {
    return readRpcMessage(parseJson(body));
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { kind: "fault", id: null, fault: rpcFault(rpcCodes.parse, error.message) };
  }
}

/** Aborts when the client goes away. */
function signalOf(res: ServerResponse): AbortSignal {
  const aborter = new AbortController();
  res.on("close", () => {
    if (!res.writableEnded) aborter.abort();
  });
  return aborter.signal;
}

/** The choice of tools that the address names. */
function surfaceName(url = ""): string | undefined {
  const mark = url.indexOf("?");
  return (mark === -1 ? undefined : new URLSearchParams(url.slice(mark + 1)).get("tools")) ?? undefined;
}

function originRefusal(): CallError {
  return fail("PERMISSION_DENIED", "PERMISSION_DENIED", "pages over http may not call this; use https");
}

function onlyPost(): CallError {
  const message = "send requests with POST; there are no sessions and no streams";
  const headers = { allow: "POST, OPTIONS" };
  return fail("UNIMPLEMENTED", "METHOD_NOT_ALLOWED", message, { httpStatus: 405, headers });
}
