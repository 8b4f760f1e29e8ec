import type { Binding } from "../../rest/binding.ts";
import { UsageError } from "../outcome.ts";
import { isJsonObject, type JsonObject } from "./flag-values.ts";

/** A call over REST. */
export interface RestCall {
  readonly httpMethod: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** JSON text; undefined when the call has no body. */
  readonly body: string | undefined;
  /** The media type that is wanted; JSON when absent. */
  readonly accept?: string;
}

/**
 * Distributes a request over path, query and body as the RPC's binding says. Throws a UsageError when a path field is
 * missing.
 */
export function restCall(
  { method, httpMethod, template, variables, body }: Binding,
  request: JsonObject,
): RestCall {
  const fields = withJsonNames(method.input.fields, request);
  const parts = template.segments.map((segment) =>
    segment.kind === "literal" ? encodeURIComponent(segment.text) : "",
  );
  for (const {
    fields: [field],
    start,
    end = parts.length,
  } of variables) {
    // A variable over several components is written into the first one.
    parts.fill("", start, end)[start] = pathPart(field.jsonName, fields[field.jsonName], end === start + 1);
    delete fields[field.jsonName];
  }
  const verb = template.verb === "" ? "" : `:${template.verb}`;
  const path = `/${parts.filter((part) => part !== "").join("/")}${verb}`;
  switch (body.kind) {
    case "message":
      return { httpMethod, target: path, body: JSON.stringify(fields) };
    case "field": {
      const value = fields[body.field.jsonName];
      delete fields[body.field.jsonName];
      return { httpMethod, target: `${path}${queryOf(fields)}`, body: JSON.stringify(value ?? null) };
    }
    case "none":
      return { httpMethod, target: `${path}${queryOf(fields)}`, body: undefined };
    case "raw":
      throw new UsageError("this operation takes raw bytes, which the command line cannot send");
  }
}

/**
 * Renames fields of a request file from proto names to JSON names: the service takes both in a body, but path and query
 * need one.
 */
function withJsonNames(known: Binding["method"]["input"]["fields"], request: JsonObject): JsonObject {
  const entries = Object.entries(request).map(([name, value]): [string, unknown] => [
    known.find((field) => field.name === name)?.jsonName ?? name,
    value,
  ]);
  return Object.fromEntries(entries);
}

function pathPart(name: string, value: unknown, isOnePart: boolean): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  const parts = isOnePart ? [text] : text.split("/");
  // Clients normalize addresses: a component of dots alone would name another path.
  if (parts.some((part) => part === "" || part === "." || part === ".."))
    throw new UsageError(`${name}: ${JSON.stringify(text)} cannot be part of a path`);
  return parts.map(encodeURIComponent).join("/");
}

function queryOf(fields: JsonObject): string {
  const query = new URLSearchParams();
  addParameters(query, "", fields);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function addParameters(query: URLSearchParams, prefix: string, fields: JsonObject): void {
  for (const [name, value] of Object.entries(fields)) {
    const path = `${prefix}${name}`;
    if (isJsonObject(value)) addParameters(query, `${path}.`, value);
    else
      for (const item of Array.isArray(value) ? value : [value]) {
        if (item !== null && item !== undefined) query.append(path, String(item));
      }
  }
}
