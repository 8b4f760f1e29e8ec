import { expect, test } from "vitest";
import { insertWorkflow, type StepSeed } from "../../../test/support/insert-workflow.ts";
import {
  insertLink,
  insertWorkspace,
  startTestScan,
  type TestLink,
} from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";

const database = await testDatabase();
const { db } = database;

const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const assistant =
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)";
const person = { "user-agent": iphone };
/** A person whose browser already has the device cookie. */
const regular = { ...person, cookie: "svc_did=5a7d9c1e-0b63-4f52-9e1d-8f3a2c4b6d70" };
const german = "91.0.0.1";

const to = (destination: string): StepSeed => ({
  action: "CLIENT_REDIRECT",
  payload: { destination: `https://example.com/${destination}` },
});
const entry = (next: string): StepSeed => ({ action: "LINK_VISIT", next: { next } });
const message: StepSeed = {
  action: "MESSAGE_PAGE",
  payload: {
    title: "Welcome",
    navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON",
    description: "Go <on>",
  },
  next: { next: "done" },
};
const pageFlow = { entry: entry("page"), page: message, done: to("done") };
const visitTypeFlow = {
  entry: entry("who"),
  who: {
    action: "VISIT_TYPE_CONDITION",
    payload: { options: [{ value: "VISIT_TYPE_FIRST" }, { value: "VISIT_TYPE_RETURNING" }] },
    next: { VISIT_TYPE_FIRST: "first", VISIT_TYPE_RETURNING: "returning" },
  },
  first: to("first"),
  returning: to("returning"),
} as const satisfies Record<string, StepSeed>;

const cookieOf = (header: string | undefined) => /svc_did=[^;]+/.exec(header ?? "")?.[0] ?? "";

function eventOf({ workspaceId, id }: TestLink) {
  return db
    .selectFrom("events")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("link_id", "=", id)
    .orderBy("id", "desc")
    .executeTakeFirstOrThrow();
}

async function tracesOf({ workspaceId }: TestLink) {
  const rows = await db
    .selectFrom("visit_traces")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .execute();
  return rows.map(({ step_id, step_action, data, completed_at }) => ({
    stepId: step_id,
    action: step_action,
    data,
    isCompleted: completed_at !== null,
  }));
}

function visitsOf({ workspaceId }: TestLink) {
  return db.selectFrom("visits").selectAll().where("workspace_id", "=", workspaceId).execute();
}

test("shows an interaction's page, and records the visit as under way with an open trace", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, pageFlow);
  const answer = await ask(`/${link.shortlink}?qr&utm=1`, { headers: person });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "private, no-store",
    "x-robots-tag": "noindex",
    "content-security-policy": expect.stringMatching(/^default-src 'none'/),
    "set-cookie": expect.stringContaining("svc_did="),
  });
  expect(answer.body).toContain("Go &lt;on&gt;");
  await drained();

  const event = await eventOf(link);
  expect(event).toMatchObject({
    action: "SCAN",
    outcome: "IN_PROGRESS",
    ended_at: null,
    destination: "",
    destination_action: null,
    steps_reached: 2,
    steps_total: 3,
    last_step_id: link.steps.page,
    counted: true,
  });
  const lbid = Buffer.from(event.id.replaceAll("-", ""), "hex").toString("base64url");
  expect(answer.body).toContain(`action="/${link.shortlink}/s/${link.steps.page}?lbid=${lbid}&amp;visit=`);
  expect(await tracesOf(link)).toMatchObject([
    { stepId: link.steps.entry, action: "LINK_VISIT", isCompleted: true },
    {
      stepId: link.steps.page,
      action: "MESSAGE_PAGE",
      data: { messagePage: { title: "Welcome", navigationType: "BUTTON", outcome: "" } },
      isCompleted: false,
    },
  ]);
  expect(await visitsOf(link)).toMatchObject([
    {
      event_id: event.id,
      link_id: link.id,
      step_id: link.steps.page,
      query: "qr&utm=1",
      data_collection: "ADVANCED",
      active_at: event.created_at,
    },
  ]);
});

