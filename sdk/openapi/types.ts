// Tests the types that openapi-typescript makes, with openapi-fetch, on the service at SIGNPOST_URL with
// SIGNPOST_TOKEN.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Created = components["schemas"]["CreateLinkResponse"];

const client = createClient<paths>({
  baseUrl: process.env.SIGNPOST_URL ?? "",
  headers: { authorization: `Bearer ${process.env.SIGNPOST_TOKEN ?? ""}` },
});

const tag = `types-${randomUUID()}`;
const { data: created } = await client.POST("/v1/links", {
  body: { destination: "https://example.com/menu", name: "Menu", tags: [tag] },
});
assert.ok(created?.link !== undefined);
const { id } = created.link;
const { data: listed } = await client.GET("/v1/links", { params: { query: { tags: [tag] } } });
assert.deepEqual(
  listed?.links.map((link) => link.id),
  [id],
);
await wire(id, created);
await refuse();
await client.DELETE("/v1/links/{id}", { params: { path: { id } } });

async function wire(linkId: string, { workflowSteps }: Created): Promise<void> {
  const nextStepId = workflowSteps[1]?.id ?? "";
  const { data: added } = await client.POST("/v1/links/{linkId}/workflow-steps", {
    params: { path: { linkId } },
    body: {
      eventAction: "EVENT_ACTION_MESSAGE_PAGE",
      payload: { messagePage: { title: "Welcome", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } },
    },
  });
  const stepId = added?.workflowStep?.id ?? "";
  const { data: connected } = await client.PUT(
    "/v1/links/{linkId}/workflow-steps/{stepId}/branches/{branchId}/connection",
    { params: { path: { linkId, stepId, branchId: "next" } }, body: { nextStepId } },
  );
  assert.equal(connected?.workflowStep?.branches?.[0]?.nextStepId, nextStepId);
}

async function refuse(): Promise<void> {
  const unknown = randomUUID();
  const { error } = await client.GET("/v1/links/{id}", { params: { path: { id: unknown } } });
  assert.equal(error?.error.codeType, "NOT_FOUND");
  assert.ok(error.error.message.includes(unknown));
  const [info] = error.error.details;
  assert.ok(info !== undefined && info["@type"] === "type.googleapis.com/google.rpc.ErrorInfo");
  assert.equal(info.reason, "NOT_FOUND");
}
