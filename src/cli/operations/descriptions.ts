import { readFile } from "node:fs/promises";
import { isJsonObject, type JsonObject } from "./flag-values.ts";
import type { Flag } from "./flags.ts";
import type { Command } from "./groups.ts";

/** The texts of the OpenAPI document, which the descriptors of a running program do not keep. */
export interface Descriptions {
  /** The purpose of a group in one line; empty when unknown. */
  group(serviceName: string): string;
  /** The summary of an operation in one line. */
  summary(command: Command): string;
  /** The further description of an operation. */
  details(command: Command): string;
  flag(command: Command, flag: Flag): string;
}

const document = new URL("../../../gen/openapi.json", import.meta.url);

/** Reads the OpenAPI document; without it every description is empty. */
export async function readDescriptions(file: URL = document): Promise<Descriptions> {
  const text = await readFile(file, "utf8").catch(() => "{}");
  const json: unknown = JSON.parse(text);
  return describe(isJsonObject(json) ? json : {});
}

function describe(openapi: JsonObject): Descriptions {
  const operations = new Map<string, JsonObject>();
  for (const path of objects(openapi.paths))
    for (const operation of objects(path)) operations.set(String(operation.operationId), operation);
  const of = ({ method }: Command) => operations.get(`${method.parent.name}_${method.name}`) ?? {};
  return {
    group(serviceName) {
      const operation = [...operations].find(([id]) => id.startsWith(`${serviceName}_`))?.[1];
      const [tag] = Array.isArray(operation?.tags) ? operation.tags : [];
      const tags = Array.isArray(openapi.tags) ? openapi.tags : [];
      return textOf(tags.find((each: unknown) => isJsonObject(each) && each.name === tag));
    },
    summary: (command) => plain(of(command).summary),
    details: (command) => plain(of(command).description),
    flag(command, { path }) {
      const operation = of(command);
      const [top, ...rest] = path.map(({ jsonName }) => jsonName);
      const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
      const parameter = parameters.find((each: unknown) => isJsonObject(each) && each.name === top);
      const property = propertyOf(openapi, bodySchema(operation), top);
      const described = rest.reduce<unknown>((schema, name) => propertyOf(openapi, schema, name), property);
      return textOf(rest.length === 0 ? (parameter ?? described) : described);
    },
  };
}

function objects(value: unknown): JsonObject[] {
  return isJsonObject(value) ? Object.values(value).filter(isJsonObject) : [];
}

function bodySchema({ requestBody }: JsonObject): unknown {
  const content = isJsonObject(requestBody) ? requestBody.content : undefined;
  return objects(content)[0]?.schema;
}

/** Finds a property of a schema, which may be behind references. */
function propertyOf(openapi: JsonObject, schema: unknown, name: string | undefined): unknown {
  if (!isJsonObject(schema) || name === undefined) return undefined;
  if (isJsonObject(schema.properties) && schema.properties[name] !== undefined)
    return schema.properties[name];
  const further = [schema.allOf, schema.oneOf, schema.anyOf].flatMap((each) =>
    Array.isArray(each) ? each : [],
  );
  if (typeof schema.$ref === "string") further.push(resolve(openapi, schema.$ref));
  for (const each of further) {
    const found = propertyOf(openapi, each, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function resolve(openapi: JsonObject, reference: string): unknown {
  return reference
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), openapi);
}

function textOf(described: unknown): string {
  return isJsonObject(described) ? plain(described.description) : "";
}

/** Removes Markdown's quotes, which are of no use on a terminal. */
function plain(text: unknown): string {
  return typeof text === "string" ? text.replaceAll("`", "") : "";
}

/** The first sentence of a text, without its full stop. */
export function firstSentence(text: string): string {
  return (/^.*?(?=\.(?:\s|$))/s.exec(text)?.[0] ?? text).replaceAll(/\s+/g, " ");
}
