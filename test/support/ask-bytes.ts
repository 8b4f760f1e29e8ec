import http2 from "node:http2";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { bindingsOf } from "../../src/rest/binding.ts";
import { pathOf } from "../../src/rpc/protocols/unary.ts";
import { callGrpc, readConnectError } from "../bad-input/send-grpc.ts";

/** The protocols for a message in JSON, and those for a message in protobuf's bytes. */
export const waysOf = {
  json: ["REST", "Connect with JSON", "gRPC with JSON"],
  proto: ["Connect with protobuf", "gRPC"],
} as const;

export type Way = (typeof waysOf)["json" | "proto"][number];

export interface Refusal {
  /** The name of the gRPC code; `OK` when there was no refusal. */
  readonly code: string;
  readonly reason: string | undefined;
  /** The paths of the refused fields. */
  readonly fields: readonly string[];
}

/** Sends arbitrary bytes as the message of a call. */
export async function askBytes(
  port: number,
  way: Way,
  method: DescMethodUnary,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Refusal> {
  switch (way) {
    case "REST":
      return askRest(port, method, body, headers);
    case "Connect with JSON":
      return askConnect(port, method, body, { ...headers, "content-type": "application/json" });
    case "Connect with protobuf":
      return askConnect(port, method, body, { ...headers, "content-type": "application/proto" });
    case "gRPC with JSON":
      return askGrpc(port, method, body, { ...headers, "content-type": "application/grpc+json" });
    case "gRPC":
      return askGrpc(port, method, body, { ...headers, "content-type": "application/grpc" });
  }
}

async function askRest(
  port: number,
  method: DescMethodUnary,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<Refusal> {
  const [binding] = bindingsOf(method);
  if (binding === undefined) throw new Error(`${method.name} has no REST form`);
  const response = await fetch(`http://127.0.0.1:${port}${binding.template.text}`, {
    method: binding.httpMethod,
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  const json: RestError = JSON.parse(await response.text());
  if (json.error === undefined) return { code: "OK", reason: undefined, fields: [] };
  const violations = json.error.details.flatMap(({ fieldViolations = [] }) => fieldViolations);
  const fields = violations.map(({ field }) => field);
  const { code, codeType } = json.error;
  const isTooLarge = code === 413;
  return {
    code: isTooLarge ? "RESOURCE_EXHAUSTED" : code === 400 ? "INVALID_ARGUMENT" : String(code),
    reason: codeType,
    fields,
  };
}

interface RestError {
  readonly error?: {
    readonly code: number;
    readonly codeType: string;
    readonly details: readonly { readonly fieldViolations?: readonly { readonly field: string }[] }[];
  };
}

async function askConnect(
  port: number,
  method: DescMethodUnary,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<Refusal> {
  const url = `http://127.0.0.1:${port}${pathOf(method)}`;
  const response = await fetch(url, { method: "POST", headers, body });
  const answer = Buffer.from(await response.arrayBuffer());
  if (response.status === 200) return { code: "OK", reason: undefined, fields: [] };
  const { code, reason, fields } = readConnectError(answer);
  return { code: code.toUpperCase(), reason, fields };
}

async function askGrpc(
  port: number,
  method: DescMethodUnary,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<Refusal> {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  const session = http2.connect(`http://127.0.0.1:${port}`);
  try {
    const sent = Object.entries({ te: "trailers", ...headers });
    const answer = await callGrpc(session, pathOf(method), sent, Buffer.concat([head, body]));
    return { code: answer.code ?? "", reason: answer.reason, fields: answer.fields };
  } finally {
    session.destroy();
  }
}
