import { expect, test } from "vitest";
import { insertLink, insertWorkspace, startTestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { newId } from "../lib/ids.ts";

const database = await testDatabase();
const { db } = database;

const cookiePattern =
  /^svc_did=([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}); Max-Age=34128000; Path=\/; HttpOnly; Secure; SameSite=Lax$/;

test("redirects with exactly the headers of a redirect that must never be cached", async () => {
  const { ask } = await startTestScan(database);
  const link = await insertLink(db, { destination: "https://example.com/menu?x=1#top" });
  const answer = await ask(`/${link.shortlink}?qr&utm=2`);
  expect(answer.status).toBe(302);
  const { date, connection, "keep-alive": keepAlive, "set-cookie": cookie, ...headers } = answer.headers;
  expect(headers).toEqual({
    location: "https://example.com/menu?x=1&utm=2#top",
    "cache-control": "private, no-store",
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-robots-tag": "noindex",
    "content-length": "0",
  });
  expect(cookie).toMatch(cookiePattern);
  expect([date, connection, keepAlive]).toEqual([expect.any(String), "keep-alive", "timeout=5"]);
  expect(answer.body).toBe("");
});

test("asks the database once for a link, and then not any more", async () => {
  const { ask, statements } = await startTestScan(database);
  const link = await insertLink(db);
  const before = statements();
  await ask(`/${link.shortlink}`);
  expect(statements() - before).toBe(1);
  await Promise.all(Array.from({ length: 20 }, () => ask(`/${link.shortlink}`)));
  expect(statements() - before).toBe(1);
});

test("asks the database once for all who come for the same cold link at the same time", async () => {
  const { ask, statements } = await startTestScan(database);
  const link = await insertLink(db);
  const before = statements();
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`/${link.shortlink}`)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 302));
  expect(statements() - before).toBe(1);
});

test("gives a browser one cookie and renews it on each visit", async () => {
  const { ask } = await startTestScan(database);
  const link = await insertLink(db);
  const first = await ask(`/${link.shortlink}`);
  const cookie = cookiePattern.exec(first.headers["set-cookie"] ?? "")?.[1] ?? "";
  const again = await ask(`/${link.shortlink}`, { headers: { cookie: `a=b; svc_did=${cookie}; c=d` } });
  expect(cookiePattern.exec(again.headers["set-cookie"] ?? "")?.[1]).toBe(cookie);
  const forged = await ask(`/${link.shortlink}`, { headers: { cookie: "svc_did=me" } });
  expect(cookiePattern.exec(forged.headers["set-cookie"] ?? "")?.[1]).toMatch(/^[0-9a-f-]{36}$/);
});

test("sets no cookie at level NONE", async () => {
  const { ask } = await startTestScan(database);
  const link = await insertLink(db, { dataCollection: "NONE" });
  const answer = await ask(`/${link.shortlink}`);
  expect(answer.status).toBe(302);
  expect(answer.headers["set-cookie"]).toBeUndefined();
});

test("carries the visit's id on redirects that track conversions", async () => {
  const { ask, drained } = await startTestScan(database);
  const link = await insertLink(db, { conversionTracking: true });
  const { headers } = await ask(`/${link.shortlink}?a=1`);
  await drained();
  const event = await db
    .selectFrom("events")
    .select("id")
    .where("workspace_id", "=", link.workspaceId)
    .executeTakeFirstOrThrow();
  const lbid = Buffer.from(event.id.replaceAll("-", ""), "hex").toString("base64url");
  expect(headers.location).toBe(`https://example.com/menu?a=1&lbid=${lbid}`);
});

test("answers HEAD with the status and headers of a redirect, without cookie, id and event", async () => {
  const { ask, spool } = await startTestScan(database);
  const link = await insertLink(db, { conversionTracking: true });
  const head = await ask(`/${link.shortlink}?a=1`, { method: "HEAD" });
  expect(head.status).toBe(302);
  expect(head.headers.location).toBe("https://example.com/menu?a=1");
  expect(head.headers["cache-control"]).toBe("private, no-store");
  expect(head.headers["set-cookie"]).toBeUndefined();
  expect(spool.depth()).toBe(0);
});

