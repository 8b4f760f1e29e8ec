import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../gen/google/api/http_pb.js";
import { HttpBodySchema } from "../../gen/google/api/httpbody_pb.js";
import { type PathTemplate, parsePathTemplate, type Variable } from "./template.ts";

/** A variable of a path, and the fields that lead from the request message to the field it fills. */
export interface BoundVariable extends Variable {
  readonly fields: readonly [DescField, ...DescField[]];
}

/** What the request body fills: nothing, the whole message, one field, or a field of raw bytes. */
export type BodyTarget =
  | { readonly kind: "none" }
  | { readonly kind: "message" }
  | { readonly kind: "field"; readonly field: DescField }
  | { readonly kind: "raw"; readonly field: DescField | undefined };

/** One HTTP method and path shape that calls one RPC, checked against the descriptors. */
export interface Binding {
  readonly method: DescMethodUnary;
  readonly httpMethod: string;
  readonly template: PathTemplate;
  readonly variables: readonly BoundVariable[];
  readonly body: BodyTarget;
  /** The response field that becomes the answer's body; undefined when the whole message does. */
  readonly responseField: DescField | undefined;
  /** The `update_mask` field on PATCH and PUT, to be filled from the keys of the body. */
  readonly maskField: DescField | undefined;
}

/** Reads the bindings that an RPC declares with google.api.http; none without that option. Throws on a wrong one. */
export function bindingsOf(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) return [];
  if (!isUnary(method))
    throw new Error(`${method.parent.typeName}.${method.name}: a stream has no REST form`);
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((each) => bind(method, each));
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/** Checks one rule against the method's messages. Throws an Error that names the method, the template and the column. */
export function bind(method: DescMethodUnary, rule: HttpRule): Binding {
  const [httpMethod, text] = httpMethodAndPath(rule);
  try {
    return bindChecked(method, rule, httpMethod, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${method.parent.typeName}.${method.name}: ${httpMethod} "${text}": ${why}`, {
      cause: error,
    });
  }
}

function bindChecked(method: DescMethodUnary, rule: HttpRule, httpMethod: string, text: string): Binding {
  if (!/^[A-Z]+$/.test(httpMethod)) throw new Error("the HTTP method must be one word in capitals");
  if (httpMethod === "HEAD") throw new Error("HEAD is answered by the binding of GET");
  const template = parsePathTemplate(text);
  const seen = new Set<string>();
  const variables = template.variables.map((variable): BoundVariable => {
    const name = variable.fieldPath.join(".");
    if (seen.has(name)) throw new Error(`column ${variable.column}: field "${name}" is bound twice`);
    seen.add(name);
    return { ...variable, fields: resolveVariable(method.input, variable) };
  });
  const body = bodyTarget(method, rule.body, httpMethod);
  if (body.kind === "field" || body.kind === "raw") {
    const clash = variables.find(({ fields }) => fields.length === 1 && fields[0] === body.field);
    if (clash !== undefined) throw new Error(`column ${clash.column}: field "${rule.body}" is also the body`);
  }
  return {
    method,
    httpMethod,
    template,
    variables,
    body,
    responseField: responseField(method, rule.responseBody),
    maskField: maskField(method, httpMethod),
  };
}

function httpMethodAndPath(rule: HttpRule): [httpMethod: string, path: string] {
  switch (rule.pattern.case) {
    case "get":
    case "put":
    case "post":
    case "delete":
    case "patch":
      return [rule.pattern.case.toUpperCase(), rule.pattern.value];
    case "custom":
      return [rule.pattern.value.kind, rule.pattern.value.path];
    case undefined:
      return ["", ""];
  }
}

function resolveVariable(input: DescMessage, variable: Variable): [DescField, ...DescField[]] {
  const at = `column ${variable.column}: `;
  const fields: DescField[] = [];
  let message: DescMessage | undefined = input;
  for (const name of variable.fieldPath) {
    const field: DescField | undefined = message?.fields.find((each) => each.name === name);
    if (field === undefined) {
      throw new Error(`${at}${message?.typeName ?? variable.fieldPath.join(".")} has no field "${name}"`);
    }
    fields.push(field);
    message = field.fieldKind === "message" ? field.message : undefined;
  }
  const [first, ...rest] = fields;
  if (first === undefined) throw new Error(`${at}a variable needs a field`);
  const last = fields.at(-1);
  if (last?.fieldKind !== "scalar" && last?.fieldKind !== "enum") {
    throw new Error(
      `${at}field "${variable.fieldPath.join(".")}" is a ${last?.fieldKind}, not a single value`,
    );
  }
  return [first, ...rest];
}

function bodyTarget(method: DescMethodUnary, body: string, httpMethod: string): BodyTarget {
  if (body === "") return { kind: "none" };
  if (httpMethod === "GET" || httpMethod === "DELETE") throw new Error(`${httpMethod} has no body`);
  if (body === "*") {
    return isHttpBody(method.input) ? { kind: "raw", field: undefined } : { kind: "message" };
  }
  const field = method.input.fields.find((each) => each.name === body);
  if (field === undefined) throw new Error(`body: ${method.input.typeName} has no field "${body}"`);
  if (field.fieldKind === "message" && isHttpBody(field.message)) return { kind: "raw", field };
  return { kind: "field", field };
}

function responseField(method: DescMethodUnary, name: string): DescField | undefined {
  if (name === "") return undefined;
  const field = method.output.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`response_body: ${method.output.typeName} has no field "${name}"`);
  return field;
}

function maskField(method: DescMethodUnary, httpMethod: string): DescField | undefined {
  if (httpMethod !== "PATCH" && httpMethod !== "PUT") return undefined;
  const field = method.input.fields.find((each) => each.name === "update_mask");
  const isMask = field?.fieldKind === "message" && field.message.typeName === FieldMaskSchema.typeName;
  return isMask && field.oneof === undefined ? field : undefined;
}

/** Whether a message is google.api.HttpBody, which is sent as bytes of any media type instead of JSON. */
export function isHttpBody(message: DescMessage): boolean {
  return message.typeName === HttpBodySchema.typeName;
}