test("sends a timed page's visitor on by a header, without script", async () => {
  const { ask } = await startTestScan(database);
  const timed = {
    ...message,
    payload: { title: "Wait", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_TIMER", timerSeconds: 7 },
  };
  const link = await insertWorkflow(db, { ...pageFlow, page: timed });
  const { headers } = await ask(`/${link.shortlink}`, { headers: person });
  expect(headers.refresh).toMatch(new RegExp(`^7; ?url=/${link.shortlink}/s/${link.steps.page}\\?`, "i"));
});

test.each([
  ["THANK_YOU_PAGE", { title: "Thanks" }, "thankYouPage"],
  ["CONTACT_CARD", { firstName: "Ada", lastName: "Lovelace" }, "contactCard"],
  [
    "SOCIAL_LINKS_PAGE",
    { title: "Us", links: [{ id: "a", platform: "github", url: "https://github.com/x" }] },
    "socialLinks",
  ],
] as const)("serves the exit page of %s, which ends the visit", async (action, payload, variant) => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, { entry: entry("exit"), exit: { action, payload } });
  const answer = await ask(`/${link.shortlink}`, { headers: person });
  expect(answer.status).toBe(200);
  await drained();
  expect(await eventOf(link)).toMatchObject({
    outcome: "COMPLETED",
    ended_at: expect.any(Date),
    destination: "",
    destination_action: action,
    steps_reached: 2,
    steps_total: 2,
    last_step_id: link.steps.exit,
  });
  expect((await tracesOf(link)).at(-1)).toMatchObject({
    stepId: link.steps.exit,
    action,
    data: { [variant]: expect.any(Object) },
    isCompleted: true,
  });
  expect(await visitsOf(link)).toEqual([]);
});

test("tells bots what an interaction is about, without a form and without opening the step", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, pageFlow);
  const answer = await ask(`/${link.shortlink}`, { headers: { "user-agent": crawler } });
  expect(answer.status).toBe(200);
  expect(answer.body).not.toMatch(/<form|<button|lbid/);
  expect(answer.body).toContain('<meta property="og:title" content="Welcome">');
  await drained();
  expect(await eventOf(link)).toMatchObject({
    outcome: "IN_PROGRESS",
    counted: false,
    visitor_id: null,
    steps_reached: 1,
    steps_total: 3,
    last_step_id: link.steps.entry,
  });
  expect(await tracesOf(link)).toMatchObject([{ action: "LINK_VISIT" }]);
});

test("sends bots to redirects and exit pages like people", async () => {
  const { ask } = await startTestScan(database);
  const headers = { "user-agent": crawler };
  const redirect = await insertLink(db);
  expect((await ask(`/${redirect.shortlink}`, { headers })).status).toBe(302);
  const exit = await insertWorkflow(db, {
    entry: entry("exit"),
    exit: { action: "THANK_YOU_PAGE", payload: { title: "Thanks" } },
  });
  expect((await ask(`/${exit.shortlink}`, { headers })).body).toContain("Thanks");
});

test("gives agents the same pages as people", async () => {
  const { ask } = await startTestScan(database);
  const link = await insertWorkflow(db, pageFlow);
  const answer = await ask(`/${link.shortlink}`, { headers: { "user-agent": assistant } });
  expect(answer.body).toContain("<form");
});

test("answers HEAD like GET, without cookie, body and event", async () => {
  const { ask, spool } = await startTestScan(database);
  const link = await insertWorkflow(db, pageFlow, { environment: "test" });
  const head = await ask(`/${link.shortlink}`, { method: "HEAD", headers: person });
  expect(spool.depth()).toBe(0);
  const get = await ask(`/${link.shortlink}`, { headers: person });
  expect(head.status).toBe(get.status);
  const { date: _, "set-cookie": cookie, ...expected } = get.headers;
  const { date: __, ...headers } = head.headers;
  expect(headers).toEqual(expected);
  expect(headers["x-service-sandbox"]).toBe("true");
  expect(cookie).toBeDefined();
  expect(head.body).toBe("");
});

test("knows a visitor who comes back, even before the first visit is in the database", async () => {
  const { ask } = await startTestScan(database);
  const link = await insertWorkflow(db, visitTypeFlow);
  const first = await ask(`/${link.shortlink}`, { headers: person });
  expect(first.headers.location).toBe("https://example.com/first");
  const cookie = cookieOf(first.headers["set-cookie"]);
  const again = await ask(`/${link.shortlink}`, { headers: { ...person, cookie }, address: "198.51.100.1" });
  expect(again.headers.location).toBe("https://example.com/returning");
  const alike = await ask(`/${link.shortlink}`, { headers: person });
  expect(alike.headers.location).toBe("https://example.com/first");
});

