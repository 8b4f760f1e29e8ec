import { expect, test } from "vitest";
import { gatedStore } from "../../test/support/gated-store.ts";
import { insertWorkflow, type TestWorkflow } from "../../test/support/insert-workflow.ts";
import { type Answer, startTestScan, type TestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { formAction, withoutSeal } from "../../test/support/visitor.ts";
import { openDatabase } from "../db/open.ts";
import { createTurns } from "../db/turns.ts";
import { seal } from "../lib/sealed.ts";

const database = await testDatabase();
const { db } = database;
const passwordKey = Buffer.from("00".repeat(32), "hex");
const minute = 60_000;

/** A choice that matches when an attribute of the visitor is known. */
const knows = (id: string, attributeKey: string) => ({
  id,
  attributeKey,
  operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_EXISTS",
  comparisonValue: "",
});

/** A PIN, a form, a condition on what the form asked, a choice, and a redirect. */
async function makeJourney(): Promise<TestWorkflow<string>> {
  const link = await insertWorkflow(db, {
    entry: { action: "LINK_VISIT", next: { next: "pin" } },
    pin: { action: "PASSWORD_VERIFY", payload: { title: "PIN" }, next: { next: "form" } },
    form: {
      action: "FORM_SUBMIT",
      payload: {
        formTitle: "Tell us",
        formFields: [
          { id: "mail", key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL", order: 1 },
          { id: "size", key: "size", label: "Size", type: "FORM_FIELD_TYPE_TEXT", order: 2 },
        ],
      },
      next: { next: "known" },
    },
    known: {
      action: "VISITOR_DATA_CONDITION",
      payload: { options: [knows("told", "size")] },
      next: { told: "choice", else: "lost" },
    },
    choice: {
      action: "MULTI_LINK",
      payload: {
        title: "Where to?",
        buttons: [
          { id: "a", label: "A" },
          { id: "b", label: "B" },
        ],
      },
      capture: { enabled: true, writes: [{ key: "chosen", value: "{{choice.id}}" }] },
      next: { a: "a", b: "b" },
    },
    a: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/a" } },
    b: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/b" } },
    lost: { action: "THANK_YOU_PAGE", payload: { title: "Lost" } },
  });
  const password = seal(Buffer.from("4711"), passwordKey, `${link.workspaceId}/${link.steps.pin}`);
  await db
    .updateTable("workflow_steps")
    .set({ payload: JSON.stringify({ title: "PIN", password: password.toString("base64") }) })
    .where("workspace_id", "=", link.workspaceId)
    .where("id", "=", link.steps.pin ?? "")
    .execute();
  return link;
}

let people = 0;

/** A browser with an address of its own, whose requests any runtime can get. */
function newBrowser() {
  people += 1;
  const address = `203.0.${(people >> 8) & 255}.${people & 255}`;
  let cookie = "";
  async function send(scan: TestScan, method: string, path: string, fields?: Record<string, string>) {
    const answer = await scan.ask(path, {
      method,
      address,
      headers: {
        "user-agent": `Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/${people}.0`,
        ...(cookie !== "" && { cookie }),
        ...(fields && {
          origin: "https://go.example",
          "content-type": "application/x-www-form-urlencoded",
        }),
      },
      ...(fields && { body: String(new URLSearchParams(fields)) }),
    });
    cookie = answer.headers["set-cookie"]?.split(";")[0] ?? cookie;
    return answer;
  }
  return {
    email: `person${people}@example.com`,
    get: (scan: TestScan, path: string) => send(scan, "GET", path),
    post: (scan: TestScan, path: string, fields: Record<string, string>) => send(scan, "POST", path, fields),
  };
}

const locationOf = ({ headers }: Answer) => headers.location ?? "";

/** Makes the whole journey, with each request at the next of the runtimes in turn. Returns the last answer. */
async function travel(
  scans: readonly TestScan[],
  { shortlink }: TestWorkflow<string>,
  button: "a" | "b",
  email?: string,
) {
  const browser = newBrowser();
  let turn = 0;
  const next = () => scans[turn++ % scans.length] ?? scans[0] ?? expect.fail("no runtime");
  const pin = await browser.get(next(), `/${shortlink}?utm=1`);
  const form = await browser.get(
    next(),
    locationOf(await browser.post(next(), formAction(pin), { password: "4711" })),
  );
  const told = { "field-mail": email ?? browser.email, "field-size": "large" };
  const choice = await browser.get(next(), locationOf(await browser.post(next(), formAction(form), told)));
  const end = await browser.post(next(), formAction(choice), { button });
  return { browser, pin, form, choice, end };
}

async function eventsOf({ workspaceId, id }: TestWorkflow<string>) {
  const events = await db
    .selectFrom("events")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("link_id", "=", id)
    .orderBy("id")
    .execute();
  return Promise.all(
    events.map(async (event) => {
      const traces = await db
        .selectFrom("visit_traces")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .where("event_id", "=", event.id)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return { ...event, traces };
    }),
  );
}

async function profileOf(workspaceId: string, email: string) {
  const { id } = await db
    .selectFrom("visitors")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email", "=", email)
    .executeTakeFirstOrThrow();
  const attributes = await db
    .selectFrom("visitor_attributes")
    .select(["key", "value"])
    .where("workspace_id", "=", workspaceId)
    .where("visitor_id", "=", id)
    .execute();
  return { id, attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, value])) };
}

