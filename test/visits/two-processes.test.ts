import { beforeAll, expect, test, vi } from "vitest";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { type Service, startService } from "../support/start-service.ts";
import { formAction, newVisitor } from "../support/visitor.ts";
import { type MadeWorkflow, makeWorkflow } from "../support/workflows.ts";

/** Two processes on one database, as behind a load balancer. */
let first: Service;
let second: Service;
let api: RestApi;

beforeAll(async () => {
  first = await startService();
  second = await startService({ beside: first });
  api = restApi(first.baseUrl, first.credentials.accessToken);
  return async () => {
    await second.stop();
    await first.stop();
  };
});

const password = {
  action: "PASSWORD_VERIFY",
  payload: { password: { title: "Members", password: "sesame" } },
};
const message = {
  action: "MESSAGE_PAGE",
  payload: { messagePage: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" } },
};

test("the other process serves an edit within a second, and a visit continues across both", async () => {
  const link = await makeWorkflow(api, "password", {
    password: { ...password, next: "message" },
    message: { ...message, next: "redirect" },
  });
  const here = newVisitor(first.port);
  const there = newVisitor(second.port);
  const page = await here.get(`/${link.shortlink}`);
  // The same browser; another process gets its next request.
  for (const [name, value] of here.cookies) there.cookies.set(name, value);
  const passed = await there.post(formAction(page), { password: "sesame" });
  expect([passed.status, passed.location]).toEqual([303, expect.stringContaining(link.steps.message ?? "")]);
  const greeting = await here.get(passed.location);
  expect(greeting.body).toContain("Hello");

  // By now both processes hold the link in memory.
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
});

test("no visit to either process sees half of an edit while editors work on both", async () => {
  const processes = [first, second];
  const links = await Promise.all([makeForked(api), makeForked(api)]);
  const destinations = new Map<string, number>();
  const visitsMin = 200;
  let visits = 0;
  let isEditing = true;
  // Each link has an editor on each process.
  const editors = processes.flatMap(({ baseUrl }, process) => {
    const door = restApi(baseUrl, first.credentials.accessToken);
    return links.map(async (link) => {
      for (let version = 1; version <= 30 || visits < visitsMin; version++)
        await editFork(door, link, { id: `v${process}-${version}`, exit: exits[version % 2] ?? "left" });
    });
  });
  const visitors = processes.flatMap(({ port }) =>
    links.map(async ({ shortlink }) => {
      const visitor = newVisitor(port);
      while (isEditing) {
        const { status, location } = await visitor.get(`/${shortlink}`);
        const seen = location || `status ${status}`;
        destinations.set(seen, (destinations.get(seen) ?? 0) + 1);
        visits++;
      }
    }),
  );
  const edited = Promise.all(editors).finally(() => {
    isEditing = false;
  });
  await Promise.all([edited, ...visitors]);
  const whole = exits.map((exit) => `https://example.com/${exit}`);
  expect([...destinations.keys()].filter((seen) => !whole.includes(seen))).toEqual([]);
  // Both processes end up with the last edit.
  for (const link of links)
    for (const exit of exits) {
      await editFork(api, link, { id: `last-${exit}`, exit });
      await vi.waitFor(
        async () => {
          for (const { port } of processes)
            expect((await newVisitor(port).get(`/${link.shortlink}`)).location).toBe(
              `https://example.com/${exit}`,
            );
        },
        { timeout: 10_000, interval: 20 },
      );
    }
}, 120_000);

const exits = ["left", "right"] as const;
type Exit = (typeof exits)[number];

/** A link with a condition whose only option leads to one of two redirects. */
function makeForked(api: RestApi): Promise<MadeWorkflow> {
  const redirect = (exit: Exit) => ({
    action: "CLIENT_REDIRECT",
    payload: { clientRedirect: { destination: `https://example.com/${exit}` } },
  });
  const people = { id: "v0", name: "People", value: "DEVICE_ACTOR_CONDITION_VALUE_HUMAN" };
  const actor = {
    action: "DEVICE_ACTOR_CONDITION",
    payload: { deviceActorCondition: { options: [people] } },
    next: { v0: "left" },
  };
  const steps = { left: redirect("left"), right: redirect("right"), actor };
  return makeWorkflow(api, "actor", steps, { fallbackDestination: "https://example.com/half" });
}

/**
 * Gives the option a new id and a new exit. A visit that mixed the new option with the old connections, or the reverse,
 * would find no next step and get the fallback.
 */
async function editFork(
  api: RestApi,
  { linkId, steps }: MadeWorkflow,
  { id, exit }: { readonly id: string; readonly exit: Exit },
): Promise<void> {
  const option = { id, name: "People", value: "DEVICE_ACTOR_CONDITION_VALUE_HUMAN", nextStepId: steps[exit] };
  await api.call("PATCH", `/v1/links/${linkId}/workflow-steps/${steps.actor}`, {
    payload: { deviceActorCondition: { options: [option] } },
  });
}