test("a condition sees what a visit of another link has just saved", async () => {
  const { ask } = await startTestScan(database);
  const workspaceId = await insertWorkspace(db);
  const saving = await insertWorkflow(
    db,
    { entry: { ...entry("done"), capture: capture({ plan: "gold" }) }, done: to("done") },
    { workspaceId },
  );
  const asking = await insertWorkflow(db, knownFlow, { workspaceId });
  await ask(`/${saving.shortlink}`, { headers: regular });
  const { headers } = await ask(`/${asking.shortlink}`, { headers: regular });
  expect(headers.location).toBe("https://example.com/plan");
});

const openCookies = (answer: { rawHeaders: readonly string[] }) =>
  answer.rawHeaders
    .filter((_, index, all) => all[index - 1]?.toLowerCase() === "set-cookie")
    .map((line) => line.split(";", 1)[0])
    .join("; ");

/** Every page of a visit carries a seal of its own. Only its first page reports what the device is, and tells chats of it. */
const unsealed = ({ body }: { body: string }) =>
  body
    .replaceAll(/visit=[\w-]+/g, "visit=")
    .replaceAll(/<script.*<\/script>\n|<meta (?:property|name)="(?:og:|twitter:|description).*\n/g, "");

test("a reload of a page goes on with its visit, before and after the visit is stored", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, pageFlow);
  const first = await ask(`/${link.shortlink}?qr`, { headers: person });
  const headers = { ...person, cookie: openCookies(first) };
  for (let again = 0; again < 3; again++) {
    const reloaded = await ask(`/${link.shortlink}?qr`, { headers });
    expect(reloaded.status).toBe(200);
    expect(unsealed(reloaded)).toBe(unsealed(first));
  }
  await drained();
  expect(unsealed(await ask(`/${link.shortlink}?qr`, { headers }))).toBe(unsealed(first));
  await drained();
  const { id: eventId } = await eventOf(link);
  const events = () => db.selectFrom("events").select("id").where("link_id", "=", link.id).execute();
  expect(await events()).toEqual([{ id: eventId }]);
  // Another browser that brings the cookie of this visit begins a visit of its own.
  const stranger = { ...person, cookie: headers.cookie.replace(/svc_did=[^;]+; /, "") };
  await ask(`/${link.shortlink}?qr`, { headers: stranger });
  await drained();
  expect(await events()).toHaveLength(2);
});

test("a page that ends the visit counts again when the visitor opens the link again, and not on a reload", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, {
    entry: entry("exit"),
    exit: { action: "THANK_YOU_PAGE", payload: { title: "Thanks" } },
  });
  const first = await ask(`/${link.shortlink}`, { headers: person });
  const headers = { ...person, cookie: openCookies(first) };
  const reload = { ...headers, "cache-control": "max-age=0" };
  expect((await ask(`/${link.shortlink}`, { headers: reload })).body).toContain("Thanks");
  await ask(`/${link.shortlink}`, { headers });
  await drained();
  const events = await db.selectFrom("events").select("id").where("link_id", "=", link.id).execute();
  expect(events).toHaveLength(2);
});

test("people are not recognised by their devices: a form is not skipped for a stranger with the same phone", async () => {
  const { ask, drained } = await startTestScan(database);
  const email = { key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL", required: true };
  const link = await insertWorkflow(
    db,
    {
      entry: entry("form"),
      form: {
        action: "FORM_SUBMIT",
        payload: { formTitle: "Where to?", formFields: [email], autoSkipIfKnown: true },
        next: { next: "done" },
      },
      done: to("done"),
    },
    { dataCollection: "BASIC" },
  );
  await ask(`/${link.shortlink}`, { headers: person });
  await drained();
  const { visitor_id } = await eventOf(link);
  await db
    .updateTable("visitors")
    .set({ email: "ada@example.com" })
    .where("workspace_id", "=", link.workspaceId)
    .where("id", "=", visitor_id)
    .execute();
  const stranger = await ask(`/${link.shortlink}`, { headers: person });
  expect(stranger.status).toBe(200);
  expect(stranger.body).toContain("Where to?");
  await drained();
  expect((await eventOf(link)).visitor_id).not.toBe(visitor_id);
});

test("fifty phones of one model, network and language are fifty first visits, devices and visitors", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertLink(db);
  const phones = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { headers } = await ask(`/${link.shortlink}`, { headers: person });
      return cookieOf(headers["set-cookie"]);
    }),
  );
  await Promise.all(phones.map((cookie) => ask(`/${link.shortlink}`, { headers: { ...person, cookie } })));
  await drained();
  const events = await db
    .selectFrom("events")
    .selectAll()
    .where("workspace_id", "=", link.workspaceId)
    .execute();
  expect(events.filter(({ visit_type }) => visit_type === "FIRST")).toHaveLength(50);
  expect(events.filter(({ visit_type }) => visit_type === "RETURNING")).toHaveLength(50);
  expect(new Set(events.map(({ device_id }) => device_id)).size).toBe(50);
  expect(new Set(events.map(({ visitor_id }) => visitor_id)).size).toBe(50);
});

