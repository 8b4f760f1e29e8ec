import { createRegistry, type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { methodOf, restRequest } from "../bad-input/rpc-as-rest.ts";
import { readConnectError } from "../bad-input/send-grpc.ts";
import type { Answer, Client } from "./client.ts";

/** JSON over REST, by fetch. */
export function restClient(baseUrl: string): Client {
  return {
    name: "REST",
    close: () => {},
    call: async (rpc, request, token) => {
      const { method, target, body } = restRequest(rpc, request);
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const response = await fetch(`${baseUrl}${target}`, {
        method,
        headers,
        ...(body === "" ? {} : { body: String(body) }),
      });
      const answer = JSON.parse(await response.text());
      if (response.ok) return { ok: answer };
      const { codeType, message, details } = answer.error;
      const bad = details.find((detail: JsonObject) => detail.fieldViolations !== undefined);
      const fields = (bad?.fieldViolations ?? []).map(({ field }: { field: string }) => field);
      return { error: { code: undefined, status: response.status, reason: codeType, message, fields } };
    },
  };
}

/** JSON over Connect, by fetch. */
export function connectClient(baseUrl: string): Client {
  return {
    name: "Connect",
    close: () => {},
    call: async (rpc, request, token) => {
      const response = await fetch(`${baseUrl}/signpost.v1.${rpc}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(request),
      });
      const body = Buffer.from(await response.arrayBuffer());
      const answer = JSON.parse(body.toString());
      if (response.ok) return { ok: answer };
      const { code, reason, fields } = readConnectError(body);
      return {
        error: { code: code.toUpperCase(), status: undefined, reason, message: answer.message, fields },
      };
    },
  };
}

/** gRPC-Web with the transport of browser clients, over HTTP/1.1. */
export function grpcWebClient(baseUrl: string): Client {
  const transport = createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });
  return {
    name: "gRPC-Web",
    close: () => {},
    call: async (rpc, request, token): Promise<Answer> => {
      try {
        return { ok: await unary(methodOf(rpc), request, token) };
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        const { code, rawMessage } = error;
        const [info] = error.findDetails(ErrorInfoSchema);
        const [bad] = error.findDetails(BadRequestSchema);
        return {
          error: {
            code: Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase(),
            status: undefined,
            reason: info?.reason,
            message: rawMessage,
            fields: (bad?.fieldViolations ?? []).map(({ field }) => field),
          },
        };
      }
    },
  };

  async function unary(method: DescMethodUnary, request: JsonObject, token: string): Promise<JsonObject> {
    const message = fromJson(method.input, request);
    const headers = { authorization: `Bearer ${token}` };
    const answer = await transport.unary(method, undefined, undefined, headers, message);
    const json = toJson(method.output, answer.message, { registry: createRegistry() });
    if (typeof json !== "object" || json === null || Array.isArray(json))
      throw new Error("no object came back");
    return json;
  }
}
