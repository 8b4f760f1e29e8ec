import { beforeAll, describe, expect, test } from "vitest";
import { granted } from "../../../test/support/grants.ts";
import { type McpClient, mcpClient } from "../../../test/support/mcp.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { apiScopes } from "../../rpc/access.ts";

const api = await startApi();
let workspace: TestWorkspace;
let mcp: McpClient;
let link: { readonly id: string };

async function clientOf({ workspaceId, memberId }: TestWorkspace, scopes: readonly string[]) {
  const { accessToken } = await granted(api, { workspaceId, memberId, scopes, resource: "MCP" });
  return mcpClient(api, accessToken);
}

beforeAll(async () => {
  workspace = await api.newWorkspace();
  mcp = await clientOf(workspace, [...apiScopes]);
  const made = await workspace.rest("POST", "/v1/links", {
    destination: "https://example.com/end",
    name: "Menu",
  });
  ({ link } = made.json);
  await workspace.rest("POST", `/v1/links/${link.id}/workflow-steps`, {
    eventAction: "EVENT_ACTION_PASSWORD_VERIFY",
    insertBefore: made.json.workflowSteps[1].id,
    payload: { password: { title: "Members only", password: "open sesame" } },
  });
});

/** Reads a resource in one revision. */
async function textOf(uri: string, revision: "ask" | "askStateless" = "ask"): Promise<string> {
  const { status, json } = await mcp[revision]("resources/read", { uri });
  expect([status, json.error]).toEqual([200, undefined]);
  const [{ uri: told, mimeType, text }] = json.result.contents;
  expect([told, mimeType]).toEqual([uri, "text/markdown"]);
  return text;
}