test("at level NONE every visit is a first one, without a statement", async () => {
  const { ask, statements } = await startTestScan(database);
  const link = await insertWorkflow(db, visitTypeFlow, { dataCollection: "NONE" });
  await ask(`/${link.shortlink}`, { headers: person });
  const before = statements();
  const again = await ask(`/${link.shortlink}`, { headers: person });
  expect(again.headers.location).toBe("https://example.com/first");
  expect(statements()).toBe(before);
});

test("asks the database once for a visit whose workflow asks about the visitor", async () => {
  const { ask, statements, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, visitTypeFlow);
  await ask(`/${link.shortlink}`, { headers: regular });
  await drained();
  const before = statements();
  await ask(`/${link.shortlink}`, { headers: regular });
  expect(statements() - before).toBe(1);
});

const knownFlow = {
  entry: entry("who"),
  who: {
    action: "VISITOR_DATA_CONDITION",
    payload: {
      options: [
        {
          id: "mail",
          attributeKey: "$email",
          operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_STRING_ENDS_WITH",
          comparisonValue: "@example.com",
        },
        {
          id: "plan",
          attributeKey: "plan",
          operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_STRING_EQUALS",
          comparisonValue: "gold",
        },
      ],
    },
    next: { mail: "mail", plan: "plan", else: "other" },
  },
  mail: to("mail"),
  plan: to("plan"),
  other: to("other"),
} as const satisfies Record<string, StepSeed>;

test("conditions see the visitor's reserved and custom attributes", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, knownFlow);
  const visit = async () => (await ask(`/${link.shortlink}`, { headers: regular })).headers.location;
  expect(await visit()).toBe("https://example.com/other");
  await drained();
  const { visitor_id } = await eventOf(link);
  const at = new Date();
  const own = {
    workspace_id: link.workspaceId,
    visitor_id: visitor_id ?? "",
    created_at: at,
    updated_at: at,
  };
  await db
    .insertInto("visitor_attributes")
    .values({ ...own, key: "plan", type: "STRING", value: "gold" })
    .execute();
  expect(await visit()).toBe("https://example.com/plan");
  await db
    .updateTable("visitors")
    .set({ email: "ada@example.com" })
    .where("workspace_id", "=", link.workspaceId)
    .where("id", "=", visitor_id)
    .execute();
  expect(await visit()).toBe("https://example.com/mail");
});

