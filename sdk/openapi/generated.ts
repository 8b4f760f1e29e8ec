// Tests the TypeScript client that openapi-generator makes, on the service at SIGNPOST_URL with SIGNPOST_TOKEN.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  Configuration,
  type CreateLinkResponse,
  ErrorReason,
  ErrorResponseFromJSON,
  EventAction,
  LinksApi,
  MessagePageNavigationType,
  ResponseError,
  WorkflowStepsApi,
} from "./client/index.js";

const configuration = new Configuration({
  basePath: process.env.SIGNPOST_URL ?? "",
  accessToken: process.env.SIGNPOST_TOKEN ?? "",
});
const links = new LinksApi(configuration);
const steps = new WorkflowStepsApi(configuration);

const tag = `generated-${randomUUID()}`;
const created = await links.linksServiceCreate({
  createLinkRequest: { destination: "https://example.com/menu", name: "Menu", tags: [tag] },
});
const id = created.link?.id ?? "";
const listed = await links.linksServiceList({ tags: [tag] });
assert.deepEqual(
  listed.links.map((link) => link.id),
  [id],
);
await wire(created);
await refuse();
await links.linksServiceDelete({ id });

async function wire({ link, workflowSteps }: CreateLinkResponse): Promise<void> {
  const linkId = link?.id ?? "";
  const nextStepId = workflowSteps[1]?.id ?? "";
  const messagePage = {
    title: "Welcome",
    navigationType: MessagePageNavigationType.MessagePageNavigationTypeButton,
  };
  const { workflowStep } = await steps.workflowStepsServiceCreate({
    linkId,
    createWorkflowStepRequest: { eventAction: EventAction.EventActionMessagePage, payload: { messagePage } },
  });
  const connected = await steps.workflowStepsServiceConnectStep({
    linkId,
    stepId: workflowStep?.id ?? "",
    branchId: "next",
    connectWorkflowStepRequest: { nextStepId },
  });
  assert.equal(connected.workflowStep?.branches?.[0]?.nextStepId, nextStepId);
}

async function refuse(): Promise<void> {
  const unknown = randomUUID();
  const refused = await links.linksServiceGet({ id: unknown }).catch((error: unknown) => error);
  assert.ok(refused instanceof ResponseError);
  const { error } = ErrorResponseFromJSON(await refused.response.json());
  assert.equal(error.codeType, ErrorReason.NotFound);
  assert.ok(error.message.includes(unknown));
  const [info] = error.details;
  assert.ok(info !== undefined && "reason" in info);
  assert.equal(info.reason, ErrorReason.NotFound);
}
