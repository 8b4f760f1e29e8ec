import { fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { codeNumbers } from "../../src/lib/errors.ts";
import type { Api } from "../support/start-api.ts";
import type { Operation } from "./operations.ts";

/** The answers of both protocols, in the terms that they share. */
export interface Answer {
  /** `OK`, or the reason of the error. */
  readonly reason: string;
  /** The HTTP status; over gRPC, the name of the code. */
  readonly status: number | string;
  /** The fields that were refused, each once, in order of their names. */
  readonly fields: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Sends requests, given as JSON, with one token or without any. */
export interface Sender {
  /** Undefined when the request has no REST form, for example without a field of the path. */
  rest(operation: Operation, request: JsonObject): Promise<Answer> | undefined;
  grpc(operation: Operation, request: JsonObject): Promise<Answer>;
}

export function createSender(api: Api, token: string | undefined): Sender {
  const rest = api.rest(token);
  const transport = api.transport(token, "grpc");
  return {
    rest: (operation, request) => {
      const form = restForm(operation, request);
      return form && rest(form.httpMethod, form.path, form.body).then(restAnswer);
    },
    grpc: async ({ method }, request) => {
      try {
        const message = fromJson(method.input, request);
        await transport.unary(method, undefined, undefined, undefined, message);
        return { reason: "OK", status: "OK", fields: [], metadata: {} };
      } catch (error) {
        if (error instanceof ConnectError) return grpcAnswer(error);
        throw error;
      }
    },
  };
}

function grpcAnswer(error: ConnectError): Answer {
  const [info] = error.findDetails(ErrorInfoSchema);
  const fields = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const status = Object.entries(codeNumbers).find(([, number]) => number === error.code)?.[0] ?? "";
  return { reason: info?.reason ?? "", status, fields: namesOf(fields), metadata: info?.metadata ?? {} };
}

interface Detail {
  readonly fieldViolations?: readonly { readonly field: string }[];
  readonly metadata?: Readonly<Record<string, string>>;
}

function restAnswer({ status, json }: Awaited<ReturnType<ReturnType<Api["rest"]>>>): Answer {
  if (status < 300) return { reason: "OK", status, fields: [], metadata: {} };
  const details: Detail[] = json.error.details;
  const fields = details.flatMap(({ fieldViolations = [] }) => fieldViolations);
  const metadata = details.find((each) => each.metadata !== undefined)?.metadata ?? {};
  return { reason: json.error.codeType, status, fields: namesOf(fields), metadata };
}

function namesOf(fields: readonly { readonly field: string }[]): string[] {
  return [...new Set(fields.map(({ field }) => field))].toSorted();
}

interface RestForm {
  readonly httpMethod: string;
  readonly path: string;
  readonly body?: JsonValue;
}

/** The REST form of a request; undefined when it has none, for example without a field of the path. */
export function restForm({ binding }: Operation, request: JsonObject): RestForm | undefined {
  const { httpMethod, template, variables, body } = binding;
  const rest: Record<string, JsonValue> = { ...request };
  const components = template.segments.map((segment, index) => {
    if (segment.kind === "literal") return segment.text;
    const name = variables.find(({ start }) => start === index)?.fields[0].jsonName ?? "";
    const value = rest[name] ?? "";
    delete rest[name];
    return encodeURIComponent(String(value).toWellFormed());
  });
  // An empty component would make another path.
  if (components.includes("")) return undefined;
  const path = `/${components.join("/")}${template.verb === "" ? "" : `:${template.verb}`}`;
  if (body.kind === "message") return { httpMethod, path, body: rest };
  if (body.kind === "raw") throw new Error(`${template.text}: this test has no form for such a body`);
  const field = body.kind === "field" ? body.field.jsonName : undefined;
  const content = field === undefined ? {} : { body: rest[field] ?? null };
  if (field !== undefined) delete rest[field];
  const query = new URLSearchParams(queryOf(rest)).toString();
  return { httpMethod, path: query === "" ? path : `${path}?${query}`, ...content };
}

function queryOf(json: JsonObject, above = ""): [string, string][] {
  return Object.entries(json).flatMap(([key, value]): [string, string][] => {
    const name = above + key;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? queryOf(value, `${name}.`) : [value].flat().map((each) => [name, String(each)]);
  });
}