test("while the database is away, the cookie alone tells whether a visitor returns", async () => {
  const link = await insertWorkflow(db, visitTypeFlow);
  const errors: unknown[] = [];
  let isAway = false;
  const flaky = db.withPlugin({
    transformQuery({ node }) {
      if (isAway) throw new Error("connection refused");
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const { ask } = await startTestScan(database, {
    db: flaky,
    log: { warn: () => {}, error: (error: unknown) => errors.push(error) },
  });
  const visit = async (headers: Record<string, string> = regular) =>
    (await ask(`/${link.shortlink}`, { headers })).headers.location;
  expect(await visit()).toBe("https://example.com/first");
  expect(await visit()).toBe("https://example.com/returning");
  isAway = true;
  expect(await visit()).toBe("https://example.com/returning");
  expect(await visit(person)).toBe("https://example.com/first");
  expect(errors).toHaveLength(1);
});

test("traces keep what conditions saw, within the limits of the data-collection level", async () => {
  const { ask, drained } = await startTestScan(database);
  const flow = {
    entry: entry("country"),
    country: {
      action: "COUNTRY_CONDITION",
      payload: { countries: [{ countryCode: "DE" }, { countryCode: "FR" }] },
      next: { DE: "browser" },
    },
    browser: {
      action: "DEVICE_BROWSER_CONDITION",
      payload: { options: [{ id: "s", name: "Apple's", value: "DEVICE_BROWSER_CONDITION_VALUE_SAFARI" }] },
      next: { else: "done", s: "done" },
    },
    done: to("done"),
  } as const satisfies Record<string, StepSeed>;
  const seen = async (dataCollection: "NONE" | "BASIC") => {
    const link = await insertWorkflow(db, flow, { dataCollection });
    await ask(`/${link.shortlink}`, { headers: person, address: german });
    await drained();
    return { event: await eventOf(link), traces: await tracesOf(link) };
  };
  const basic = await seen("BASIC");
  expect(basic.event).toMatchObject({ outcome: "COMPLETED", steps_reached: 2, steps_total: 2 });
  expect(basic.traces.map(({ action }) => action)).toEqual([
    "LINK_VISIT",
    "COUNTRY_CONDITION",
    "DEVICE_BROWSER_CONDITION",
    "CLIENT_REDIRECT",
  ]);
  expect(basic.traces[1]?.data).toEqual({
    countryCondition: {
      countries: [
        { countryCode: "DE", hasRoute: true },
        { countryCode: "FR", hasRoute: false },
      ],
      hasElse: false,
    },
  });
  expect(basic.traces[2]?.data).toMatchObject({
    deviceBrowserCondition: { browserName: "Safari", hasElse: true },
  });
  const none = await seen("NONE");
  expect(none.traces[2]?.data).toMatchObject({ deviceBrowserCondition: { browserName: "" } });
});

const capture = (writes: Record<string, string>, mode = "SET") => ({
  enabled: true,
  writes: Object.entries(writes).map(([key, value]) => ({
    key,
    value,
    mode: `ATTRIBUTE_WRITE_MODE_${mode}`,
  })),
});

async function attributesIn(workspaceId: string) {
  const rows = await db
    .selectFrom("visitor_attributes")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .execute();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

async function nameOf({ id }: { readonly id: string }): Promise<string> {
  return (await db.selectFrom("links").select("name").where("id", "=", id).executeTakeFirstOrThrow()).name;
}

/** What the traces of a link's visits say that their steps saved, in the order of time. */
async function savedInTraces(linkId: string) {
  const rows = await db
    .selectFrom("visit_traces")
    .innerJoin("events", "events.id", "visit_traces.event_id")
    .select(["step_action", "saved_attributes"])
    .where("link_id", "=", linkId)
    .orderBy("visit_traces.id")
    .execute();
  return rows.map(({ step_action, saved_attributes }) => [step_action, saved_attributes]);
}

test("saves what completed steps capture to the visitor: the newest write wins, or the first one", async () => {
  const { ask, drained } = await startTestScan(database);
  const workspaceId = await insertWorkspace(db);
  const flow = (stage: string) => ({
    entry: {
      ...entry("done"),
      capture: capture({ stage, link: "at {{link.name}}" }),
    },
    done: { ...to("done"), capture: capture({ source: stage }, "SET_ONCE") },
  });
  const [one, two] = [
    await insertWorkflow(db, flow("one"), { workspaceId }),
    await insertWorkflow(db, flow("two"), { workspaceId }),
  ];
  for (const link of [one, two, one, two]) await ask(`/${link.shortlink}`, { headers: regular });
  await drained();
  expect(await attributesIn(workspaceId)).toEqual({
    stage: "two",
    link: `at ${await nameOf(two)}`,
    source: "one",
  });
  expect(await savedInTraces(one.id)).toEqual([
    ["LINK_VISIT", { stage: "one", link: `at ${await nameOf(one)}` }],
    ["CLIENT_REDIRECT", { source: "one" }],
    ["LINK_VISIT", { stage: "one", link: `at ${await nameOf(one)}` }],
    ["CLIENT_REDIRECT", { source: "one" }],
  ]);
});

test.each([
  ["a bot", { headers: { "user-agent": crawler } }, {}],
  ["an agent", { headers: { "user-agent": assistant } }, {}],
  ["level NONE", { headers: person }, { dataCollection: "NONE" }],
  [
    "what another page loads",
    { headers: { ...person, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" } },
    {},
  ],
  ["a prefetch", { headers: { ...person, "sec-purpose": "prefetch" }, status: 503 }, {}],
] as const)("saves nothing for %s", async (_, ask, options) => {
  const scan = await startTestScan(database);
  const link = await insertWorkflow(
    db,
    { entry: { ...entry("done"), capture: capture({ k: "v" }) }, done: to("done") },
    options,
  );
  const expected = "status" in ask ? ask.status : 302;
  expect((await scan.ask(`/${link.shortlink}`, ask)).status).toBe(expected);
  await scan.drained();
  expect(await attributesIn(link.workspaceId)).toEqual({});
  expect((await savedInTraces(link.id)).filter(([, saved]) => saved !== null)).toEqual([]);
});

test("an open page saves nothing yet, and a fallback saves only what steps before it captured", async () => {
  const { ask, drained } = await startTestScan(database);
  const page = { ...message, capture: capture({ page: "seen" }) };
  const waiting = await insertWorkflow(db, { ...pageFlow, page });
  const lost = await insertWorkflow(db, {
    entry: { action: "LINK_VISIT", capture: capture({ entry: "came" }) },
  });
  await ask(`/${waiting.shortlink}`, { headers: person });
  await ask(`/${lost.shortlink}`, { headers: person });
  await drained();
  expect(await attributesIn(waiting.workspaceId)).toEqual({});
  expect((await savedInTraces(waiting.id)).map(([, saved]) => saved)).toEqual([null, null]);
  expect(await attributesIn(lost.workspaceId)).toEqual({ entry: "came" });
});

const twoWays = (one: string, other: string): StepSeed => ({
  action: "MULTI_LINK",
  payload: {
    title: "Where to?",
    buttons: [
      { id: "one", label: "One" },
      { id: "other", label: "Other" },
    ],
  },
  next: { one, other },
});
const thanks: StepSeed = { action: "THANK_YOU_PAGE", payload: { title: "Thanks" } };
const nowhere: StepSeed = { action: "COUNTRY_CONDITION", payload: { countries: [] } };

test.each<[name: string, steps: Record<string, StepSeed>, journey: object]>([
  [
    "waits at a page, with the fewest steps still needed",
    {
      entry: entry("choose"),
      choose: twoWays("long", "where"),
      long: { ...message, next: { next: "done" } },
      where: { ...nowhere, next: { else: "done" } },
      done: to("done"),
    },
    {
      outcome: "IN_PROGRESS",
      steps_reached: 2,
      steps_total: 3,
      ended_at: null,
    },
  ],
  [
    "waits at a page from which no exit can be reached",
    { entry: entry("page"), page: { ...message, next: {} } },
    {
      outcome: "IN_PROGRESS",
      steps_reached: 2,
      steps_total: 2,
      ended_at: null,
    },
  ],
  [
    "ends with an exit that was served, conditions not counted",
    { entry: entry("where"), where: { ...nowhere, next: { else: "exit" } }, exit: thanks },
    {
      outcome: "COMPLETED",
      steps_reached: 2,
      steps_total: 2,
      ended_at: expect.any(Date),
    },
  ],
  [
    "ends in a fallback, with what would have been left",
    {
      entry: entry("where"),
      where: {
        action: "COUNTRY_CONDITION",
        payload: { countries: [{ countryCode: "FR" }] },
        next: { FR: "page" },
      },
      page: message,
      done: to("done"),
    },
    {
      outcome: "FALLBACK",
      steps_reached: 1,
      steps_total: 3,
      destination_action: "CLIENT_REDIRECT",
      ended_at: expect.any(Date),
    },
  ],
])("the journey %s", async (_, steps, journey) => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertWorkflow(db, steps);
  await ask(`/${link.shortlink}`, { headers: person, address: german });
  await drained();
  expect(await eventOf(link)).toMatchObject(journey);
});

test("a circle of conditions ends in the fallback, with each condition traced once", async () => {
  const { ask, drained } = await startTestScan(database);
  const country = (next: string): StepSeed => ({
    action: "COUNTRY_CONDITION",
    payload: { countries: [{ countryCode: "DE" }] },
    next: { else: next, DE: next },
  });
  const link = await insertWorkflow(
    db,
    { entry: entry("a"), a: country("b"), b: country("a") },
    { fallback: "https://example.com/lost" },
  );
  expect((await ask(`/${link.shortlink}`)).headers.location).toBe("https://example.com/lost");
  await drained();
  expect(await eventOf(link)).toMatchObject({ outcome: "FALLBACK", steps_reached: 1 });
  expect((await tracesOf(link)).map(({ action }) => action)).toEqual([
    "LINK_VISIT",
    "COUNTRY_CONDITION",
    "COUNTRY_CONDITION",
    "CLIENT_REDIRECT",
  ]);
});
