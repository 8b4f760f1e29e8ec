import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { JobStatus } from "../../../gen/signpost/v1/job_pb.js";
import { JobsService } from "../../../gen/signpost/v1/jobs_service_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { jobCalls } from "../../jobs/queue.ts";
import { startJobs } from "../../jobs/runner.ts";
import { randomShortlink } from "../../model/links/shortlink.ts";
import { defaultPlans } from "../../model/plans/plan-table.ts";
import { checkRequest } from "../../rpc/pipeline/validate.ts";
import { createLinksJob } from "./bulk-job.ts";

const api = await startApi({ deps: { bulkJobLinks: 1_200 } });
const { db, clock, database } = api;

const runJob = createLinksJob({
  db,
  now: clock.now,
  newShortlink: randomShortlink,
  jobCalls,
  shortUrl: "https://short.test",
  entitlements: createEntitlements({ plans: defaultPlans, now: api.now }),
  bulkJobLinks: 1_200,
  checkRequest: async (...request) => checkRequest(...request),
});
/** What happens when a job begins, in place of the job. */
let instead: typeof runJob | undefined;
const jobs = startJobs({
  connection: database.connection,
  tasks: {
    "create-links": (place: Parameters<typeof runJob>[0]) => (instead ?? runJob)(place),
    "render-qrcode": async () => {},
  },
  concurrency: 2,
  stopTimeoutMs: 5_000,
  log: pino({ level: "silent" }),
});
afterAll(() => jobs.stop());

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
  instead = undefined;
});

const destination = "https://example.com/menu";
const send = (links: readonly object[]) => rest("POST", "/v1/links/bulk/jobs", { links });
const total = async () => (await rest("GET", "/v1/links?pageSize=1")).json.totalCount;

async function ended(id: string) {
  return vi.waitFor(
    async () => {
      const answer = await rest("GET", `/v1/jobs/${id}`);
      expect(answer.json.completedAt).toBeDefined();
      return answer;
    },
    { timeout: 30_000, interval: 20 },
  );
}

describe("a job", () => {
  test("is answered 202 with itself and its address, and ends with the links in the order sent", async () => {
    const gate = Promise.withResolvers<void>();
    instead = async (place) => {
      await gate.promise;
      await runJob(place);
    };
    const answer = await send(
      Array.from({ length: 1_200 }, (_, i) => ({ destination, name: `link ${i}`, tags: ["all"] })),
    );
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({
      type: "JOB_TYPE_LINKS_BULK_CREATE",
      status: "JOB_STATUS_PENDING",
      itemCount: 1_200,
      statusUrl: `/v1/jobs/${answer.json.id}`,
    });
    expect(answer.headers).toMatchObject({ location: answer.json.statusUrl, "retry-after": "2" });
    const waiting = await rest("GET", answer.json.statusUrl);
    expect(waiting.json.status).toBe("JOB_STATUS_PENDING");
    expect(waiting.headers["retry-after"]).toBe("2");
    expect(waiting.headers.location).toBeUndefined();
    gate.resolve();
    const { json, headers } = await ended(answer.json.id);
    expect(json).toMatchObject({ status: "JOB_STATUS_SUCCEEDED", itemCount: 1_200 });
    expect(headers["retry-after"]).toBeUndefined();
    expect(json).not.toHaveProperty("error");
    const { linkIds } = json.linksBulkCreate;
    for (const index of [0, 499, 500, 1_199])
      expect((await rest("GET", `/v1/links/${linkIds[index]}`)).json.link.name).toBe(`link ${index}`);
    expect([new Set(linkIds).size, await total()]).toEqual([1_200, "1200"]);
  });

  test("over gRPC it is the same, and an unknown or foreign job is not found", async () => {
    const { job } = await workspace.client(LinksService).createBulkJob({ links: [{ destination }] });
    await ended(job?.id ?? "");
    const again = await workspace.client(JobsService).get({ id: job?.id ?? "" });
    expect(again.job).toMatchObject({ status: JobStatus.SUCCEEDED, itemCount: 1 });
    const other = await api.newWorkspace();
    expect((await other.rest("GET", `/v1/jobs/${job?.id}`)).status).toBe(404);
  });

  test.each([
    [
      "a bad field",
      [{ destination }, { destination: "nowhere" }],
      "INVALID_DESTINATION",
      "links[1].destination",
    ],
    ["a broken rule", [{ destination, name: "x".repeat(256) }], "INVALID_ARGUMENT", "links[0].name"],
    ["no destination", [{ destination }, {}], "INVALID_ARGUMENT", "links[1].destination"],
    [
      "the same short link twice",
      [
        { destination, shortlink: "twice-in-a-job" },
        { destination, shortlink: "twice-in-a-job" },
      ],
      "SHORTLINK_TAKEN",
      "links[1].shortlink",
    ],
  ])("with %s fails as a whole and says what bulk says", async (_name, links, reason, field) => {
    const synchronous = await rest("POST", "/v1/links/bulk", { links });
    expect(synchronous.json.error.codeType).toBe(reason);
    const { json } = await ended((await send(links)).json.id);
    expect(json).toMatchObject({ status: "JOB_STATUS_FAILED", error: { codeType: reason } });
    expect(json.error.message).toContain(field);
    expect(json).not.toHaveProperty("linksBulkCreate");
    expect(await total()).toBe("0");
  });

  test("makes none of its links when a late one is refused, of which the error names the place", async () => {
    const links = Array.from({ length: 1_200 }, (_, index) => ({ destination, shortlink: `late-${index}` }));
    links[1_100] = { destination, shortlink: "late-20" };
    const { json } = await ended((await send(links)).json.id);
    expect(json).toMatchObject({ status: "JOB_STATUS_FAILED", error: { codeType: "SHORTLINK_TAKEN" } });
    expect(json.error.message).toContain("links[1100].shortlink");
    expect(await total()).toBe("0");
  });

  test("takes 1 to as many links as configured", async () => {
    for (const links of [[], Array(1_201).fill({ destination })]) {
      const { status, json } = await send(links);
      expect([status, json.error.details[1].fieldViolations[0].field]).toEqual([400, "links"]);
    }
  });

  test("can be read for 24 hours after its end", async () => {
    const { id } = (await send([{ destination }])).json;
    await ended(id);
    clock.advance(23 * 60 * 60 * 1000);
    expect((await rest("GET", `/v1/jobs/${id}`)).status).toBe(200);
    clock.advance(61 * 60 * 1000);
    expect((await rest("GET", `/v1/jobs/${id}`)).status).toBe(404);
  });

  test("that runs twice at once, or again after its end, makes its links once", async () => {
    instead = async () => {};
    const { id } = (await send([{ destination }, { destination }])).json;
    const place = { workspaceId: workspace.workspaceId, jobId: id };
    await Promise.all([runJob(place), runJob(place), runJob(place)]);
    await runJob(place);
    expect((await ended(id)).json.linksBulkCreate.linkIds).toHaveLength(2);
    expect(await total()).toBe("2");
  });

  test("that crashes in three runs is given up, with nothing made", async () => {
    instead = async () => {};
    const { id } = (await send([{ destination }])).json;
    await sql`update jobs set runs = 3, status = 'RUNNING' where id = ${id}`.execute(db);
    await runJob({ workspaceId: workspace.workspaceId, jobId: id });
    expect((await ended(id)).json).toMatchObject({
      status: "JOB_STATUS_FAILED",
      error: { codeType: "INTERNAL" },
    });
    expect(await total()).toBe("0");
  });
});
