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
import { httpStatusOf } from "../rest/error-body.ts";
import type { AnswerHeaders, Call } from "../rpc/call.ts";
import type { Caller } from "../rpc/handlers.ts";
import { parseJson } from "../wire/parse-json.ts";
import {
  faultBody,
  type RpcFault,
  type RpcId,
  type RpcMessage,
  readRpcMessage,
  resultBody,
  rpcCodes,
  rpcFault,
} from "./json-rpc.ts";
import { createMethods, failed, type ListedSurface, type Method, type Result } from "./methods.ts";
import { allowOrigin, answerPreflight, isTrustedOrigin } from "./origins.ts";
import { type Revision, revisionOf, type ServerInfo, stateless } from "./revisions.ts";
import type { Use } from "./tool.ts";
import type { Asking } from "./use.ts";

/** A caller whose access token was accepted. */
export interface Admitted {
  readonly caller: Caller;
  /** Takes a request of so many bytes that calls no operation out of the caller's rate; throws the refusal. */
  charge(bytes: number): AnswerHeaders;
}

export interface McpOptions {
  readonly server: ServerInfo;
  /** Lets the holder of an access token in; throws the CallError that refuses everybody else. */
  readonly admit: (call: Pick<Call, "authorization" | "clientAddress">) => Promise<Admitted>;
  readonly useOf: (asking: Asking) => Use;
  /** The surface that `?tools=` names; undefined when there is none of this name. */
  readonly surfaceOf: (name: string | undefined) => Promise<ListedSurface> | undefined;
  readonly bodies: BodyBudget;
  readonly clientAddress: (req: IncomingMessage) => string;
  readonly newRequestId: () => string;
  /** Told of each bug of ours; the client gets an internal error under this request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** Serves the protocol at one address, over HTTP/1.1 and HTTP/2. Never rejects. */
export type McpHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** What is answered: nothing to a notification, a result, or a fault. */
type Reply =
  | { readonly kind: "nothing"; readonly headers: AnswerHeaders }
  | { readonly kind: "result"; readonly id: RpcId; readonly result: Result; readonly headers: AnswerHeaders }
  | {
      readonly kind: "fault";
      readonly id: RpcId | null;
      readonly fault: RpcFault;
      readonly headers?: AnswerHeaders;
    };

/** Handles requests over Streamable HTTP. Every answer is one JSON body, and nothing is kept between requests. */
export function mcpHandler(options: McpOptions): McpHandler {
  const methodOf = createMethods(options.server);

  return async (req, res) => {
    const requestId = requestIdOf(header(req, "x-request-id"), options.newRequestId);
    res.setHeader("x-request-id", requestId);
    try {
      if (!isTrustedOrigin(header(req, "origin"))) return await refuse(req, res, originRefusal());
      allowOrigin(res);
      if (req.method === "OPTIONS") return answerPreflight(res);
      if (req.method !== "POST") return await refuse(req, res, onlyPost());
      write(res, await replyTo(options, methodOf, { req, res, requestId }));
    } catch (error) {
      if (!(error instanceof CallError)) options.onFault(error, requestId);
      await refuse(
        req,
        res,
        error instanceof CallError ? error : fail("INTERNAL", "INTERNAL", "internal error"),
      );
    }
  };
}

interface Request {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
}

async function replyTo(
  options: McpOptions,
  methodOf: ReturnType<typeof createMethods>,
  { req, res, requestId }: Request,
): Promise<Reply> {
  const clientAddress = options.clientAddress(req);
  const authorization = header(req, "authorization");
  const admitted = await options.admit({ authorization, clientAddress });
  checkMediaType(req, false);
  const hold = options.bodies.open(clientAddress);
  try {
    const body = await bodyOf(req, res, hold);
    const message = messageIn(body);
    // A call of an operation is charged by the pipeline, with the limits of the operation.
    const isCall = message.kind === "request" && message.method === "tools/call";
    const charged = isCall ? {} : admitted.charge(body.length);
    if (message.kind === "fault") return { ...message, headers: charged };
    if (message.kind === "notification") return { kind: "nothing", headers: charged };
    const { id, method, params } = message;
    const revision = revisionOf(method, params, {
      version: header(req, "mcp-protocol-version")?.trim(),
      method: header(req, "mcp-method")?.trim(),
      name: header(req, "mcp-name")?.trim(),
    });
    const run = typeof revision === "string" ? methodOf(revision, method) : undefined;
    const surface = options.surfaceOf(surfaceName(req.url));
    if (typeof revision !== "string" || run === undefined || surface === undefined) {
      const headers = isCall ? admitted.charge(body.length) : charged;
      return { kind: "fault", id, fault: faultOf(revision, run), headers };
    }
    let headers: AnswerHeaders | undefined;
    const use = () =>
      options.useOf({
        caller: admitted.caller,
        call: callOf(res, { requestId, authorization, clientAddress }),
        onHeaders: (told) => {
          headers = told;
        },
      });
    const { caller } = admitted;
    const result = await run({ revision, params, bytes: body.length, caller, surface: await surface, use });
    // A call that reached no operation was charged by nobody yet.
    const told = headers ?? (isCall ? admitted.charge(body.length) : charged);
    if ("code" in result) return { kind: "fault", id, fault: result, headers: told };
    return { kind: "result", id, result, headers: told };
  } finally {
    hold.release();
  }
}

function callOf(
  res: ServerResponse,
  { requestId, authorization, clientAddress }: Pick<Call, "requestId" | "authorization" | "clientAddress">,
): Asking["call"] {
  const aborter = new AbortController();
  res.on("close", () => {
    if (!res.writableEnded) aborter.abort();
  });
  return {
    protocol: "mcp",
    resource: "MCP",
    requestId,
    authorization,
    testClock: undefined,
    clientAddress,
    signal: aborter.signal,
    timeoutMs: undefined,
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

function surfaceName(url = ""): string | undefined {
  const mark = url.indexOf("?");
  return (mark === -1 ? null : new URLSearchParams(url.slice(mark + 1)).get("tools")) ?? undefined;
}

/** Why a request goes to no method: its revision, its method, or the choice of tools in its address. */
function faultOf(revision: Revision | RpcFault, run: Method | undefined): RpcFault {
  if (typeof revision !== "string") return revision;
  if (run !== undefined)
    return rpcFault(rpcCodes.invalidRequest, "?tools= names no choice of tools; leave it out for all");
  // The stateless revision says so in the status, too.
  const httpStatus = revision === stateless ? 404 : 200;
  return rpcFault(rpcCodes.methodNotFound, "there is no such method", { httpStatus });
}

function originRefusal(): CallError {
  const message = "pages over http may not call this; use https";
  return fail("PERMISSION_DENIED", "PERMISSION_DENIED", message);
}

function onlyPost(): CallError {
  return fail(
    "UNIMPLEMENTED",
    "METHOD_NOT_ALLOWED",
    "send requests with POST; there are no sessions and no streams",
    {
      httpStatus: 405,
      headers: { allow: "POST, OPTIONS" },
    },
  );
}

/** Answers a request that was refused before it was read as a message. */
async function refuse(req: IncomingMessage, res: ServerResponse, error: CallError): Promise<void> {
  await lingerBeforeClose(req, dropMax);
  const fault = { ...failed(error), httpStatus: httpStatusOf(error) };
  write(res, { kind: "fault", id: null, fault });
  discardBody(req, dropMax);
}

function write(res: ServerResponse, reply: Reply): void {
  const common = { ...reply.headers, "cache-control": "no-store", "x-content-type-options": "nosniff" };
  if (reply.kind === "nothing") {
    res.writeHead(204, common);
    res.end();
    return;
  }
  const isFault = reply.kind === "fault";
  const body = isFault ? Buffer.from(faultBody(reply.id, reply.fault)) : resultBody(reply.id, reply.result);
  res.writeHead(isFault ? reply.fault.httpStatus : 200, {
    ...common,
    ...(isFault ? reply.fault.headers : {}),
    "content-type": "application/json",
    "content-length": body.length,
  });
  res.end(body);
}
