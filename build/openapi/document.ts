import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescService,
  getOption,
} from "@bufbuild/protobuf";
import { group } from "../../gen/signpost/options/v1/documentation_pb.js";
import { type Binding, bindingsOf } from "../../src/rest/binding.ts";
import { defaultLimits } from "../../src/server/limits.ts";
import { type Comment, type Commented, parseComment, type ReadComment, wholeText } from "./comments.ts";
import { errorExample, errorProperties, errorSchemas, type ResponseObject } from "./error-schemas.ts";
import { exampleOf } from "./examples.ts";
import { answerHeaders, headerParameters, headersOf } from "./headers.ts";
import { info, securitySchemes } from "./info.ts";
import { type JsonSchema, reference } from "./json-schema.ts";
import { describeOperation, type OperationObject } from "./operations.ts";
import { pathOf } from "./parameters.ts";
import { createSchemas } from "./schemas.ts";

export interface DocumentSource {
  readonly services: readonly DescService[];
  /** signpost.v1.ErrorReason, whose values become `codeType`. */
  readonly errorReason: DescEnum;
  /** signpost.v1.ErrorBody, the schema of every error. */
  readonly error: DescMessage;
  readonly readComment: ReadComment;
}

/** An OpenAPI 3.1 document; its keys are written in the order given. */
export interface OpenapiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** Describes the REST form of the services. The same source gives the same document, byte for byte. */
export function openapiDocument(source: DocumentSource): OpenapiDocument {
  const { services, errorReason, error, readComment } = source;
  const bindings = services.flatMap(({ methods }) => methods.flatMap(bindingsOf));
  const sent = reachable(bindings.map(({ method }) => method.input));
  const answered = reachable([...bindings.map(({ method }) => method.output), error]);
  const commentOf = commentReader(readComment, [...sent, ...answered]);
  const hidden = hiddenFields(bindings);
  const schemas = createSchemas({ commentOf, sent, answered, hidden, replaced: errorProperties });
  const groups = describeGroups(services, commentOf);
  const reasons = describeReasons(errorReason, commentOf);
  const responses = new Map<string, ResponseObject>([
    ["HeadersTooLarge", headersTooLarge],
    ["Unexpected", unexpected],
  ]);

  const operations = bindings.map((binding) => ({
    binding,
    operation: describeOperation(binding, {
      schemas,
      commentOf,
      tagOf: ({ parent }) => groups.nameOf(parent),
      isReason: reasons.isReason,
      textOf: reasons.textOf,
      shared: (name, response) => {
        responses.set(name, response);
        return reference("responses", name);
      },
    }),
  }));
  operations.sort((a, b) =>
    compare(groups.nameOf(a.binding.method.parent), groups.nameOf(b.binding.method.parent)),
  );
  const components = sorted({
    ...errorSchemas(errorReason, schemas.message(error), commentOf),
    ...schemas.components(),
  });
  return {
    openapi: "3.1.1",
    info,
    servers: [{ url: "/", description: "The service that this document comes from." }],
    tags: groups.tags,
    paths: pathsOf(operations, components),
    components: {
      schemas: components,
      responses: sorted(Object.fromEntries(responses)),
      parameters: headerParameters,
      headers: answerHeaders,
      examples: sorted(reasons.examples()),
      securitySchemes,
    },
  };
}

const unexpected: ResponseObject = {
  description:
    "Anything else: 500 `INTERNAL` for a fault of the service, 501 `UNIMPLEMENTED` for what is not built yet, 503 `UNAVAILABLE` while something is away, 504 `DEADLINE_EXCEEDED` when it took too long.",
  headers: headersOf("Retry-After"),
  content: { "application/json": { schema: reference("schemas", "ErrorResponse") } },
};

const headersTooLarge: ResponseObject = {
  description: `Address and headers together have more than ${defaultLimits.headerBytes.toLocaleString("en")} bytes. The answer has no body.`,
};

interface Described {
  readonly binding: Binding;
  readonly operation: OperationObject;
}

function pathsOf(operations: readonly Described[], components: Readonly<Record<string, JsonSchema>>) {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const { binding, operation } of operations) {
    const path = pathOf(binding);
    paths[path] = { ...paths[path], [binding.httpMethod.toLowerCase()]: withExample(operation, components) };
  }
  return paths;
}

/** Adds an example to an operation. Examples derive from the finished schemas, so they come last. */
function withExample(
  operation: OperationObject,
  components: Readonly<Record<string, JsonSchema>>,
): OperationObject {
  const json = operation.requestBody?.content["application/json"];
  const example = json === undefined ? undefined : exampleOf(json.schema, components);
  if (json === undefined || operation.requestBody === undefined || example === undefined) return operation;
  const content = { "application/json": { ...json, example } };
  return { ...operation, requestBody: { ...operation.requestBody, content } };
}

function describeGroups(services: readonly DescService[], commentOf: (desc: Commented) => Comment) {
  const nameOf = (service: DescService) =>
    getOption(service, group) || service.name.replace(/Service$/, "").replace(/(?<=[a-z])(?=[A-Z])/g, " ");
  const texts = new Map<string, string[]>();
  for (const service of services) {
    const name = nameOf(service);
    texts.set(name, [...(texts.get(name) ?? []), wholeText(commentOf(service))]);
  }
  const tags = [...texts]
    .map(([name, descriptions]) => ({ name, description: descriptions.join(" ") }))
    .sort((a, b) => compare(a.name, b.name));
  return { nameOf, tags };
}

function describeReasons(errorReason: DescEnum, commentOf: (desc: Commented) => Comment) {
  const values = new Map(errorReason.values.map((value) => [value.localName, value]));
  const statuses = new Map<string, number>();
  const textOf = (reason: string, status: number): string => {
    const value = values.get(reason);
    if (value === undefined) throw new Error(`${reason} is no value of ErrorReason`);
    const before = statuses.get(reason) ?? status;
    if (before !== status) throw new Error(`${reason} stands for both ${before} and ${status}`);
    statuses.set(reason, status);
    return wholeText(commentOf(value));
  };
  return {
    isReason: (word: string) => values.has(word),
    textOf,
    examples: () => {
      const entries = [...statuses].map(([reason, status]) => {
        const value = values.get(reason);
        const sentence = value === undefined ? "" : commentOf(value).summary;
        return [reason, errorExample(reason, status, sentence)] as const;
      });
      return Object.fromEntries(entries);
    },
  };
}

function commentReader(readComment: ReadComment, messages: readonly DescMessage[]) {
  const jsonNames = new Map<string, string>();
  for (const { fields } of messages) {
    for (const { name, jsonName } of fields) jsonNames.set(name, jsonName);
  }
  return (desc: Commented): Comment => parseComment(readComment(desc), jsonNames);
}

function reachable(roots: readonly DescMessage[]): Set<DescMessage> {
  const found = new Set<DescMessage>();
  const visit = (message: DescMessage): void => {
    if (found.has(message)) return;
    found.add(message);
    for (const field of message.fields) if (field.message !== undefined) visit(field.message);
  };
  for (const root of roots) visit(root);
  return found;
}

/** The fields that callers do not send in the body, because the path or the body's keys give them. */
function hiddenFields(bindings: readonly Binding[]): Set<DescField> {
  const hidden = new Set<DescField>();
  for (const { variables, maskField } of bindings) {
    for (const { fields } of variables) if (fields.length === 1) hidden.add(fields[0]);
    if (maskField !== undefined) hidden.add(maskField);
  }
  return hidden;
}

/** Compares names regardless of case. */
function compare(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  return left === right ? 0 : left < right ? -1 : 1;
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
