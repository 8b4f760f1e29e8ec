import { isJsonObject } from "../wire/read-message.ts";
import type { Json } from "./tool.ts";

/** The codes of errors: those of JSON-RPC 2.0, and those that the protocol adds. */
export const rpcCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** A tool, a prompt or a resource failed, or the caller is refused. */
  failed: -32_000,
  /** A resource of revision 2025-11-25 does not exist. */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** The id of a request, which its answer repeats. */
export type RpcId = string | number;

/** Why a message is refused. */
export interface RpcFault {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly httpStatus: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One message of a client. */
export type RpcMessage =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: Json }
  | { readonly kind: "notification"; readonly method: string; readonly params: Json }
  | { readonly kind: "fault"; readonly id: RpcId | null; readonly fault: RpcFault };

/** An id comes back in the answer, so its size is limited; the method is looked up and told of in errors. */
const idLengthMax = 256;
const methodLengthMax = 128;

/** Makes a fault; it has HTTP status 400 unless another is given. */
export function rpcFault(
  code: number,
  message: string,
  { httpStatus = 400, ...further }: Partial<Omit<RpcFault, "code" | "message">> = {},
): RpcFault {
  return { code, message, httpStatus, ...further };
}

/** Reads a parsed body as one message. */
export function readRpcMessage(body: unknown): RpcMessage {
  if (Array.isArray(body))
    return refused(null, "send one message at a time; batches are not part of this protocol");
  if (!isJsonObject(body)) return refused(null, "the body must be a JSON-RPC message");
  const { jsonrpc, id, method, params = {} } = body;
  const known = isRpcId(id) ? id : null;
  if (jsonrpc !== "2.0") return refused(known, 'jsonrpc must be "2.0"');
  if (typeof method !== "string") {
    const isAnswer = "result" in body || "error" in body;
    return refused(known, isAnswer ? "nothing was asked of the client" : "method must be a text");
  }
  if (method.length > methodLengthMax) return refused(known, "there is no such method");
  if (id !== undefined && known === null)
    return refused(null, `id must be a whole number or a text of at most ${idLengthMax} characters`);
  if (!isJsonObject(params))
    return { kind: "fault", id: known, fault: rpcFault(rpcCodes.invalidParams, "params must be an object") };
  if (known === null) return { kind: "notification", method, params };
  return { kind: "request", id: known, method, params };
}

function refused(id: RpcId | null, message: string): RpcMessage {
  return { kind: "fault", id, fault: rpcFault(rpcCodes.invalidRequest, message) };
}

function isRpcId(id: unknown): id is RpcId {
  return typeof id === "string" ? id.length <= idLengthMax : Number.isSafeInteger(id);
}

/** Writes the answer to a refused message. */
export function faultBody(id: RpcId | null, { code, message, data }: RpcFault): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  });
}

/**
 * Writes the answer to a request from the text of its result, in pieces that may be bytes. Text stays text, which the socket takes
 * in one piece with the headers.
 */
export function resultBody(id: RpcId, result: readonly (string | Uint8Array)[]): string | Buffer {
  const pieces = [`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`, ...result, "}"];
  if (pieces.every((piece) => typeof piece === "string")) return pieces.join("");
  return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}
