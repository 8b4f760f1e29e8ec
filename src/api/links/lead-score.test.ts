import { randomUUID } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { newId } from "../../lib/ids.ts";

const api = await startApi();
const { db, now } = api;

let workspace: TestWorkspace;
let linkId: string;
beforeEach(async () => {
  workspace = await api.newWorkspace();
  const { json } = await workspace.rest("POST", "/v1/links", {
    destination: "https://example.com",
    purpose: "B2B sales leads at trade fairs",
  });
  linkId = json.link.id;
});

const score = {
  lead_score: 67,
  engagement_level: 80,
  technological_aptitude: 0,
  recurring_interest: 50,
  recurring_scans: 2,
};

/** An event as the drain of the scan runtime writes it. */
async function addEvent(scored: Partial<typeof score> = score, of = linkId): Promise<string> {
  const at = now();
  const id = newId(at);
  await db
    .insertInto("events")
    .values({
      workspace_id: workspace.workspaceId,
      id,
      link_id: of,
      device_id: randomUUID(),
      visitor_id: null,
      action: "SCAN",
      visit_type: "RETURNING",
      counted: true,
      entrypoint: "https://short.test/menu",
      steps_total: 2,
      steps_reached: 2,
      outcome: "COMPLETED",
      ended_at: at,
      scored_at: scored.lead_score === undefined ? null : at,
      created_at: at,
      updated_at: at,
      ...scored,
    })
    .execute();
  return id;
}

const get = (of: string, eventId: string) => workspace.rest("GET", `/v1/links/${of}/lead-score/${eventId}`);

test("answers the stored score, with the factors that were measured and what it was weighed for", async () => {
  const eventId = await addEvent();
  const { status, json } = await get(linkId, eventId);
  expect(status).toBe(200);
  expect(json).toEqual({
    leadScore: 67,
    breakdown: { engagementLevel: 80, technologicalAptitude: 0, recurringInterest: 50 },
    recurringScans: 2,
    scoringContext: "b2b_enterprise",
    scoringRationale: "",
  });
  const message = await workspace.client(LinksService).getLeadScore({ linkId, eventId });
  expect(message).toMatchObject({ leadScore: 67, recurringScans: 2, scoringContext: "b2b_enterprise" });
  expect(message.breakdown).toMatchObject({ technologicalAptitude: 0 });
  expect(message.breakdown?.profileFit).toBeUndefined();
});

test("a first visit of a link without a purpose has neither earlier scans nor a context", async () => {
  await workspace.rest("PATCH", `/v1/links/${linkId}`, { purpose: "" });
  const { recurring_scans: _, ...first } = score;
  const { json } = await get(linkId, await addEvent(first));
  expect(json).not.toHaveProperty("recurringScans");
  expect(json.scoringContext).toBe("");
});

test("says that a visit has no score, and tells that from visits and links that are not there", async () => {
  const unscored = await addEvent({});
  const scored = await addEvent();
  const elsewhere = await addEvent(score, randomUUID());
  const reason = async (of: string, eventId: string) => {
    const { status, json } = await get(of, eventId);
    const call = workspace.client(LinksService).getLeadScore({ linkId: of, eventId });
    const error = ConnectError.from(await call.catch((cause: unknown) => cause));
    expect(error.rawMessage).toBe(json.error.message);
    return [status, json.error.codeType];
  };
  expect(await reason(linkId, unscored)).toEqual([404, "LEAD_SCORE_NOT_FOUND"]);
  expect(await reason(linkId, randomUUID())).toEqual([404, "NOT_FOUND"]);
  expect(await reason(linkId, elsewhere)).toEqual([404, "NOT_FOUND"]);
  expect(await reason(randomUUID(), scored)).toEqual([404, "NOT_FOUND"]);
  await workspace.rest("DELETE", `/v1/links/${linkId}`);
  expect(await reason(linkId, scored)).toEqual([404, "NOT_FOUND"]);
  const { json } = await workspace.rest("GET", "/v1/events?include=leadScore");
  expect(json.json.events.find(({ id }: { readonly id: string }) => id === scored).leadScore).toMatchObject({
    leadScore: 67,
  });
});
