import { type DescMethodUnary, fromJson, getOption, type JsonObject, toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { http } from "../../gen/google/api/annotations_pb.js";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { codeNumbers } from "../../src/lib/errors.ts";
import type { Api, RpcProtocol } from "./start-api.ts";

export const protocols = ["rest", "grpc", "grpc-web", "connect"] as const;

/** An answer of any protocol, in the terms that all share. */
export interface Answer {
  /** `OK`, or the reason of the error. */
  readonly reason: string;
  readonly message: string;
  /** The response message as JSON, absent in errors. */
  readonly body?: unknown;
}

/** Sends the same request, given as JSON, over any protocol. */
export function ask(
  api: Api,
  protocol: (typeof protocols)[number],
  method: DescMethodUnary,
  request: JsonObject,
  token: string,
): Promise<Answer> {
  return protocol === "rest"
    ? askRest(api, method, request, token)
    : askRpc(api, protocol, method, request, token);
}

async function askRpc(
  api: Api,
  protocol: RpcProtocol,
  method: DescMethodUnary,
  request: JsonObject,
  token: string,
): Promise<Answer> {
  try {
    const message = fromJson(method.input, request);
    const transport = api.transport(token, protocol);
    const response = await transport.unary(method, undefined, undefined, undefined, message);
    return {
      reason: "OK",
      message: "",
      body: toJson(method.output, response.message, { alwaysEmitImplicit: true }),
    };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const [info] = error.findDetails(ErrorInfoSchema);
    return { reason: info?.reason ?? nameOf(error.code), message: error.rawMessage };
  }
}

function nameOf(code: number): string {
  return Object.entries(codeNumbers).find(([, number]) => number === code)?.[0] ?? String(code);
}

async function askRest(
  api: Api,
  method: DescMethodUnary,
  request: JsonObject,
  token: string,
): Promise<Answer> {
  const { pattern, body } = getOption(method, http);
  if (pattern.case === undefined || pattern.case === "custom")
    throw new Error(`${method.name} has no REST binding`);
  const rest = { ...request };
  const path = pattern.value.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const field = method.input.fields.find((each) => each.name === name)?.jsonName ?? name;
    const value = String(rest[field]);
    delete rest[field];
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams(
    Object.entries(rest).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
    ),
  );
  const call = api.rest(token);
  const reply =
    body === "*"
      ? await call(pattern.case.toUpperCase(), path, rest)
      : await call(pattern.case.toUpperCase(), `${path}?${query}`);
  if (reply.status < 300) return { reason: "OK", message: "", body: reply.json };
  return { reason: reply.json.error.codeType, message: reply.json.error.message };
}
