import { expect, onTestFinished, test } from "vitest";
import { type CutOff, cutOff } from "../support/cut-off.ts";
import { drained } from "../support/drained.ts";
import { endOf, makeLongJourney, travel, wrongJourneys } from "../support/long-journey.ts";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { eventually, type Service, startService } from "../support/start-service.ts";

/*
 * A whole service loses its connection to the database. Visitors go on, and callers of the API are told to come back.
 * Afterwards, everything that visitors did is stored.
 */

/** Starts two processes: one that keeps the database, for looking up results, and one that can be cut off. */
async function startCutOff(): Promise<{
  readonly api: RestApi;
  readonly service: Service;
  readonly way: CutOff;
}> {
  const observer = await startService();
  onTestFinished(() => observer.stop());
  const way = await cutOff(observer.env.DATABASE_URL ?? "");
  onTestFinished(() => way.close());
  const service = await startService({ beside: observer, env: { DATABASE_URL: way.url } });
  onTestFinished(() => service.stop());
  return { api: restApi(observer.baseUrl, observer.credentials.accessToken), service, way };
}

async function readiness({ baseUrl }: Service): Promise<{ readonly status: number; readonly json: object }> {
  const answer = await fetch(`${baseUrl}/health/ready`);
  return { status: answer.status, json: (await answer.json()) as object }; // the port's own
}

test("while the database is away, visitors finish their visits and callers are told to retry, and afterwards each visit is stored once", async () => {
  const { api, service, way } = await startCutOff();
  const link = await makeLongJourney(api);
  // From here on, the link is in memory.
  expect(await travel(service.port, link, "early@example.com")).toBe(endOf("early@example.com"));
  expect(await readiness(service)).toEqual({ status: 200, json: { status: "ok" } });

  way.cut();
  const down = { status: 200, json: { status: "degraded", failed: ["database"] } };
  await eventually(
    () => readiness(service),
    (seen) => JSON.stringify(seen) === JSON.stringify(down),
  );
  const emails = Array.from({ length: 30 }, (_, n) => `late${n}@example.com`);
  const ends = await Promise.all(emails.map((email) => travel(service.port, link, email)));
  expect(ends).toEqual(emails.map(endOf));
  const refused = await fetch(`${service.baseUrl}/v1/links`, {
    headers: { authorization: `Bearer ${service.credentials.accessToken}` },
  });
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
  await refused.body?.cancel();

  way.mend();
  await drained(service);
  expect(await wrongJourneys(api, link, ["early@example.com", ...emails])).toEqual([]);
}, 120_000);
