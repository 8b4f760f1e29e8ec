import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readToolTable, type ToolFacts } from "../../src/mcp/tool-table.ts";
import { apiScopes, isSecret } from "../../src/rpc/access.ts";
import { granted } from "../support/grants.ts";
import { type McpClient, mcpClient } from "../support/mcp.ts";
import { startSlack } from "../support/slack/stand-in.ts";
import { startApi, type TestWorkspace } from "../support/start-api.ts";
import { seedRequest, seeds } from "../support/tenant-records.ts";
import { endsCaller, type Operation, operationsOf } from "./operations.ts";
import { restForm } from "./send.ts";

const slack = await startSlack();
afterAll(slack.close);
const api = await startApi({ deps: { slack: slack.client } });
const toolOf = await readToolTable();
let workspace: TestWorkspace;
let mcp: McpClient;

beforeAll(async () => {
  workspace = await api.newWorkspace();
  const { workspaceId, memberId } = workspace;
  const { accessToken } = await granted(api, {
    workspaceId,
    memberId,
    scopes: [...apiScopes],
    resource: "MCP",
  });
  mcp = mcpClient(api, accessToken);
});

interface ToolOfOperation {
  readonly operation: Operation;
  readonly facts: ToolFacts;
}

const tools = operationsOf(api.services).flatMap((operation): ToolOfOperation[] => {
  const facts = toolOf(operation.method);
  return facts === undefined ? [] : [{ operation, facts }];
});
// Deleting the workspace ends the caller.
const callable = tools.filter(({ operation: { fullAccess, name } }) => !fullAccess && !endsCaller.has(name));
const ajv = new Ajv2020({ strict: false, allErrors: true });
// The package exports its function under this name as well, which is typed.
addFormats.default(ajv);

test(`each of the ${callable.length} operations, called as a tool, answers as REST does, without secrets, and keeps both of its schemas`, async () => {
  const faults: string[] = [];
  for (const tool of callable) {
    const fault = await faultOf(tool);
    if (fault !== undefined) faults.push(`${tool.facts.name}: ${fault}`);
  }
  expect(faults).toEqual([]);
});

interface Called {
  readonly structuredContent: Json;
  readonly content: readonly { readonly text: string }[];
}

async function faultOf({ operation, facts }: ToolOfOperation): Promise<string | undefined> {
  const { name, method, binding } = operation;
  const request = async () => {
    await seeds[name]?.makeRoom?.(api, workspace.workspaceId);
    return seedRequest(api, workspace, name);
  };
  const forRest = await request();
  const takes = ajv.compile(facts.inputSchema);
  if (!takes(forRest)) return `does not take its request: ${ajv.errorsText(takes.errors)}`;
  const rest = await byRest(operation, forRest);
  // What only reads may be asked twice about the same records.
  const forTool = facts.annotations.readOnlyHint ? forRest : await withOwnState(facts, await request());
  const result = await mcp.call(facts.name, forTool);
  if (result.content === undefined) return `fails with ${JSON.stringify(result)}`;
  const { structuredContent, content } = result as Called;
  if (Buffer.byteLength(content[0]?.text ?? "") > 4_096) return "its text is longer than 4 kB";
  const validate = ajv.compile(facts.outputSchema);
  if (!validate(structuredContent)) return `breaks its schema: ${ajv.errorsText(validate.errors)}`;
  const answer = binding.responseField?.message ?? method.output;
  const secrets = secretsIn(answer, structuredContent);
  if (secrets.length > 0) return `tells the secrets ${secrets}`;
  if (rest.json === undefined) return Number(structuredContent.bytes) > 0 ? undefined : "answers no file";
  const expected = shapeOf(withoutSecrets(answer, rest.json));
  const found = shapeOf(structuredContent);
  return found === expected ? undefined : `answers ${found} instead of ${expected}`;
}

/** The state of a connection is for the caller who asked for it alone. */
async function withOwnState({ name }: ToolFacts, request: JsonObject): Promise<JsonObject> {
  if (request.state === undefined) return request;
  const asked = await mcp.call(name.replace("complete_oauth", "get_oauth_url"));
  const { oauthUrl } = asked.structuredContent;
  if (name.startsWith("google"))
    return { ...(await (await api.google.server()).allow(oauthUrl, "owner@example.com")) };
  return { ...request, state: new URL(oauthUrl).searchParams.get("state") };
}

async function byRest(operation: Operation, request: JsonObject) {
  const form = restForm(operation, request);
  if (form === undefined) throw new Error(`${operation.name} has no REST form for its seed`);
  const answer = await workspace.rest(form.httpMethod, form.path, form.body);
  expect([operation.name, answer.status < 300]).toEqual([operation.name, true]);
  return answer;
}

/** The names of all fields of an answer and the kinds of their values. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].toSorted().join("|")}]`;
  if (typeof value !== "object" || value === null) return typeof value;
  return `{${Object.entries(value)
    .map(([key, each]) => `${key}:${shapeOf(each)}`)
    .toSorted()
    .join(",")}}`;
}

type Json = Record<string, unknown>;

/** Visits the fields of an answer that are there, below messages and lists of messages. */
function eachField(desc: DescMessage, json: unknown, visit: (field: DescField, of: Json) => void): void {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return;
  const of = json as Json;
  for (const field of desc.fields) {
    const value = of[field.jsonName];
    if (value === undefined) continue;
    visit(field, of);
    const inner = field.message;
    if (inner !== undefined) for (const each of [value].flat()) eachField(inner, each, visit);
  }
}

function secretsIn(desc: DescMessage, json: unknown): string[] {
  const found: string[] = [];
  eachField(desc, json, (field) => {
    if (isSecret(field)) found.push(field.jsonName);
  });
  return found;
}

function withoutSecrets(desc: DescMessage, json: Json): Json {
  eachField(desc, json, (field, of) => {
    if (isSecret(field)) delete of[field.jsonName];
  });
  return json;
}

test("REST answers secrets that the same tool leaves out", async () => {
  const given = { name: "A hook", endpointUrl: "https://example.com/hook" };
  const { json } = await workspace.rest("POST", "/v1/webhooks", given);
  expect(json.signingSecret).toMatch(/^whsec_/);
  const { structuredContent } = await mcp.call("webhooks_create", given);
  expect(Object.keys(structuredContent)).toEqual(Object.keys(json).filter((key) => key !== "signingSecret"));
});
