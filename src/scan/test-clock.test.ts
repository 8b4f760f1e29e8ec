import { expect, test } from "vitest";
import { insertWorkflow } from "../../test/support/insert-workflow.ts";
import { type Answer, insertLink, startTestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { formAction } from "../../test/support/visitor.ts";

const database = await testDatabase();
const { db } = database;
const person = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
const evening = "testClock=2031-12-24T18:30:00Z";
const noon = "testClock=2031-12-24T12:00:00Z";

/** By day to the shop, in the evening to the bar, and before that to a form when `asksFirst`. */
function makeHours(environment: "live" | "test", asksFirst = false) {
  return insertWorkflow(
    db,
    {
      entry: { action: "LINK_VISIT", next: { next: asksFirst ? "form" : "hours" } },
      form: {
        action: "FORM_SUBMIT",
        payload: {
          formTitle: "Tell us",
          formFields: [{ id: "size", key: "size", label: "Size", type: "FORM_FIELD_TYPE_TEXT", order: 1 }],
        },
        next: { next: "hours" },
      },
      hours: {
        action: "TIME_OF_DAY_CONDITION",
        payload: { ranges: [{ id: "evening", startTime: "18:00", endTime: "20:00" }] },
        next: { evening: "bar", else: "shop" },
      },
      bar: { action: "CLIENT_REDIRECT", payload: { destination: "https://bar.example/" } },
      shop: { action: "CLIENT_REDIRECT", payload: { destination: "https://shop.example/" } },
    },
    { environment },
  );
}

const shared = await startTestScan(database, {}, () => {});

const ask = (path: string, headers = {}) => shared.ask(path, { headers: { ...person, ...headers } });
const location = ({ headers }: Answer) => headers.location?.replace(/[?&]lbid=.*/, "");

test("a sandbox's visit sees the time of its test clock, which its destination does not get", async () => {
  const { shortlink } = await makeHours("test");
  expect(location(await ask(`/${shortlink}?${evening}`))).toBe("https://bar.example/");
  expect(location(await ask(`/${shortlink}?a=1&${noon}&b=2`))).toBe("https://shop.example/?a=1&b=2");
  expect(location(await ask(`/${shortlink}?qr&testClock=2031-12-24T20:30:00+02:00`))).toBe(
    "https://bar.example/",
  );
  expect(location(await ask(`/${shortlink}?contestClock=1&${evening}`))).toBe(
    "https://bar.example/?contestClock=1",
  );
});

test("on a live link the parameter is like any other one", async () => {
  const { shortlink } = await makeHours("live");
  const sent = await ask(`/${shortlink}?testClock=noon`);
  expect(sent.status).toBe(302);
  expect(location(sent)).toContain("testClock=noon");
});

test("a test clock that is no time is refused by name, and the answer is still marked", async () => {
  const { shortlink, workspaceId } = await makeHours("test");
  for (const clock of ["", "noon", "2026-12-24T18:00:00", "1999-12-31T23:59:59Z", "x".repeat(2_000)]) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await shared.ask(`/${shortlink}?testClock=${clock}`, { method, headers: person });
      expect(answer.status).toBe(400);
      expect(answer.headers).toMatchObject({ "x-service-sandbox": "true", "x-robots-tag": "noindex" });
      if (method === "GET") expect(answer.body).toContain("testClock: must be an RFC 3339 time");
    }
  }
  await shared.drained();
  const events = await db.selectFrom("events").select("id").where("workspace_id", "=", workspaceId).execute();
  expect(events).toEqual([]);
});

test("the clock stays with the visit on all of its pages, with a seal and without", async () => {
  for (const query of [evening, `${evening}&${"x".repeat(900)}`]) {
    const { shortlink } = await makeHours("test", true);
    const page = await ask(`/${shortlink}?${query}`);
    expect(page.status).toBe(200);
    const cookie = /svc_did=[^;]+/.exec(page.headers["set-cookie"] ?? "")?.[0] ?? "";
    const sent = await shared.ask(formAction(page), {
      method: "POST",
      headers: {
        ...person,
        cookie,
        origin: "https://go.example",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: "field-size=M",
    });
    expect(sent.headers.location).toMatch(/^https:\/\/bar[.]example\//);
    expect(sent.headers.location).not.toContain("testClock");
    expect(sent.headers).toMatchObject({ "x-service-sandbox": "true", "x-robots-tag": "noindex" });
  }
});

test("naming a time begins a new visit, though the browser has one open", async () => {
  const { shortlink } = await makeHours("test", true);
  const page = await ask(`/${shortlink}`);
  const cookie = [/svc_did=[^;]+/, /svc_visit=[^;]+/]
    .map((form) => form.exec(page.headers["set-cookie"] ?? "")?.[0])
    .join("; ");
  const lbidOf = ({ body }: Answer) => /lbid=([\w-]{22})/.exec(body)?.[1];
  expect(lbidOf(await ask(`/${shortlink}`, { cookie }))).toBe(lbidOf(page));
  expect(lbidOf(await ask(`/${shortlink}?${evening}`, { cookie }))).not.toBe(lbidOf(page));
});

test("a link expires at the time of the test clock, and its expired answer is marked", async () => {
  const expiresAt = new Date("2031-12-24T18:00:00Z");
  const link = await insertLink(db, {
    environment: "test",
    expiresAt,
    expiredDestination: "https://late.example/",
  });
  expect((await ask(`/${link.shortlink}?${noon}`)).headers.location).toContain("https://example.com/menu");
  const late = await ask(`/${link.shortlink}?a=1&${evening}`);
  expect(late.headers.location).toBe("https://late.example/?a=1");
  expect(late.headers).toMatchObject({ "x-service-sandbox": "true", "x-robots-tag": "noindex" });
});

test("stored times are of the present", async () => {
  const { shortlink, workspaceId } = await makeHours("test");
  const before = Date.now();
  await ask(`/${shortlink}?${evening}`);
  await shared.drained();
  const event = await db
    .selectFrom("events")
    .select(["created_at", "destination"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  expect(Math.abs(event.created_at.getTime() - before)).toBeLessThan(60_000);
  expect(event.destination).toContain("https://bar.example/");
});

test("pages, steps, contact cards and notices of a sandbox's link are marked, for GET and HEAD", async () => {
  const { shortlink, steps } = await insertWorkflow(
    db,
    {
      entry: { action: "LINK_VISIT", next: { next: "card" } },
      card: { action: "CONTACT_CARD", payload: { firstName: "Ada", lastName: "Lovelace" } },
    },
    { environment: "test" },
  );
  const page = await ask(`/${shortlink}`);
  const card = /href="([^"]*card[.]vcf[^"]*)"/.exec(page.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const step = `/${shortlink}/s/${steps.card}`;
  for (const path of [`/${shortlink}`, card, card.replace("/card.vcf", ""), step, `${step}?lbid=no`]) {
    for (const method of ["GET", "HEAD"]) {
      const { headers } = await shared.ask(path, { method, headers: person });
      expect(headers, path).toMatchObject({ "x-service-sandbox": "true", "x-robots-tag": "noindex" });
    }
  }
  expect((await ask(card)).headers["content-type"]).toContain("vcard");
});
