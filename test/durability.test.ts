import { readFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { drained } from "./support/drained.ts";
import { makePages, startPages, whatIsWrong } from "./support/page-load.ts";
import { restApi } from "./support/rest-api.ts";
import { eventually, isExternalRun, type Service, startService } from "./support/start-service.ts";

// Visits do without the worker, which would draw the built-in templates after a first start: a second of the processor
// for each.
const env = { ROLES: "api,scan" };
/** Every test has a server of its own, which begins as the first start of this service left it. */
const first = await startService({ database: "own", env });
const dataFrom = first.dataDir;
await first.kill("SIGTERM");
afterAll(() => first.stop());

const connections = 16;
const browser =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

interface Load {
  /** The numbers of the visits that were answered with a redirect. */
  readonly redirected: ReadonlySet<number>;
  /** How many visits got another answer, or none. */
  refused(): number;
  stop(): Promise<void>;
}

/** Visitors who come again and again, each visit with a new number, until they are stopped. */
function startLoad(port: number, shortlink: string): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const redirected = new Set<number>();
  let refused = 0;
  let next = 1;
  let isStopped = false;
  const visit = (number: number) =>
    new Promise<void>((resolve) => {
      const sent = request({ agent, port, path: `/${shortlink}?m=${number}` }, (res) => {
        res.resume();
        res.on("close", () => {
          if (res.complete && res.statusCode === 302) redirected.add(number);
          else refused += 1;
          resolve();
        });
      });
      sent.on("error", () => {
        refused += 1;
        // A visitor without a connection waits a moment before the next try.
        setTimeout(resolve, 10);
      });
      sent.end();
    });
  const visitors = Promise.all(
    Array.from({ length: connections }, async () => {
      while (!isStopped) await visit(next++);
    }),
  );
  return {
    redirected,
    refused: () => refused,
    async stop() {
      isStopped = true;
      await visitors;
      agent.destroy();
    },
  };
}

async function makeLink(service: Service): Promise<string> {
  await post(service, "/v1/links", { destination: "https://example.com/", shortlink: "durable" });
  return "durable";
}