test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])(
  "refuses %s and says what is allowed",
  async (method) => {
    const { ask } = await startTestScan(database);
    const answer = await ask("/anything", { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("GET, HEAD");
  },
);

test("shows the same page, without script and not to be indexed, for what is missing, deleted, reserved or elsewhere", async () => {
  const { ask } = await startTestScan(database);
  const deleted = await insertLink(db);
  await db.updateTable("links").set({ deleted_at: new Date() }).where("id", "=", deleted.id).execute();
  const foreign = await insertLink(db, { domain: { name: `d-${newId(new Date())}.example` } });
  const closed = await insertLink(db);
  await db
    .updateTable("workspaces")
    .set({ deleted_at: new Date() })
    .where("id", "=", closed.workspaceId)
    .execute();
  const paths = [
    "/nobody-made-this",
    `/${deleted.shortlink}`,
    `/${foreign.shortlink}`,
    `/${closed.shortlink}`,
    "/a/b",
    "/_p/other",
    "/.well-known/x",
    "/%2e%2e",
  ];
  const answers = await Promise.all(paths.map((path) => ask(path)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  const [page] = answers;
  expect(page?.body).not.toMatch(/<script|javascript:|https?:|\son\w+=/i);
  expect(page?.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-robots-tag": "noindex",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringMatching(/^default-src 'none'; style-src 'sha256-[^']+';/),
  });
  expect(page?.headers["set-cookie"]).toBeUndefined();
});

test("tells visitors in their own language what is the matter", async () => {
  const { ask } = await startTestScan(database);
  const page = await ask("/nobody-made-this", { headers: { "accept-language": "ar-EG, de;q=0.5" } });
  expect(page.status).toBe(404);
  expect(page.headers["content-language"]).toBe("ar");
  expect(page.body).toContain('<html lang="ar" dir="rtl">');
});

test("serves a link on its own domain only, whatever case and port the host is written with", async () => {
  const { ask } = await startTestScan(database);
  const name = `d-${newId(new Date())}.example`;
  const link = await insertLink(db, { domain: { name } });
  expect((await ask(`/${link.shortlink}`, { host: `${name.toUpperCase()}:8443` })).status).toBe(302);
  expect((await ask(`/${link.shortlink}`)).status).toBe(404);
  expect((await ask(`/${link.shortlink}`, { host: "unknown.example" })).status).toBe(404);
});

test("sends the bare address of a domain to its root destination, without recording anything", async () => {
  const { ask, spool } = await startTestScan(database, { siteUrl: "https://signpost.example" });
  const name = `d-${newId(new Date())}.example`;
  const bare = `e-${newId(new Date())}.example`;
  await insertLink(db, { domain: { name, root: "https://customer.example/" } });
  await insertLink(db, { domain: { name: bare } });
  expect((await ask("/", { host: name })).headers.location).toBe("https://customer.example/");
  expect((await ask("/", { host: bare })).headers.location).toBe("https://signpost.example");
  expect((await ask("/")).headers.location).toBe("https://signpost.example");
  expect((await ask("/", { host: "unknown.example" })).status).toBe(404);
  expect(spool.depth()).toBe(0);
});

test("falls back to the link's destination, to the domain's root, and to a page that is recorded too", async () => {
  const { ask, drained } = await startTestScan(database);
  const workspaceId = await insertWorkspace(db);
  const name = `d-${newId(new Date())}.example`;
  const broken = { workspaceId, isConnected: false };
  const link = await insertLink(db, { ...broken, fallback: "https://f.example/" });
  const rooted = await insertLink(db, { ...broken, domain: { name, root: "https://r.example/" } });
  const lost = await insertLink(db, broken);
  expect((await ask(`/${link.shortlink}`)).headers.location).toBe("https://f.example/");
  expect((await ask(`/${rooted.shortlink}`, { host: name })).headers.location).toBe("https://r.example/");
  const page = await ask(`/${lost.shortlink}`);
  expect(page.status).toBe(404);
  expect(page.body).toContain("Not available");
  expect(page.headers["set-cookie"]).toMatch(cookiePattern);

  await drained();
  const rows = await db
    .selectFrom("visit_traces")
    .select(["data", "step_action"])
    .where("workspace_id", "=", workspaceId)
    .where("step_id", "=", "00000000-0000-0000-0000-000000000000")
    .execute();
  const destinations = rows.map(({ data }) => data);
  for (const destination of ["https://f.example/", "https://r.example/", ""])
    expect(destinations).toContainEqual({
      redirect: { destination, conversionTracking: false, fallback: true },
    });
});

test("marks every answer about a sandbox's link", async () => {
  const { ask } = await startTestScan(database);
  const link = await insertLink(db, { environment: "test" });
  const lost = await insertLink(db, { environment: "test", isConnected: false });
  for (const { shortlink } of [link, lost]) {
    for (const method of ["GET", "HEAD"]) {
      const { headers } = await ask(`/${shortlink}`, { method });
      expect(headers).toMatchObject({ "x-service-sandbox": "true", "x-robots-tag": "noindex" });
    }
  }
});

test("stops serving a sandbox's links when it expires, also those in memory", async () => {
  let now = new Date("2026-08-01T12:00:00Z");
  const { ask } = await startTestScan(database, { now: () => now });
  const link = await insertLink(db, { environment: "test" });
  await db
    .updateTable("workspaces")
    .set({ expires_at: new Date("2026-08-01T12:00:10Z") })
    .where("id", "=", link.workspaceId)
    .execute();
  expect((await ask(`/${link.shortlink}`)).status).toBe(302);
  now = new Date("2026-08-01T12:00:10Z");
  expect((await ask(`/${link.shortlink}`)).status).toBe(404);
});

test("serves what a link has become as soon as its change is announced", async () => {
  const { ask } = await startTestScan(database);
  const link = await insertLink(db);
  await ask(`/${link.shortlink}`);
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable("workflow_steps")
      .set({ payload: JSON.stringify({ destination: "https://example.com/new" }) })
      .where("id", "=", link.redirectStepId)
      .execute();
    await database.pool.query("select pg_notify('signpost_plan', $1)", ["/other"]);
    await tx
      .selectNoFrom((e) =>
        e.fn("pg_notify", [e.val("signpost_plan"), e.val(`/${link.shortlink}`)]).as("sent"),
      )
      .execute();
  });
  const location = async () => (await ask(`/${link.shortlink}`)).headers.location;
  await expect.poll(location, { timeout: 20_000 }).toBe("https://example.com/new");
});

test("limits how often an address may guess, and still serves links that are known", async () => {
  const { ask } = await startTestScan(database, { now: () => new Date("2026-08-01T12:00:00Z") });
  const link = await insertLink(db);
  const guesser = { address: "198.51.100.9" };
  await ask(`/${link.shortlink}`);
  for (let guess = 0; guess < 100; guess++) expect((await ask(`/guess${guess}`, guesser)).status).toBe(404);
  const limited = await ask("/one-more", guesser);
  expect(limited.status).toBe(429);
  expect(limited.headers["retry-after"]).toBe("60");
  expect((await ask("/guess1", guesser)).status).toBe(404);
  expect((await ask(`/${link.shortlink}`, guesser)).status).toBe(302);
  expect((await ask("/one-more", { address: "198.51.100.10" })).status).toBe(404);
});

test("answers what crawlers and browsers ask any host for", async () => {
  const { ask } = await startTestScan(database);
  expect((await ask("/robots.txt")).body).toBe("User-agent: *\nDisallow:\n");
  expect((await ask("/favicon.ico")).status).toBe(204);
});

test("answers the visitor all the same when the disk refuses the visit", async () => {
  const problem = new Error("disk full");
  const { ask } = await startTestScan(database, {
    spool: {
      add: (_id, _text, done) => done(problem),
      append: () => Promise.reject(problem),
      read: async () => ({ chunks: [], records: 0, hasMore: false }),
      forget: async () => {},
      adopt: async () => 0,
      pending: () => 0,
      depth: () => 0,
      unreadable: () => [],
      close: async () => {},
    },
  });
  const link = await insertLink(db);
  expect((await ask(`/${link.shortlink}`)).status).toBe(302);
});
