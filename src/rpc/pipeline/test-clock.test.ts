import { randomUUID } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import { beforeAll, expect, test } from "vitest";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { startApi, type TestSandbox } from "../../../test/support/start-api.ts";

const api = await startApi();
const header = "X-Service-Test-Clock";
const evening = "2031-12-24T18:30:00Z";

interface Shop extends Pick<TestSandbox, "rest" | "token"> {
  readonly linkId: string;
}

let shop: Shop;
beforeAll(async () => {
  shop = await openShop(await api.newSandbox());
});

/** A link that leads to another place between 18 and 20 o'clock. */
async function openShop({ rest, token }: Pick<TestSandbox, "rest" | "token">): Promise<Shop> {
  const made = await rest("POST", "/v1/links", { destination: "https://shop.example/" });
  const linkId = made.json.link.id;
  const [, day] = made.json.workflowSteps;
  const steps = `/v1/links/${linkId}/workflow-steps`;
  const night = await rest("POST", steps, {
    eventAction: "EVENT_ACTION_CLIENT_REDIRECT",
    payload: { clientRedirect: { destination: "https://bar.example/" } },
  });
  const range = { id: "evening", startTime: "18:00", endTime: "20:00" };
  const asked = await rest("POST", steps, {
    eventAction: "EVENT_ACTION_TIME_OF_DAY_CONDITION",
    payload: {
      timeOfDayCondition: {
        ranges: [{ ...range, nextStepId: night.json.workflowStep.id }],
        elseNextStepId: day.id,
      },
    },
  });
  expect(asked.status, asked.text).toBe(200);
  const entry = made.json.workflowSteps[0].id;
  const linked = await rest("PUT", `${steps}/${entry}/branches/next/connection`, {
    nextStepId: asked.json.workflowStep.id,
  });
  expect(linked.status, linked.text).toBe(200);
  return { rest, token, linkId };
}

function simulated({ rest, linkId }: Shop, body: object, headers: Record<string, string>) {
  return rest("POST", `/v1/links/${linkId}/workflow-steps:simulate`, body, headers);
}

test("sets the time that a simulation sees, over REST and gRPC", async () => {
  const { json } = await simulated(shop, {}, { [header]: evening });
  expect(JSON.stringify(json)).toContain("https://bar.example/");
  expect(JSON.stringify(json)).toContain("2031-12-24T18:30:00.000Z");
  const noon = await simulated(shop, {}, { [header]: "2031-12-24T12:00:00+00:00" });
  expect(JSON.stringify(noon.json)).toContain("https://shop.example/");
  for (const protocol of ["grpc", "grpc-web", "connect"] as const) {
    const steps = api.client(WorkflowStepsService, shop.token, protocol);
    const answer = await steps.simulate({ linkId: shop.linkId }, { headers: { [header]: evening } });
    expect(
      JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ).toContain("https://bar.example/");
  }
});

test("is a part of what an idempotency key was used for", async () => {
  const key = { "idempotency-key": randomUUID() };
  const first = await simulated(shop, {}, { ...key, [header]: evening });
  // The same moment, written otherwise.
  const again = await simulated(shop, {}, { ...key, [header]: "2031-12-24T19:30:00+01:00" });
  expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([200, first.text, "true"]);
  for (const other of [{ [header]: "2031-12-24T12:00:00Z" }, {}]) {
    const { status, json } = await simulated(shop, {}, { ...key, ...other });
    expect([status, json.error.codeType]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  }
});

test("gives way to a time that the call names", async () => {
  const { json } = await simulated(shop, { visit: { at: "2031-12-24T12:00:00Z" } }, { [header]: evening });
  expect(JSON.stringify(json)).toContain("https://shop.example/");
});

test("a clock that is no time is refused by the header's name, and nothing is written", async () => {
  for (const clock of ["", "noon", "2026-12-24", "2026-12-24T18:00:00", "1999-01-01T00:00:00Z"]) {
    const { status, json } = await shop.rest(
      "POST",
      "/v1/links",
      { destination: "https://a.example/" },
      {
        [header]: clock,
      },
    );
    expect([status, json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(json.error.details[1].fieldViolations[0].field).toBe(header);
    const steps = api.client(WorkflowStepsService, shop.token);
    const refused = await steps
      .simulate({ linkId: shop.linkId }, { headers: { [header]: clock } })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConnectError);
    expect(String(refused)).toContain(header);
  }
  expect((await shop.rest("GET", "/v1/links")).json.totalCount).toBe("1");
});

test("is not read from a live token, even when it is no time", async () => {
  const live = await openShop(await api.newWorkspace());
  const { json, status } = await simulated(live, {}, { [header]: evening });
  expect(JSON.stringify(json)).not.toContain("2031-12-24");
  expect([status, (await simulated(live, {}, { [header]: "noon" })).status]).toEqual([200, 200]);
});

test("changes neither the times of records nor the end of tokens", async () => {
  const late = { [header]: "2099-01-01T00:00:00Z" };
  const before = api.now();
  const { status, json } = await shop.rest("POST", "/v1/links", { destination: "https://a.example/" }, late);
  expect(status).toBe(200);
  expect(Date.parse(json.link.createdAt) - before.getTime()).toBeLessThan(60_000);
});