async function get(service: Service, path: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${service.credentials.accessToken}` },
  });
  return response.ok ? ((await response.json()) as Record<string, unknown>) : {}; // objects on all paths used here
}

// biome-ignore lint/suspicious/noExplicitAny: answers are compared, not typed.
async function post(service: Service, path: string, body: object): Promise<any> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.credentials.accessToken}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response.json();
}

/** The numbers of all visits in the database, in any order. */
async function recordedNumbers(service: Service): Promise<number[]> {
  const numbers: number[] = [];
  for (let pageToken = ""; ; ) {
    const query = new URLSearchParams({ pageSize: "1000", pageToken });
    const { json } = await get(service, `/v1/events?${query}`);
    const page = json as { events: { destination: string }[]; nextPageToken: string }; // the contract's
    for (const { destination } of page.events)
      numbers.push(Number(new URL(destination).searchParams.get("m")));
    if (page.nextPageToken === "") return numbers;
    pageToken = page.nextPageToken;
  }
}

function expectEachOnce(recorded: readonly number[], redirected: ReadonlySet<number>): void {
  const distinct = new Set(recorded);
  expect(recorded.length - distinct.size, "double").toBe(0);
  expect(
    [...redirected].filter((number) => !distinct.has(number)),
    "missing",
  ).toEqual([]);
}

async function visits(load: Load, count: number): Promise<void> {
  const before = load.redirected.size;
  await eventually(
    async () => load.redirected.size - before,
    (more) => more >= count,
    100_000,
  );
}

test("every redirected visitor is in the database once, even if the service is killed under load", async () => {
  let service = await startService({ database: "own", dataFrom, env });
  onTestFinished(() => service.stop());
  const load = startLoad(service.port, await makeLink(service));
  for (let round = 0; round < 2; round++) {
    await visits(load, 300);
    await service.kill("SIGKILL");
    service = await service.restart();
  }
  await visits(load, 300);
  await load.stop();
  await drained(service);
  const recorded = await recordedNumbers(service);
  expect(load.redirected.size).toBeGreaterThanOrEqual(900);
  expectEachOnce(recorded, load.redirected);
}, 300_000);

/** A link that shows visitors a page first. */
async function makePageLink(
  service: Service,
): Promise<{ readonly shortlink: string; readonly stepId: string }> {
  const shortlink = "durable-page";
  const { link } = await post(service, "/v1/links", { destination: "https://example.com/", shortlink });
  const steps = `/v1/links/${link.id}/workflow-steps`;
  const { workflowSteps } = (await get(service, steps)) as {
    workflowSteps: { id: string; eventAction: string }[];
  }; // the contract's
  const redirect = workflowSteps.find(({ eventAction }) => eventAction === "EVENT_ACTION_CLIENT_REDIRECT");
  const { workflowStep } = await post(service, steps, {
    eventAction: "EVENT_ACTION_MESSAGE_PAGE",
    payload: { messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } },
    insertBefore: redirect?.id,
  });
  return { shortlink, stepId: workflowStep.id };
}

test("a shown page is in the database after a kill, as a running visit", async () => {
  let service = await startService({ database: "own", dataFrom, env });
  onTestFinished(() => service.stop());
  const { shortlink, stepId } = await makePageLink(service);
  const visits = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const answer = await fetch(`${service.baseUrl}/${shortlink}`, { headers: { "user-agent": browser } });
      const [cookie = ""] = answer.headers.get("set-cookie")?.split(";") ?? [];
      return { cookie, lbid: /lbid=([\w-]{22})/.exec(await answer.text())?.[1] ?? "" };
    }),
  );
  // The pages were shown just now and are not yet in the database.
  await service.kill("SIGKILL");
  service = await service.restart();
  await drained(service);
  const { json } = await get(service, "/v1/events?pageSize=1000&include=journey,traces");
  const { events } = json as { events: { id: string; journey: object; traces: object[] }[] }; // the contract's
  const ids = visits.map(({ lbid }) => Buffer.from(lbid, "base64url").toString("hex"));
  expect(events).toHaveLength(visits.length);
  expect(new Set(events.map(({ id }) => id.replaceAll("-", "")))).toEqual(new Set(ids));
  for (const { journey, traces } of events) {
    expect(journey).toMatchObject({
      completed: false,
      stepsReached: 2,
    });
    expect(traces).toHaveLength(2);
  }
  const [{ lbid, cookie } = { lbid: "", cookie: "" }] = visits;
  const answer = await fetch(`${service.baseUrl}/${shortlink}/s/${stepId}?lbid=${lbid}`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "user-agent": browser },
    body: new URLSearchParams(),
  });
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "https://example.com/"]);
});

test("every answer that a visitor saw accepted is in the visitor's profile once, also when the service is killed under load", async () => {
  let service = await startService({ database: "own", dataFrom, env });
  onTestFinished(() => service.stop());
  const { port } = service;
  const load = startPages(
    port,
    await makePages(restApi(service.baseUrl, service.credentials.accessToken)),
    12,
  );
  const travelled = (count: number) => {
    const before = load.finished.size;
    return eventually(
      async () => load.finished.size - before,
      (more) => more >= count,
      100_000,
    );
  };
  for (let round = 0; round < 2; round++) {
    await travelled(30);
    await service.kill("SIGKILL");
    service = await service.restart();
  }
  await travelled(30);
  await load.stop();
  await drained(service);
  expect(load.finished.size).toBeGreaterThanOrEqual(90);
  expect(await whatIsWrong(restApi(service.baseUrl, service.credentials.accessToken), load)).toEqual([]);
}, 300_000);

test.skipIf(isExternalRun)(
  "redirects go on while the database is dead, and what happened meanwhile is in it afterwards, once",
  async () => {
    const service = await startService({ database: "own", dataFrom, env });
    onTestFinished(() => service.stop());
    const load = startLoad(service.port, await makeLink(service));
    await visits(load, 100);
    const refusedBefore = load.refused();
    for (let round = 0; round < 2; round++) {
      const [pid] = (await readFile(join(service.dataDir, "postgres/postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGKILL");
      await visits(load, 300);
      await eventually(
        async () => (await (await fetch(`${service.baseUrl}/health/ready`)).json()) as { status: string },
        ({ status }) => status === "ok",
        100_000,
      );
    }
    await load.stop();
    await drained(service);
    expect(load.refused() - refusedBefore).toBe(0);
    expectEachOnce(await recordedNumbers(service), load.redirected);
  },
  300_000,
);
