import { afterAll, expect, test } from "vitest";
import { startService } from "./support/start-service.ts";

let service = await startService();
afterAll(() => service.stop());

interface Answer {
  readonly sandbox: { readonly id: string };
  readonly accessToken: string;
  readonly link: { readonly id: string; readonly shortlink: string; readonly eventCount: string };
  readonly visitCount: number;
}

async function call(token: string, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text);
}

test("a sandbox of a running service is visited by people and by invented people, with and without the role of visits", async () => {
  const live = service.credentials.accessToken;
  const { sandbox, accessToken } = await call(live, "POST", "/v1/sandboxes", { name: "Trial" });
  const { link } = await call(accessToken, "POST", "/v1/links", { destination: "https://example.com/menu" });
  const visit = () =>
    fetch(`http://127.0.0.1:${service.port}/${link.shortlink}?testClock=2030-01-01T00:00:00Z`, {
      redirect: "manual",
    });
  const sent = await visit();
  expect([sent.status, sent.headers.get("location")]).toEqual([302, "https://example.com/menu"]);
  expect(sent.headers.get("x-service-sandbox")).toBe("true");
  const simulate = (count: number) =>
    call(live, "POST", `/v1/sandboxes/${sandbox.id}:simulateVisits`, { count, seed: 3 });
  expect((await simulate(200)).visitCount).toBe(200);
  expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  service = await service.restart({ ROLES: "api" });
  expect((await simulate(100)).visitCount).toBe(100);
  const counted = async () => (await call(accessToken, "GET", `/v1/links/${link.id}`)).link.eventCount;
  // Fetch is no person, so its visit is not counted.
  expect(await counted()).toBe("300");
});
