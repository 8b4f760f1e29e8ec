import {
  type DescMethod,
  type DescMethodUnary,
  getOption,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.js";
import { ApiScopesService } from "../../gen/signpost/v1/api_scopes_service_pb.js";
import { EventsService } from "../../gen/signpost/v1/events_service_pb.js";
import { LinksService } from "../../gen/signpost/v1/links_service_pb.js";
import { WorkspaceTokensService } from "../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { bearer, type HttpRequest, json } from "./row.ts";

const services = [ApiScopesService, EventsService, LinksService, WorkspaceTokensService];

/** Finds a method by a name such as `LinksService/Create`. */
export function methodOf(rpc: string): DescMethodUnary {
  const [serviceName, name] = rpc.split("/");
  const service = services.find((each) => each.name === serviceName);
  const method = service?.methods.find((each) => each.name === name);
  if (method === undefined || !isUnary(method)) throw new Error(`there is no unary ${rpc}`);
  return method;
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/**
 * The REST request of a call, built from the method's `google.api.http`: fields of the path, then the body or the
 * query. The update mask is left out, because REST derives it from the keys of the body.
 */
export function restRequest(rpc: string, request: JsonObject): HttpRequest {
  const { pattern, body } = getOption(methodOf(rpc), http);
  if (pattern.case === undefined || pattern.case === "custom") throw new Error(`${rpc} has no REST route`);
  const rest = new Map(Object.entries(request).filter(([name]) => name !== "updateMask"));
  const path = pattern.value.replace(/\{(\w+)\}/g, (_, field: string) => {
    const name = field.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
    const value = String(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const method = pattern.case.toUpperCase();
  if (body === "*")
    return {
      method,
      target: path,
      headers: [...bearer, ...json],
      body: JSON.stringify(Object.fromEntries(rest)),
    };
  return { method, target: `${path}?${queryOf(rest)}`, headers: bearer, body: "" };
}

function queryOf(parameters: ReadonlyMap<string, JsonValue>): string {
  return [...parameters]
    .flatMap(([name, value]) => [value].flat().map((item) => `${name}=${encodeURIComponent(String(item))}`))
    .join("&");
}
