import { beforeEach, expect, test } from "vitest";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { masterSecret, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { deriveKey } from "../../lib/keys.ts";
import { unseal } from "../../lib/sealed.ts";

const api = await startApi();
const password = "  naïve\t🔑 pass ";

let workspace: TestWorkspace;
let steps: string;
let id: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  const { link } = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json;
  steps = `/v1/links/${link.id}/workflow-steps`;
  const body = { eventAction: "EVENT_ACTION_PASSWORD_VERIFY", payload: { password: { password } } };
  const { status, json } = await workspace.rest("POST", steps, body);
  expect(status).toBe(200);
  id = json.workflowStep.id;
});

async function stored() {
  const { payload, updated_at } = await api.db
    .selectFrom("workflow_steps")
    .select(["payload", "updated_at"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  // The service writes an object with this field.
  return { sealed: (payload as { password: string }).password, updatedAt: updated_at.getTime() };
}

test("a password is taken verbatim and answered to callers who may write workflows", async () => {
  const { json } = await workspace.rest("GET", `${steps}/${id}`);
  expect(json.workflowStep.payload.password.password).toBe(password);
});

test("a password is empty for callers who may only read workflows, alone and in lists", async () => {
  const reader = api.rest(await api.scopedToken(workspace.workspaceId, ["workflows:read"]));
  const got = await reader("GET", `${steps}/${id}`);
  expect(got.json.workflowStep.payload.password).toEqual({ title: "", description: "", password: "" });
  const listed = await reader("GET", steps);
  expect(listed.status).toBe(200);
  expect(listed.text).not.toContain("naïve");
});

test("a password is sealed at rest, bound to its workspace and step", async () => {
  const { sealed } = await stored();
  const bytes = Buffer.from(sealed, "base64");
  const key = deriveKey(masterSecret, "step-passwords");
  expect(bytes.includes("pass")).toBe(false);
  expect(unseal(bytes, key, `${workspace.workspaceId}/${id}`).toString()).toBe(password);
  expect(() => unseal(bytes, key, `${id}/${workspace.workspaceId}`)).toThrow();
});

test("the same password again changes nothing, another one is sealed anew, and an empty one is none", async () => {
  const before = await stored();
  const set = async (text: string) => {
    const { json } = await workspace.rest("PATCH", `${steps}/${id}`, {
      payload: { password: { password: text } },
    });
    expect(json.workflowStep.payload.password.password).toBe(text);
    return stored();
  };
  expect(await set(password)).toEqual(before);
  expect(await set(password.trim())).not.toEqual(before);
  expect((await set("")).sealed).toBe("");
  const title = { payload: { password: { title: "Members" } } };
  expect((await workspace.rest("PATCH", `${steps}/${id}`, title)).json.workflowStep.payload.password).toEqual(
    {
      title: "Members",
      description: "",
      password: "",
    },
  );
});

test("a password whose key is lost reads as none, and the other steps are still answered", async () => {
  const sealed = Buffer.alloc(60, 7).toString("base64");
  const broken = JSON.stringify({ title: "", description: "", password: sealed });
  await api.db.updateTable("workflow_steps").set({ payload: broken }).where("id", "=", id).execute();
  const { status, json } = await workspace.rest("GET", steps);
  expect(status).toBe(200);
  expect(json.workflowSteps).toHaveLength(3);
  expect(json.workflowSteps[2].payload.password.password).toBe("");
});

test("no password is logged, not even of refused calls", async () => {
  await workspace.rest("PATCH", `${steps}/${id}`, {
    payload: { password: { password: "hunter2" }, form: {} },
  });
  await workspace.rest("PATCH", `${steps}/${id}`, {
    payload: { password: { password: "hunter2".repeat(99) } },
  });
  expect(api.log()).toContain("WorkflowStepsService");
  expect(api.log()).not.toMatch(/hunter2|naïve/);
});

test("gRPC takes and answers the same password", async () => {
  const client = workspace.client(WorkflowStepsService);
  const linkId = steps.split("/")[3] ?? "";
  const { workflowStep } = await client.get({ linkId, id });
  expect(workflowStep?.payload?.variant).toMatchObject({ value: { password } });
});