const way = [
  "LINK_VISIT",
  "PASSWORD_VERIFY",
  "FORM_SUBMIT",
  "VISITOR_DATA_CONDITION",
  "MULTI_LINK",
  "CLIENT_REDIRECT",
];

async function expectWhole(link: TestWorkflow<string>, emails: readonly string[], destination: string) {
  const events = await eventsOf(link);
  expect(events).toHaveLength(emails.length);
  for (const { traces, ...event } of events) {
    expect(traces.map(({ step_action }) => step_action)).toEqual(way);
    expect(traces.every(({ completed_at }) => completed_at !== null)).toBe(true);
    expect(event).toMatchObject({ outcome: "COMPLETED", destination, steps_reached: 5, steps_total: 5 });
    expect(event.lead_score).not.toBeNull();
  }
  const visitors = new Set<string>();
  for (const email of emails) {
    const { id, attributes } = await profileOf(link.workspaceId, email);
    expect(attributes).toEqual({ size: "large", chosen: "a" });
    visitors.add(id);
  }
  expect(new Set(events.map(({ visitor_id }) => visitor_id))).toEqual(visitors);
  expect(await db.selectFrom("visits").selectAll().where("link_id", "=", link.id).execute()).toEqual([]);
}

test("a visit that alternates between two processes goes on while neither stores anything, and is later stored once, in order", async () => {
  const stores = [await gatedStore(database), await gatedStore(database)];
  const scans = await Promise.all(stores.map(({ store }) => startTestScan(database, { store })));
  const link = await makeJourney();
  const visits = await Promise.all(Array.from({ length: 10 }, () => travel(scans, link, "a")));
  for (const { end } of visits)
    expect([end.status, locationOf(end)]).toEqual([302, "https://example.com/a?utm=1"]);
  expect(await eventsOf(link)).toEqual([]);
  // The process that has the later answers stores first, and both die between storing and forgetting.
  const [first, second] = scans;
  for (const store of stores.toReversed()) {
    store.dieAfterNext();
    store.open();
  }
  await second?.drained().catch(() => {});
  await first?.drained();
  await second?.drained();
  await expectWhole(
    link,
    visits.map(({ browser }) => browser.email),
    "https://example.com/a?utm=1",
  );
}, 120_000);

test("a step runs no statement when the workflow asks nothing that only the database knows", async () => {
  const { store, open } = await gatedStore(database);
  const scan = await startTestScan(database, { store });
  const link = await insertWorkflow(db, {
    entry: { action: "LINK_VISIT", next: { next: "page" } },
    page: {
      action: "MESSAGE_PAGE",
      payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
      next: { next: "choice" },
    },
    choice: { action: "MULTI_LINK", payload: { buttons: [{ id: "a", label: "A" }] }, next: { a: "done" } },
    done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/" } },
  });
  const browser = newBrowser();
  const page = await browser.get(scan, `/${link.shortlink}`);
  const before = scan.statements();
  const choice = await browser.get(scan, locationOf(await browser.post(scan, formAction(page), {})));
  expect((await browser.post(scan, formAction(choice), { button: "a" })).status).toBe(302);
  expect(scan.statements() - before).toBe(0);
  open();
});