describe("resources", () => {
  test("are listed, and say so among the capabilities", async () => {
    const { json } = await mcp.askStateless("server/discover");
    expect(json.result.capabilities).toEqual({ tools: {}, prompts: {}, resources: {} });
    for (const ask of [mcp.ask, mcp.askStateless]) {
      const list = await ask("resources/list");
      expect(list.json.result.resources).toMatchObject([
        { uri: "signpost://api", mimeType: "text/markdown" },
      ]);
      const templates = await ask("resources/templates/list");
      expect(templates.json.result.resourceTemplates).toMatchObject([
        { uriTemplate: "signpost://api/{group}" },
        { uriTemplate: "signpost://api/types/{name}" },
        { uriTemplate: "signpost://links/{id}/workflow" },
      ]);
    }
  });

  test("the reference has an index and a page for each group, none of more than 16,000 characters", async () => {
    const index = await textOf("signpost://api");
    const pages = [...index.matchAll(/signpost:\/\/api\/[a-z-]+(?=:)/g)].map(([page]) => page);
    expect(pages.length).toBeGreaterThan(25);
    for (const page of pages) {
      const text = await textOf(page);
      expect(text.length).toBeLessThanOrEqual(16_000);
      expect(text).toMatch(/^# .*\n## [\w.]+: (GET|POST|PUT|PATCH|DELETE) \/v1\//ms);
    }
    expect(await textOf("signpost://api/workflow-steps", "askStateless")).toMatch(
      /## workflow_steps_create: POST .*insertBefore/s,
    );
  });

  test("the reference has a page for each type, which has the types of its fields or names them", async () => {
    const payload = await textOf("signpost://api/types/WorkflowStepPayload");
    expect(payload.length).toBeLessThanOrEqual(16_000);
    expect(payload).toMatch(/## FormPayload|types\/FormPayload/);
    expect(await textOf("signpost://api/types/FormField")).toContain("- required (boolean");
  });

  test("a link's workflow is told in order, with its faults, as JSON, and without passwords", async () => {
    for (const revision of ["ask", "askStateless"] as const) {
      const text = await textOf(`signpost://links/${link.id}/workflow`, revision);
      expect(text).toContain('# Workflow of "Menu"');
      expect(text).toMatch(
        /1\. LINK_VISIT .*→ 2\n2\. PASSWORD_VERIFY "Members only" .*→ 3\n3\. CLIENT_REDIRECT .*ends/,
      );
      expect(text).toContain("No faults.");
      expect(text).not.toContain("open sesame");
      const [, json = ""] = /```json\n(.*)\n```/s.exec(text) ?? [];
      expect(JSON.parse(json).steps).toHaveLength(3);
    }
  });

  test("what there is not, foreign links and malformed addresses are refused as each revision says", async () => {
    for (const uri of [
      "signpost://api/none",
      "signpost://api/types/__proto__",
      "file:///etc/passwd",
      "signpost://links/",
    ]) {
      const old = await mcp.ask("resources/read", { uri });
      expect([old.status, old.json.error.code, old.json.error.data], uri).toEqual([200, -32_002, { uri }]);
      expect((await mcp.askStateless("resources/read", { uri })).json.error.code).toBe(-32_602);
    }
    const stranger = await clientOf(await api.newWorkspace(), [...apiScopes]);
    const uri = `signpost://links/${link.id}/workflow`;
    const foreign = await stranger.ask("resources/read", { uri });
    expect(foreign.json.error.data).toMatchObject({ code: 404, codeType: "NOT_FOUND" });
    expect(
      (await mcp.ask("resources/read", { uri: "signpost://links/x/workflow" })).json.error.data.code,
    ).toBe(400);
    expect((await mcp.ask("resources/read", { uri: 1 })).json.error.code).toBe(-32_602);
  });

  test("a grant without the scopes neither sees nor reads workflows", async () => {
    const reader = await clientOf(workspace, ["links:read"]);
    const { json } = await reader.ask("resources/templates/list");
    expect(json.result.resourceTemplates.map(({ name }: { name: string }) => name)).toEqual([
      "api-group",
      "api-type",
    ]);
    const refused = await reader.ask("resources/read", { uri: `signpost://links/${link.id}/workflow` });
    expect(refused.json.error.data).toMatchObject({ code: 403, codeType: "INSUFFICIENT_SCOPE" });
  });
});

describe("prompts", () => {
  test("are listed with their arguments within the grant's scopes", async () => {
    const { json } = await mcp.ask("prompts/list");
    expect((await mcp.askStateless("prompts/list")).json.result.prompts).toEqual(json.result.prompts);
    const names = json.result.prompts.map(({ name }: { name: string }) => name);
    expect(names).toEqual([
      "plan_campaign",
      "review_visits",
      "improve_workflow",
      "summarize_answers",
      "check_before_print",
    ]);
    const reader = await clientOf(workspace, ["links:read", "analytics:read"]);
    const seen = (await reader.ask("prompts/list")).json.result.prompts;
    expect(seen.map(({ name }: { name: string }) => name)).toEqual(["review_visits", "summarize_answers"]);
    const refused = await reader.ask("prompts/get", {
      name: "improve_workflow",
      arguments: { link: link.id },
    });
    expect(refused.json.error.data.codeType).toBe("INSUFFICIENT_SCOPE");
  });

  test("are made of their arguments, in one line each, and of the workflow where they are about it", async () => {
    for (const ask of [mcp.ask, mcp.askStateless]) {
      const plan = await ask("prompts/get", {
        name: "plan_campaign",
        arguments: { goal: "more guests\nand more", destination: "https://example.com" },
      });
      const [{ role, content }] = plan.json.result.messages;
      expect([role, content.type]).toEqual(["user", "text"]);
      expect(content.text).toContain("Goal: more guests and more");
      const improve = await ask("prompts/get", { name: "improve_workflow", arguments: { link: "menu" } });
      expect(improve.json.result.messages[0].content.text).toContain('PASSWORD_VERIFY "Members only"');
    }
  });

  test("refuse unknown names, missing and overlong arguments", async () => {
    expect((await mcp.ask("prompts/get", { name: "none" })).json.error.code).toBe(-32_602);
    for (const given of [{}, { goal: "x", destination: "y".repeat(2_001) }]) {
      const { json } = await mcp.ask("prompts/get", { name: "plan_campaign", arguments: given });
      expect(json.error.data.codeType).toBe("INVALID_ARGUMENT");
      expect(json.error.message).toContain("destination");
    }
    for (const given of [[], "text", { goal: 1 }])
      expect(
        (await mcp.ask("prompts/get", { name: "plan_campaign", arguments: given })).json.error.code,
      ).toBe(-32_602);
  });
});
