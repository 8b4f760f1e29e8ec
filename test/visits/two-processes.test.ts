import { expect, onTestFinished, test, vi } from "vitest";
import { restApi } from "../support/rest-api.ts";
import { startService } from "../support/start-service.ts";
import { formAction, newVisitor } from "../support/visitor.ts";
import { makeWorkflow } from "../support/workflows.ts";

/** Two processes on one database, as behind a load balancer. */
async function startTwo() {
  const first = await startService();
  onTestFinished(() => first.stop());
  const second = await startService({ beside: first });
  onTestFinished(() => second.stop());
  return { first, second, api: restApi(first.baseUrl, first.credentials.accessToken) };
}

const password = {
  action: "PASSWORD_VERIFY",
  payload: { password: { title: "Members", password: "sesame" } },
};
const message = {
  action: "MESSAGE_PAGE",
  payload: { messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } },
};

test("an edit on one process is what the other serves within a second, and a visit goes on across both", async () => {
  const { first, second, api } = await startTwo();
  const link = await makeWorkflow(api, "password", {
    password: { ...password, next: "message" },
    message: { ...message, next: "redirect" },
  });
  const here = newVisitor(first.port);
  const there = newVisitor(second.port);
  const page = await here.get(`/${link.shortlink}`);
  // The same browser, whose next request another process gets.
  for (const [name, value] of here.cookies) there.cookies.set(name, value);
  const passed = await there.post(formAction(page), { password: "sesame" });
  expect([passed.status, passed.location]).toEqual([303, expect.stringContaining(link.steps.message ?? "")]);
  const greeting = await here.get(passed.location);
  expect(greeting.body).toContain("Hello");

  // In memory of both by now.
  const path = `/v1/links/${link.linkId}/workflow-steps/${link.steps.message}`;
  const changed = { ...message.payload.messagePage, title: "Good morning" };
  await api.call("PATCH", path, { payload: { messagePage: changed } });
  await vi.waitFor(
    async () => {
      for (const visitor of [here, there])
        expect((await visitor.get(passed.location)).body).toContain("Good morning");
    },
    { timeout: 10_000, interval: 20 },
  );
  const done = await here.post(passed.location);
  expect([done.status, done.location]).toEqual([302, "https://example.com/"]);
}, 60_000);

test("no visit sees half of an edit, while one edit follows the other", async () => {
  const { first, second, api } = await startTwo();
  const link = await makeWorkflow(
    api,
    "actor",
    {
      actor: {
        action: "DEVICE_ACTOR_CONDITION",
        payload: {
          deviceActorCondition: {
            options: [{ id: "v0", name: "People", value: "DEVICE_ACTOR_CONDITION_VALUE_HUMAN" }],
          },
        },
        next: { v0: "redirect" },
      },
    },
    { fallbackDestination: "https://example.com/half" },
  );
  // Each edit gives the option another id, so that its payload and its connection change together or not at all.
  const path = `/v1/links/${link.linkId}/workflow-steps/${link.steps.actor}`;
  const edit = (version: string) =>
    api.call("PATCH", path, {
      payload: {
        deviceActorCondition: {
          options: [
            {
              id: version,
              name: "People",
              value: "DEVICE_ACTOR_CONDITION_VALUE_HUMAN",
              nextStepId: link.steps.redirect,
            },
          ],
        },
      },
    });
  let isEditing = true;
  const editors = Array.from({ length: 3 }, async (_, editor) => {
    for (let version = 1; version <= 60; version++) await edit(`v${editor}-${version}`);
  });
  const locations = new Map<string, number>();
  const visitors = [first, second].map(async ({ port }) => {
    const visitor = newVisitor(port);
    while (isEditing) {
      const { location } = await visitor.get(`/${link.shortlink}`);
      locations.set(location, (locations.get(location) ?? 0) + 1);
    }
  });
  await Promise.all(editors);
  isEditing = false;
  await Promise.all(visitors);
  expect([...locations.keys()]).toEqual(["https://example.com/"]);
  expect(locations.get("https://example.com/")).toBeGreaterThan(20);
}, 120_000);