test("without the database, a journey with a password, a form and a condition goes on, with the same budget of password tries", async () => {
  const { store, open } = await gatedStore(database);
  const away = openDatabase({
    connection: { host: "127.0.0.1", port: 1, user: "nobody", database: "nothing" },
    poolSize: 2,
    statementTimeoutMs: 1_000,
    onError: () => {},
  });
  const scan = await startTestScan(database, { store, turns: createTurns(away.db, { connections: 2 }) });
  const link = await makeJourney();
  const { end, browser } = await travel([scan], link, "a");
  expect([end.status, locationOf(end)]).toEqual([302, "https://example.com/a?utm=1"]);
  const guesser = newBrowser();
  const pin = await guesser.get(scan, `/${link.shortlink}`);
  const statuses: number[] = [];
  for (const password of ["1", "2", "3", "4", "5", "4711"])
    statuses.push((await guesser.post(scan, formAction(pin), { password })).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  // A visitor who has only the lbid has to wait for the database.
  expect((await guesser.get(scan, withoutSeal(formAction(pin)))).status).toBe(503);
  await db.deleteFrom("password_attempts").where("link_id", "=", link.id).execute();
  open();
  await scan.drained();
  await away.close();
  const [whole] = await eventsOf(link);
  expect(whole?.traces.map(({ step_action }) => step_action)).toEqual(way);
  expect((await profileOf(link.workspaceId, browser.email)).attributes).toEqual({
    size: "large",
    chosen: "a",
  });
});

test("a visitor with a changed seal, or with another visit's seal, begins a new visit and changes no other visit", async () => {
  const scan = await startTestScan(database);
  const [link, foreign] = [await makeJourney(), await makeJourney()];
  const browser = newBrowser();
  const pin = await browser.get(scan, `/${link.shortlink}`);
  const own = new URL(formAction(pin), "https://go.example");
  const stranger = newBrowser();
  const others = [
    formAction(await stranger.get(scan, `/${link.shortlink}`)),
    formAction(await stranger.get(scan, `/${foreign.shortlink}`)),
    // A page that is further than this visit has come.
    locationOf(
      await stranger.post(scan, formAction(await stranger.get(scan, `/${link.shortlink}`)), {
        password: "4711",
      }),
    ),
  ].map((path) => new URL(path, "https://go.example").searchParams.get("visit") ?? "");
  const sealed = own.searchParams.get("visit") ?? "";
  const changed = `${sealed.slice(0, 40)}${sealed[40] === "A" ? "B" : "A"}${sealed.slice(41)}`;
  for (const forged of [
    ...others,
    changed,
    sealed.slice(0, -1),
    sealed.slice(0, 30),
    "x",
    "A".repeat(4_000),
  ]) {
    own.searchParams.set("visit", forged);
    for (const stepId of [link.steps.pin, link.steps.choice]) {
      const path = `/${link.shortlink}/s/${stepId}${own.search}`;
      for (const answer of [
        await browser.get(scan, path),
        await browser.post(scan, path, { password: "4711", button: "a" }),
      ])
        expect([answer.status, locationOf(answer)], forged).toEqual([303, `/${link.shortlink}`]);
    }
  }
  // The seal of the other link's visit opens nothing there for this visit either.
  own.searchParams.set("visit", sealed);
  expect((await browser.get(scan, `/${foreign.shortlink}/s/${foreign.steps.pin}${own.search}`)).status).toBe(
    303,
  );
  await scan.drained();
  const events = await eventsOf(link);
  expect(events.map(({ steps_reached }) => steps_reached)).toEqual([2, 2, 3]);
});

test("in one process, older pages, other tabs and repeated posts lead to where the visit stands", async () => {
  const scan = await startTestScan(database);
  const link = await makeJourney();
  const { browser, pin, form, choice } = await travel([scan], link, "a");
  // The browser posts everything once more, from the pages that the Back button brings up.
  for (const [page, fields] of [
    [pin, { password: "wrong" }],
    [form, { "field-mail": "another@example.com", "field-size": "small" }],
    [choice, { button: "b" }],
  ] as const) {
    const again = await browser.post(scan, formAction(page), fields);
    expect([again.status, locationOf(again)]).toEqual([302, "https://example.com/a?utm=1"]);
  }
  await scan.drained();
  await expectWhole(link, [browser.email], "https://example.com/a?utm=1");

  const other = newBrowser();
  const page = await other.get(scan, `/${link.shortlink}`);
  const tabs = await Promise.all(
    Array.from({ length: 5 }, () => other.post(scan, formAction(page), { password: "4711" })),
  );
  const places = tabs.map((answer) => [answer.status, withoutSeal(locationOf(answer))]);
  expect(new Set(places.map(String)).size).toBe(1);
  await scan.drained();
  const [, event] = await eventsOf(link);
  expect(event?.traces.map(({ step_action }) => step_action)).toEqual(way.slice(0, 3));
});

test("of two tabs at two processes, the tab that is stored first moves the visit, and the values of both are kept", async () => {
  const scans = [await startTestScan(database), await startTestScan(database)] as const;
  const link = await makeJourney();
  const browser = newBrowser();
  const pin = await browser.get(scans[0], `/${link.shortlink}`);
  const to = locationOf(await browser.post(scans[0], formAction(pin), { password: "4711" }));
  const form = formAction(await browser.get(scans[0], to));
  const answers = { "field-mail": browser.email, "field-size": "large" };
  const one = await browser.post(scans[0], form, answers);
  await scans[0].drained();
  const other = await browser.post(scans[1], form, { ...answers, "field-size": "small" });
  expect([one.status, other.status]).toEqual([303, 303]);
  await scans[1].drained();
  // The tab that came second goes on.
  const end = await browser.post(scans[1], formAction(await browser.get(scans[1], locationOf(other))), {
    button: "b",
  });
  expect(locationOf(end)).toBe("https://example.com/b");
  await scans[1].drained();
  const late = await browser.post(scans[0], formAction(await browser.get(scans[0], locationOf(one))), {
    button: "a",
  });
  expect(locationOf(late)).toBe("https://example.com/a");
  await scans[0].drained();
  const [event] = await eventsOf(link);
  expect(event).toMatchObject({
    outcome: "COMPLETED",
    destination: "https://example.com/b",
    steps_reached: 5,
  });
  const traces = event?.traces ?? [];
  expect(traces.find(({ step_action }) => step_action === "FORM_SUBMIT")?.data).toMatchObject({
    form: { fields: [{ value: browser.email }, { value: "large" }] },
  });
  expect(new Set(traces.map(({ step_id }) => step_id)).size).toBe(traces.length);
  // The profile has the newest of the values.
  expect((await profileOf(link.workspaceId, browser.email)).attributes).toEqual({
    size: "small",
    chosen: "a",
  });
});

test("a visitor who comes back after 30 minutes begins a new visit, and a reload before that keeps the visit", async () => {
  const clock = { ms: Date.now() };
  const scan = await startTestScan(database, { now: () => new Date(clock.ms) });
  const link = await makeJourney();
  const browser = newBrowser();
  const path = formAction(await browser.get(scan, `/${link.shortlink}`));
  clock.ms += 20 * minute;
  const reloaded = await browser.get(scan, path);
  expect(reloaded.status).toBe(200);
  clock.ms += 20 * minute;
  expect((await browser.get(scan, path)).status).toBe(200);
  clock.ms += 31 * minute;
  for (const answer of [await browser.get(scan, path), await browser.post(scan, path, { password: "4711" })])
    expect([answer.status, locationOf(answer)]).toEqual([303, `/${link.shortlink}`]);
});

test("a visit that does not fit into a seal goes on with the help of the database", async () => {
  const scan = await startTestScan(database);
  const link = await makeJourney();
  const browser = newBrowser();
  const long = `utm=${"x".repeat(2_000)}`;
  const pin = formAction(await browser.get(scan, `/${link.shortlink}?${long}`));
  expect(withoutSeal(pin)).toBe(pin);
  const form = await browser.get(scan, locationOf(await browser.post(scan, pin, { password: "4711" })));
  const told = { "field-mail": browser.email, "field-size": "large" };
  const choice = await browser.get(scan, locationOf(await browser.post(scan, formAction(form), told)));
  const end = await browser.post(scan, formAction(choice), { button: "a" });
  expect(locationOf(end)).toBe(`https://example.com/a?${long}`);
});

/** A database that counts the statements that run on it. */
function counting(): { readonly db: typeof db; count(): number } {
  let count = 0;
  const counted = db.withPlugin({
    transformQuery({ node }) {
      count += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return { db: counted, count: () => count };
}

test("the answers of many visits are stored by few statements, and those of one address leave one profile", async () => {
  const link = await makeJourney();
  const counted = counting();
  const gate = await gatedStore({ ...database, db: counted.db });
  const scan = await startTestScan(database, { store: gate.store });
  const emails = (await Promise.all(Array.from({ length: 20 }, () => travel([scan], link, "a")))).map(
    ({ browser }) => browser.email,
  );
  gate.open();
  await scan.drained();
  // Twenty visits with three answers each, whose visitors nobody knew.
  expect(counted.count()).toBeLessThan(60);
  await expectWhole(link, emails, "https://example.com/a?utm=1");

  const again = await gatedStore(database);
  const later = await startTestScan(database, { store: again.store });
  const [known = ""] = emails;
  const shared = [known, known, "shared@example.com", "shared@example.com", "alone@example.com"];
  await Promise.all(shared.map((email) => travel([later], link, "a", email)));
  again.open();
  await later.drained();
  await expectWhole(link, [...emails, ...shared], "https://example.com/a?utm=1");
  for (const [email, visits] of [
    [known, 3n],
    ["shared@example.com", 2n],
    ["alone@example.com", 1n],
  ] as const) {
    const { id } = await profileOf(link.workspaceId, email);
    const counts = await db
      .selectFrom("visitor_links")
      .select("event_count")
      .where("visitor_id", "=", id)
      .execute();
    expect(counts).toEqual([{ event_count: visits }]);
  }
});
