import {
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  getOption,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { destructive, no_tools } from "../../gen/signpost/options/v1/tools_pb.js";
import { commandNames, groupName, splitWords } from "../../src/model/operation-names.ts";
import { type Binding, bindingsOf, isHttpBody } from "../../src/rest/binding.ts";
import { methodAccess, takesIdempotencyKey } from "../../src/rpc/access.ts";
import {
  type Comment,
  type Commented,
  parseComment,
  parseMethodComment,
  type ReadComment,
} from "../openapi/comments.ts";
import type { JsonSchema } from "../openapi/json-schema.ts";
import { createToolSchemas, type ToolSchemas, type WholeSchema } from "./tool-schemas.ts";

/** What models read of a tool. */
export interface ToolFacts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: WholeSchema;
  readonly outputSchema: WholeSchema;
  readonly annotations: {
    readonly title: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
  };
}

/** The tools of all operations that are tools, by the full name of the method, such as `signpost.v1.LinksService/Get`. */
export function toolsOf(
  services: readonly DescService[],
  readComment: ReadComment,
): Record<string, ToolFacts> {
  const tools = services.flatMap((service) => namedTools(service));
  const answers = tools.map(({ method }) => answerOf(method));
  const jsonNames = new Map(
    [...tools.map(({ method }) => method.input), ...answers].flatMap(({ fields }) =>
      fields.map(({ name, jsonName }): [string, string] => [name, jsonName]),
    ),
  );
  const commentOf = (desc: Commented) => parseComment(readComment(desc), jsonNames);
  const schemas = createToolSchemas(
    commentOf,
    tools.map(({ method }) => method.input),
    answers,
  );
  return Object.fromEntries(
    tools.map(({ method, name }) => [
      `${method.parent.typeName}/${method.name}`,
      factsOf(method, name, commentOf, schemas),
    ]),
  );
}

interface NamedTool {
  readonly method: DescMethodUnary;
  readonly name: string;
}

function namedTools(service: DescService): NamedTool[] {
  if (getOption(service, no_tools)) return [];
  const methods = service.methods.filter(isUnary);
  const group = groupName(service.name).replaceAll("-", "_");
  const verbs = commandNames(
    service.name,
    methods.map(({ name }) => name),
  );
  return methods.flatMap((method, index) => {
    // A task is no operation of the API: it has no address and names what it does on its own.
    if (bindingsOf(method).length === 0) return [{ method, name: splitWords(method.name).join("_") }];
    const { scope, memberSession } = methodAccess(method);
    if (scope === undefined || memberSession) return [];
    return [{ method, name: `${group}_${(verbs[index] ?? "").replaceAll("-", "_")}` }];
  });
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/** The message that is the answer: the whole one, or the field that REST answers. */
function answerOf(method: DescMethodUnary): DescMessage {
  const [binding] = bindingsOf(method);
  return binding?.responseField?.message ?? method.output;
}

function factsOf(
  method: DescMethodUnary,
  name: string,
  commentOf: (desc: Commented) => Comment,
  schemas: ToolSchemas,
): ToolFacts {
  const comment = parseMethodComment(commentOf(method));
  const [binding] = bindingsOf(method);
  const answer = answerOf(method);
  // People see it in lists, where the further half of a sentence has no room.
  const title = comment.summary.replace(/[,;].*$/s, "");
  return {
    name,
    title,
    description: [`${comment.summary}.`, comment.rest].filter((text) => text !== "").join("\n\n"),
    inputSchema: withKey(schemas.input(method.input), method),
    outputSchema: isHttpBody(answer) ? fileSchema : schemas.output(answer),
    annotations: annotationsOf(method, binding, title),
  };
}

function annotationsOf(
  method: DescMethodUnary,
  binding: Binding | undefined,
  title: string,
): ToolFacts["annotations"] {
  const readOnlyHint = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  return {
    title,
    readOnlyHint,
    destructiveHint: binding?.httpMethod === "DELETE" || getOption(method, destructive),
    idempotentHint: readOnlyHint || method.idempotency === MethodOptions_IdempotencyLevel.IDEMPOTENT,
  };
}

const keySchema: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description:
    "Makes repeated calls with the same key and arguments happen once. Choose a new one for each thing to do, such as a UUID.",
};

/** Writing tools take the key that other protocols take as a header. */
function withKey(schema: WholeSchema, method: DescMethodUnary): WholeSchema {
  if (!takesIdempotencyKey(method)) return schema;
  return { ...schema, properties: { ...schema.properties, idempotencyKey: keySchema } };
}

/** What is said of an answer that is a file. The file itself is beside it. */
const fileSchema: WholeSchema = {
  type: "object",
  required: ["contentType", "bytes"],
  properties: {
    contentType: { type: "string", description: "The media type of the file." },
    bytes: { type: "integer", description: "How large the file is." },
  },
};
