import { expect, test } from "vitest";
import { TimeSeriesService } from "../../../gen/signpost/v1/time_series_service_pb.js";
import { startApi } from "../../../test/support/start-api.ts";

// That the numbers are right is proven with those of all other operations in ../analytics-data.

const api = await startApi();
const workspace = await api.newWorkspace();
const path = "/v1/timeseries/events";

test("hours without visits are answered as zeros, 720 and a begun one by default", async () => {
  const { timeSeries } = (await workspace.rest("POST", path)).json;
  expect(timeSeries).toMatchObject({ totalData: 0, totalIntervals: 721 });
  expect(new Set(timeSeries.data.map(({ eventCount }: { eventCount: number }) => eventCount))).toEqual(
    new Set([0]),
  );
  const overGrpc = await workspace.client(TimeSeriesService).getEventsTimeSeries({});
  expect(overGrpc.timeSeries?.data).toHaveLength(721);
});

test("a range may have 2,000 intervals and not one more", async () => {
  const startDate = "2024-02-29T00:00:00Z";
  const through = (seconds: number) => new Date(Date.parse(startDate) + seconds * 1000).toISOString();
  const ask = (endDate: string) => workspace.rest("POST", path, { startDate, endDate, intervalInMinutes: 5 });
  expect((await ask(through(2_000 * 300 - 1))).json.timeSeries.totalIntervals).toBe(2_000);
  const refused = await ask(through(2_000 * 300));
  expect(refused.status).toBe(400);
  expect(refused.json.error.message).toBe(
    "intervalInMinutes: makes more than 2,000 intervals: give 6 or more, or a shorter range",
  );
});

const march = { startDate: "2024-03-01T00:00:00Z" };

test.each<[object, string, RegExp]>([
  [{ intervalInMinutes: 4 }, "intervalInMinutes", /5/],
  [{ intervalInMinutes: -60 }, "intervalInMinutes", /5/],
  [{ ...march, endDate: "2024-02-29T00:00:00Z" }, "", /startDate must not be after endDate/],
  [{ ...march, endDate: "2025-04-06T00:00:00Z" }, "startDate", /at most 400 days before the end/],
  [{ ...march, endDate: "2025-04-05T00:00:00Z" }, "intervalInMinutes", /give 289 or more/],
  [{ linkId: "menu" }, "linkId", /UUID/],
])("%j is refused", async (request, field, advice) => {
  const { status, json } = await workspace.rest("POST", path, request);
  expect(status).toBe(400);
  expect(json.error.message).toMatch(advice);
  expect(json.error.message.startsWith(field)).toBe(true);
});
