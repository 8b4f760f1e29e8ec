import { type KyselyPlugin, sql } from "kysely";
import { expect, test } from "vitest";
import { gatedStore } from "../support/gated-store.ts";
import { insertWorkflow, type StepSeed, type TestWorkflow } from "../support/insert-workflow.ts";
import { startApi, type TestWorkspace } from "../support/start-api.ts";
import { startTestScan, type TestScan } from "../support/start-scan.ts";
import { formAction } from "../support/visitor.ts";

/*
 * Visitors answer forms while programs identify them: both write to the visits, devices and profiles of the same people
 * at the same moment.
 */
const browserCount = 10;
const linkCount = 4;
const personCount = 2;

const api = await startApi();
const { db } = api;

type Link = TestWorkflow<string>;

/** A condition on the e-mail address. */
const asksForMail = {
  action: "VISITOR_DATA_CONDITION",
  payload: {
    options: [
      {
        id: "mail",
        attributeKey: "$email",
        operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_STRING_ENDS_WITH",
        comparisonValue: "@example.com",
      },
    ],
  },
} as const satisfies StepSeed;

/** Half of the links lock visitors for another write; the others only read them. */
const savesAtEnd = (place: number) => place % 2 === 0;

/** A link whose form saves an attribute of its own; its next step depends on the profile. */
function makeLink({ workspaceId }: TestWorkspace, place: number): Promise<Link> {
  const told = { key: `end${place}`, value: "told" };
  return insertWorkflow(
    db,
    {
      entry: { action: "LINK_VISIT", next: { next: "form" } },
      form: {
        action: "FORM_SUBMIT",
        payload: {
          formTitle: "Tell us",
          formFields: [
            { id: "mail", key: "$email", label: "E-mail", type: "FORM_FIELD_TYPE_EMAIL", order: 1 },
            { id: "own", key: `form${place}`, label: "Own", type: "FORM_FIELD_TYPE_TEXT", order: 2 },
          ],
        },
        next: { next: "known" },
      },
      known: {
        ...asksForMail,
        next: { mail: "done", else: "page" },
      },
      page: {
        action: "MESSAGE_PAGE",
        payload: { title: "Who are you?", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
        next: { next: "done" },
      },
      done: {
        action: "CLIENT_REDIRECT",
        payload: { destination: "https://example.com/known" },
        ...(savesAtEnd(place) && { capture: { enabled: true, writes: [told] } }),
      },
    },
    { workspaceId },
  );
}

interface Browser {
  readonly email: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly address: string;
}

/** Lets one browser visit all links; returns the addresses of the forms. */
async function visitAll(scan: TestScan, number: number, links: readonly Link[]) {
  const address = `203.0.113.${number}`;
  const agent = {
    "user-agent": `Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/${number}.0`,
  };
  let cookie: string | undefined;
  const forms: string[] = [];
  for (const { shortlink } of links) {
    const headers = { ...agent, ...(cookie !== undefined && { cookie }) };
    const page = await scan.ask(`/${shortlink}`, { address, headers });
    cookie ??= page.headers["set-cookie"]?.split(";")[0];
    forms.push(formAction(page));
  }
  const browser: Browser = {
    email: `person${number % personCount}@example.com`,
    headers: { ...agent, cookie: cookie ?? "" },
    address,
  };
  return { browser, forms };
}

/** Makes all links, and brings all browsers to the form of each. */
async function visitEverywhere(workspace: TestWorkspace) {
  const scan = await startTestScan(api.database);
  const links = await Promise.all(
    Array.from({ length: linkCount }, (_, place) => makeLink(workspace, place)),
  );
  const visitors = await Promise.all(
    Array.from({ length: browserCount }, (_, number) => visitAll(scan, number + 1, links)),
  );
  await scan.drained();
  return { scan, links, visitors };
}

function post(
  scan: TestScan,
  { address, headers }: Browser,
  path: string,
  fields: Readonly<Record<string, string>>,
) {
  const form = { "content-type": "application/x-www-form-urlencoded", origin: "https://go.example" };
  return scan.ask(path, {
    method: "POST",
    address,
    headers: { ...headers, ...form },
    body: String(new URLSearchParams(fields)),
  });
}

/** The number of deadlocks that PostgreSQL ended in this database, once each connection has reported its own. */
async function deadlocks(): Promise<number> {
  const { pool } = api.database;
  const clients = await Promise.all(Array.from({ length: pool.options.max ?? 0 }, () => pool.connect()));
  // Otherwise connections report once a second, at the end of a transaction.
  for (const client of clients) await client.query("select pg_stat_force_next_flush()");
  for (const client of clients) client.release();
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks::int from pg_stat_database where datname = current_database()`.execute(db);
  return rows[0]?.deadlocks ?? Number.NaN;
}

interface Profile {
  readonly id: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

async function attributesOf({ rest }: TestWorkspace, id: string): Promise<Readonly<Record<string, string>>> {
  const { json } = await rest("GET", `/v1/visitors/${id}`);
  const { attributes }: Profile = json;
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value]));
}

test("forms and identify calls for the same visitors at the same moment all succeed, lose nothing and cause no deadlock", async () => {
  const workspace = await api.newWorkspace();
  const { scan, links, visitors } = await visitEverywhere(workspace);
  const profiles = new Set<string>();
  // The first answered call or form of each browser moves its visits to a profile, while the others wait.
  for (const { browser, forms } of visitors) {
    const answered = forms.map((path) => {
      return post(scan, browser, path, { "field-mail": browser.email, "field-own": "told" });
    });
    const called = forms.map((path, place) => {
      const lbid = new URLSearchParams(path.split("?")[1]).get("lbid");
      const visitor = { $email: browser.email, [`call${place}`]: "told" };
      return workspace.rest("POST", "/v1/visitor/identify", { lbid, visitor });
    });
    const [pages, calls] = await Promise.all([Promise.all(answered), Promise.all(called)]);
    expect(pages.map(({ headers }) => headers.location)).toEqual(
      forms.map(() => "https://example.com/known"),
    );
    expect(calls.map(({ status }) => status)).toEqual(forms.map(() => 200));
    for (const { json } of calls) profiles.add(json.visitor.id);
  }
  await scan.drained();
  expect(profiles.size).toBe(personCount);
  const told = links.flatMap((_, place) => [
    `form${place}`,
    `call${place}`,
    ...(savesAtEnd(place) ? [`end${place}`] : []),
  ]);
  for (const profile of profiles) {
    const attributes = await attributesOf(workspace, profile);
    expect(attributes).toEqual(Object.fromEntries(told.map((key) => [key, "told"])));
  }
  const events = await db
    .selectFrom("events")
    .select((e) => ["visitor_id", e.fn.countAll<bigint>().as("count")])
    .where("workspace_id", "=", workspace.workspaceId)
    .groupBy("visitor_id")
    .execute();
  expect(events.map(({ count }) => Number(count))).toEqual(
    Array(personCount).fill((browserCount * linkCount) / personCount),
  );
  expect(await deadlocks()).toBe(0);
});

test("a visitor who is deleted while answering leaves no personal data in traces", async () => {
  const workspace = await api.newWorkspace();
  const { scan, visitors } = await visitEverywhere(workspace);
  const visitorIds = async () => {
    const found = db.selectFrom("visitors").select("id").where("workspace_id", "=", workspace.workspaceId);
    return (await found.execute()).map(({ id }) => id);
  };
  const remove = async (id: string) => (await workspace.rest("DELETE", `/v1/visitors/${id}`)).status;
  for (const { browser, forms } of visitors) {
    const known = await visitorIds();
    const [pages, deleted] = await Promise.all([
      Promise.all(
        forms.map((path) => post(scan, browser, path, { "field-mail": browser.email, "field-own": "told" })),
      ),
      Promise.all(known.map(remove)),
    ]);
    for (const { status } of pages) expect([302, 303]).toContain(status);
    await scan.drained();
    // The others were merged into another visitor meanwhile.
    for (const status of deleted) expect([200, 404]).toContain(status);
  }
  const traces = async () => {
    const { rows } = await sql`
      select data from traces where workspace_id = ${workspace.workspaceId}
        and (data::text like '%person_@example.com%' or data::text like '%told%')`.execute(db);
    return rows;
  };
  // Some visitors answered after all deletions.
  expect((await traces()).length).toBeGreaterThan(0);
  for (const id of await visitorIds()) expect(await remove(id)).toBe(200);
  expect(await traces()).toEqual([]);
  expect(await deadlocks()).toBe(0);
});

test("a visitor who is deleted between a condition's evaluation and its trace leaves no personal data in the trace", async () => {
  const workspace = await api.newWorkspace();
  const seen = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  // Stops the answer after it has read the visitor's attributes for the condition.
  const stopping: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (result.rows.some(({ own }) => JSON.stringify(own ?? null).includes("$email"))) {
        seen.resolve();
        await goOn.promise;
      }
      return result;
    },
  };
  const scan = await startTestScan(api.database, { db: db.withPlugin(stopping) });
  const page = {
    action: "MESSAGE_PAGE",
    payload: { title: "Hello", navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON" },
  } as const;
  const link = await insertWorkflow(
    db,
    {
      entry: { action: "LINK_VISIT", next: { next: "page" } },
      page: { ...page, next: { next: "known" } },
      known: { ...asksForMail, next: { mail: "end", else: "end" } },
      end: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/known" } },
    },
    { workspaceId: workspace.workspaceId },
  );
  const { browser, forms } = await visitAll(scan, 1, [link]);
  await scan.drained();
  const [path = ""] = forms;
  const lbid = new URLSearchParams(path.split("?")[1]).get("lbid");
  const visitor = { $email: browser.email };
  const { json } = await workspace.rest("POST", "/v1/visitor/identify", { lbid, visitor });

  const answered = post(scan, browser, path, {});
  await seen.promise;
  const { status } = await workspace.rest("DELETE", `/v1/visitors/${json.visitor.id}`);
  expect(status).toBe(200);
  goOn.resolve();
  expect((await answered).headers.location).toBe("https://example.com/known");
  await scan.drained();
  const { rows } = await sql<{ data: string }>`select data::text from traces
    where workspace_id = ${workspace.workspaceId} and step_action = 'VISITOR_DATA_CONDITION'`.execute(db);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.data).not.toContain(browser.email);
});

test("an identify call for a visit that is not stored yet is answered, and the visit joins the profile once it is stored", async () => {
  const workspace = await api.newWorkspace();
  const { store, open } = await gatedStore(api.database);
  const scan = await startTestScan(api.database, { store });
  const [link, later] = [await makeLink(workspace, 1), await makeLink(workspace, 3)];
  const { browser, forms } = await visitAll(scan, 1, [link, later]);
  const lbids = forms.map((path) => new URLSearchParams(path.split("?")[1]).get("lbid"));
  const identify = (lbid: string | null | undefined, values: object) =>
    workspace.rest("POST", "/v1/visitor/identify", { lbid, visitor: { $email: browser.email, ...values } });
  const [one, other] = [
    await identify(lbids[0], { plan: "pro" }),
    await identify(lbids[1], { size: "large" }),
  ];
  expect([one.status, one.json.created, other.status, other.json.created]).toEqual([200, true, 200, false]);
  expect(other.json.visitor.id).toBe(one.json.visitor.id);
  // A call without an identity names no visitor.
  const nobody = await workspace.rest("POST", "/v1/visitor/identify", {
    lbid: lbids[0],
    visitor: { a: "b" },
  });
  expect([nobody.status, nobody.json.error.codeType]).toEqual([404, "LBID_NOT_FOUND"]);

  open();
  await scan.drained();
  const events = await db
    .selectFrom("events")
    .select(["id", "visitor_id"])
    .where("workspace_id", "=", workspace.workspaceId)
    .execute();
  expect(events.map(({ visitor_id }) => visitor_id)).toEqual(Array(2).fill(one.json.visitor.id));
  const { rows: visitors } =
    await sql`select from visitors where workspace_id = ${workspace.workspaceId}`.execute(db);
  expect(visitors).toHaveLength(1);
  expect(await attributesOf(workspace, one.json.visitor.id)).toEqual({ plan: "pro", size: "large" });
  const { rows: traces } = await sql<{ data: object }>`
    select data -> 'identifyVisitor' as data from traces
    where workspace_id = ${workspace.workspaceId} and step_action is null order by id`.execute(db);
  expect(traces).toMatchObject([
    { data: { systemFields: ["$email"], customAttributes: 1 } },
    { data: { systemFields: ["$email"], customAttributes: 1 } },
  ]);
  const { rows: links } = await sql<{ count: number }>`
    select event_count::int as count from visitor_links where workspace_id = ${workspace.workspaceId}`.execute(
    db,
  );
  expect(links).toEqual([{ count: 1 }, { count: 1 }]);
  const { rows: pending } = await sql`select from pending_identifications`.execute(db);
  expect(pending).toEqual([]);
});
