import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { AnalyticsDataService } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { TagsService } from "../../../gen/signpost/v1/tags_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { type Context, registerPartly } from "../handlers.ts";

const { getBreakdown, getStepFunnel } = AnalyticsDataService.method;

let asked: { readonly request: unknown; readonly context: Context }[] = [];
let question: { readonly method: DescMethodUnary; readonly json: JsonObject };
const asking = async (_request: unknown, context: Context) => {
  await context.ask(question.method, question.json);
  return {};
};

const api = await startApi({
  services: [
    registerPartly(TagsService, { list: asking, delete: async () => ({}) }),
    registerPartly(AnalyticsDataService, {
      getBreakdown: async (request, context) => {
        asked.push({ request, context });
        return { total: 7 };
      },
      // It costs as much as what it asks, and a caller has one turn at such calls.
      getTopLinks: asking,
    }),
  ],
});

let workspace: TestWorkspace;
beforeAll(async () => {
  workspace = await api.newWorkspace();
});
beforeEach(() => {
  asked = [];
  question = { method: getBreakdown, json: { dimension: "country", limit: "5" } };
});

test("a handler asks another operation as its caller, and the operation reads its request as from any client", async () => {
  expect((await workspace.rest("GET", "/v1/tags")).status).toBe(200);
  const [{ request, context } = { request: {}, context: undefined }] = asked;
  expect(request).toMatchObject({ dimension: "country", limit: 5 });
  expect(context?.caller?.workspaceId).toBe(workspace.workspaceId);
});

test("what the operation refuses, the call refuses: bad fields, fields that it lacks, its scope", async () => {
  question = { method: getBreakdown, json: { dimension: "planet", colour: "red", startDate: "soon" } };
  const { status, json } = await workspace.rest("GET", "/v1/tags");
  expect(status).toBe(400);
  const { fieldViolations } = json.error.details.find((each: object) => "fieldViolations" in each);
  expect(fieldViolations.map(({ field }: { field: string }) => field)).toEqual([
    "colour",
    "startDate",
    "dimension",
  ]);
  question = { method: getBreakdown, json: { dimension: "country" } };
  const tagsOnly = await api.scopedToken(workspace.workspaceId, ["links:read"]);
  const refused = await api.rest(tagsOnly)("GET", "/v1/tags");
  expect([refused.status, refused.json.error.codeType]).toEqual([403, "INSUFFICIENT_SCOPE"]);
  expect(refused.json.error.message).toContain("analytics:read");
  expect(asked).toEqual([]);
});

test("nothing that writes can be asked, and nothing that is not served", async () => {
  for (const method of [TagsService.method.delete, getStepFunnel]) {
    question = { method, json: {} };
    const { status } = await workspace.rest("GET", "/v1/tags");
    expect(status).toBe(method === TagsService.method.delete ? 500 : 501);
  }
});

test("nothing is asked in a transaction, where it could wait", async () => {
  const keyed = { "idempotency-key": "k" };
  expect((await workspace.rest("POST", "/v1/analytics/top-links", {}, keyed)).status).toBe(500);
  expect(asked).toEqual([]);
});

test("many costly calls that ask costly operations wait for turns, never for themselves", async () => {
  const calls = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0
      ? workspace.rest("GET", "/v1/tags")
      : workspace.rest("POST", "/v1/analytics/top-links", {}),
  );
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(asked).toHaveLength(20);
});
