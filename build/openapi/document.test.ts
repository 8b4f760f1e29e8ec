import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRegistry, type DescMethodUnary, type DescService, fromJson } from "@bufbuild/protobuf";
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, expect, test } from "vitest";
import { bindingsOf } from "../../src/rest/binding.ts";
import { apiScopes } from "../../src/rpc/access.ts";
import { checkRequest } from "../../src/rpc/pipeline/validate.ts";
import type { OpenapiDocument } from "./document.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { OperationObject } from "./operations.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const committed = join(root, "gen/openapi.json");

let document: OpenapiDocument;
let operations: OperationObject[];
beforeAll(async () => {
  document = JSON.parse(await readFile(committed, "utf8"));
  operations = Object.values(document.paths).flatMap((item) => Object.values(item));
});

/** Every service in the proto files, found by reading their folder. */
async function services(): Promise<DescService[]> {
  const files = globSync("gen/signpost/v1/*_service_pb.js", { cwd: root });
  const modules = await Promise.all(files.map((file) => import(join(root, file))));
  return modules.flatMap((module) =>
    Object.values<DescService>(module).filter(({ kind }) => kind === "service"),
  );
}

test("is the byte-exact output of the proto files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "openapi-"));
  const run = promisify(execFile);
  await run("buf", ["generate", "--template", "buf.gen.openapi.yaml", "--output", folder], { cwd: root });
  expect(await readFile(join(folder, "gen/openapi.json"), "utf8")).toBe(await readFile(committed, "utf8"));
  await rm(folder, { recursive: true });
});

test("is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate(await readFile(committed, "utf8"))).toMatchObject({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("has every unary RPC once, under its name", async () => {
  const rpcs = (await services()).flatMap(({ name, methods }) =>
    methods.filter(({ methodKind }) => methodKind === "unary").map((method) => `${name}_${method.name}`),
  );
  expect(rpcs.length).toBeGreaterThan(100);
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(rpcs.sort());
});

test("names the 31 resource groups in alphabetical order, and every operation belongs to one", () => {
  const names = document.tags.map(({ name }) => name);
  expect(names).toHaveLength(31);
  expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, "en")));
  expect(new Set(operations.flatMap(({ tags }) => tags))).toEqual(new Set(names));
});

test("gives every operation a description and the scope it needs, if any", () => {
  const wrong = operations.filter((operation) => {
    const scope = operation["x-scope"];
    const [requirement] = operation.security;
    const agrees =
      scope === undefined
        ? requirement === undefined
        : apiScopes.has(scope) &&
          ("memberSession" in (requirement ?? {}) || requirement?.bearerAuth?.[0] === scope);
    return !agrees || operation.summary === "";
  });
  expect(wrong).toEqual([]);
});

test("describes every field that a caller sends in the path or the query", () => {
  const bare = operations.flatMap(({ operationId, parameters }) =>
    parameters
      .filter((each) => "schema" in each && (each.description ?? "") === "")
      .map((each) => `${operationId} ${JSON.stringify(each)}`),
  );
  expect(bare).toEqual([]);
});

test("shows example bodies that the service's own validation accepts", async () => {
  const all = await services();
  const registry = createRegistry(...all.map(({ file }) => file));
  const methods = new Map<string, DescMethodUnary>();
  for (const service of all) {
    // All methods are unary; only unary methods have a REST form.
    for (const method of service.methods)
      methods.set(`${service.name}_${method.name}`, method as DescMethodUnary);
  }
  let checked = 0;
  for (const { operationId, parameters, requestBody } of operations) {
    const example = requestBody?.content["application/json"]?.example;
    const method = methods.get(operationId);
    if (example === undefined || method === undefined) continue;
    const path = parameters.flatMap((each) =>
      "in" in each && each.in === "path" ? [[each.name, "0198f0c2-7d3a-7c55-9b1e-3f6a2d4c8e10"]] : [],
    );
    const [binding] = bindingsOf(method);
    const body = binding?.body.kind === "field" ? { [binding.body.field.jsonName]: example } : example;
    const message = fromJson(method.input, { ...Object.fromEntries(path), ...body }, { registry });
    expect([operationId, checkRequest(message, method.input)?.message]).toEqual([operationId, undefined]);
    checked++;
  }
  expect(checked).toBeGreaterThan(30);
});

test("avoids constructs that client generators cannot handle", () => {
  const faults: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const keys = Object.keys(value);
    // Generators turn a type beside a choice, or properties beside a reference, into types that are empty or do not
    // compile.
    if (keys.includes("anyOf") || (keys.includes("oneOf") && keys.includes("type"))) faults.push(path);
    if (keys.includes("$ref") && keys.some((key) => ["properties", "required", "allOf"].includes(key)))
      faults.push(path);
    for (const [key, child] of Object.entries(value)) visit(child, `${path}/${key}`);
  };
  visit(document, "");
  expect(faults).toEqual([]);
  const names = Object.values(document.components.schemas ?? {}).flatMap((schema: JsonSchema) =>
    schema.type === "string" ? (schema["x-enum-varnames"] ?? schema.enum ?? []) : [],
  );
  expect(
    names.filter((name, index) => /^[A-Z]+_UNSPECIFIED$/.test(String(name)) && names.indexOf(name) < index),
  ).toEqual([]);
});

test("uses only patterns that every regular expression engine reads alike", () => {
  const patterns: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { pattern } = value as JsonSchema;
    if (typeof pattern === "string") patterns.push(pattern);
    for (const child of Object.values(value)) visit(child);
  };
  visit(document);
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter((pattern) => /\\[pP]\{|\(\?/.test(pattern) || !new RegExp(pattern, "u"))).toEqual(
    [],
  );
});
