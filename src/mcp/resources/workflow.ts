import { create, toJson } from "@bufbuild/protobuf";
import { WorkflowSchema } from "../../../gen/signpost/tasks/v1/workflow_tasks_pb.js";
import { methodAccess } from "../../rpc/access.ts";
import { getLink, linkFinding } from "../steps/find-link.ts";
import { runSteps } from "../steps/run-task.ts";
import type { Steps } from "../steps/task.ts";
import { cut } from "../steps/words.ts";
import { readWorkflow, workflowLines, workflowOf, workflowReading } from "../steps/workflow-view.ts";
import type { Resource, Use } from "../tool.ts";

const operations = [...linkFinding, ...workflowReading];

/** The scopes that reading a workflow needs. */
export const workflowScopes: readonly string[] = [
  ...new Set(operations.map((method) => methodAccess(method).scope)),
].filter((scope) => scope !== undefined);

/** How much of the JSON is shown, in characters. */
const jsonMax = 48_000;

/** A link's workflow as text: the steps in order, where their branches lead, the faults, and all of it as JSON. */
export function workflowText(linkId: string, use: Use): Promise<string> {
  return runSteps({ method: { name: "workflow resource" }, operations }, describe(linkId), use);
}

function* describe(linkId: string): Steps<string> {
  const link = yield* getLink(linkId);
  const workflow = yield* readWorkflow(linkId);
  const json = JSON.stringify(
    toJson(WorkflowSchema, create(WorkflowSchema, workflowOf(workflow))),
    undefined,
    1,
  );
  return [
    `# Workflow of "${link.name}"`,
    `${link.entrypoint} (link id ${link.id})`,
    "",
    ...workflowLines(workflow),
    "",
    "```json",
    cut(json, jsonMax),
    "```",
  ].join("\n");
}

/** The workflow of each link as a resource. */
export const workflowResource: Resource = {
  uriTemplate: "signpost://links/{id}/workflow",
  name: "workflow",
  title: "Workflow of a link",
  description: "What a link's visitors meet: its steps in order, where each branch leads, and the faults.",
  mimeType: "text/markdown",
  scopes: workflowScopes,
  read: async (uri, use) => {
    const [, id] = /^signpost:\/\/links\/([^/]{1,64})\/workflow$/.exec(uri) ?? [];
    return id === undefined ? undefined : workflowText(id, use);
  },
};
