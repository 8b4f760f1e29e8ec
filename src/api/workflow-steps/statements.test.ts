import { create, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { Kysely, PostgresDialect } from "kysely";
import { beforeEach, expect, test } from "vitest";
import type { DB } from "../../../gen/database.ts";
import { EventAction } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { callContext } from "../../../test/support/call-context.ts";
import { startApi } from "../../../test/support/start-api.ts";
import type { Context } from "../../rpc/handlers.ts";
import { workflowStepsService } from "./service.ts";

const api = await startApi();
const statements: string[] = [];
const db = new Kysely<DB>({
  dialect: new PostgresDialect({ pool: api.database.pool }),
  log: ({ query }) => void statements.push(query.sql.trim().split(/\s/, 1)[0] ?? ""),
});
const service = workflowStepsService({
  now: api.now,
  shortUrl: "https://short.test",
  stepPasswordKey: new Uint8Array(32),
});
const { method } = WorkflowStepsService;

let context: Context;
let linkId: string;
let redirect: string;
beforeEach(async () => {
  const { workspaceId, rest } = await api.newWorkspace();
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com" });
  linkId = json.link.id;
  redirect = json.workflowSteps[1].id;
  context = callContext(db, workspaceId);
});

function request<M extends DescMethodUnary>(of: M, init: MessageInitShape<M["input"]>) {
  return create<M["input"]>(of.input, init);
}

/** The first words of the statements that a call runs. */
async function statementsOf(run: () => Promise<unknown>): Promise<string[]> {
  statements.length = 0;
  await run();
  return [...statements];
}

test("every read is one statement, however many steps there are", async () => {
  const reads = [
    () => service.get(request(method.get, { linkId, id: redirect }), context),
    () => service.list(request(method.list, { linkId }), context),
    () => service.validateWorkflow(request(method.validateWorkflow, { linkId }), context),
  ];
  for (const read of reads) expect(await statementsOf(read)).toEqual(["select"]);
});

test("every edit locks, reads and writes, each in one statement", async () => {
  const buttons = Array.from({ length: 50 }, () => ({ nextStepId: redirect }));
  const page = {
    linkId,
    eventAction: EventAction.MULTI_LINK,
    payload: { variant: { case: "multiLink", value: { buttons } } },
  } as const;
  const edits = [
    () => service.create(request(method.create, page), context),
    () => service.autoLayoutWorkflow(request(method.autoLayoutWorkflow, { linkId }), context),
    () => service.delete(request(method.delete, { linkId, id: redirect }), context),
  ];
  for (const edit of edits)
    expect(await statementsOf(edit)).toEqual(["begin", "select", "select", "with", "commit"]);
});

test("an edit that changes nothing writes nothing", async () => {
  const same = {
    linkId,
    id: redirect,
    payload: { variant: { case: "clientRedirect", value: { destination: "https://example.com" } } },
  } as const;
  const update = () => service.update(request(method.update, same), context);
  expect(await statementsOf(update)).toEqual(["begin", "select", "select", "commit"]);
});
