import { expect, test } from "vitest";
import { insertWorkflow } from "../../test/support/insert-workflow.ts";
import { insertLink, startTestScan } from "../../test/support/start-scan.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { takeOutExpiredLinks } from "../db/take-out-links.ts";

const database = await testDatabase();
const { db } = database;

const expiresAt = new Date("2026-08-01T12:00:10Z");
const justBefore = new Date(expiresAt.getTime() - 1);
const expiredDestination = "https://example.com/over?x=1#top";

test("serves a link until its expiry, and its expired destination from then on, also from memory", async () => {
  let now = justBefore;
  const { ask, drained, statements, scan } = await startTestScan(database, { now: () => now });
  const link = await insertLink(db, {
    expiresAt,
    expiredDestination,
    conversionTracking: true,
    fallback: "https://example.com/fallback",
  });
  const before = await ask(`/${link.shortlink}`);
  expect(before.headers.location).toMatch(/^https:\/\/example\.com\/menu\?lbid=/);
  await drained();
  const asked = statements();
  now = expiresAt;
  const after = await ask(`/${link.shortlink}?qr&utm=2&x=3&lbid=forged`);
  expect(after.status).toBe(302);
  const { date, connection, "keep-alive": keepAlive, ...headers } = after.headers;
  expect([date, connection, keepAlive]).toEqual([expect.any(String), "keep-alive", "timeout=5"]);
  expect(headers).toEqual({
    location: "https://example.com/over?x=1&utm=2#top",
    "cache-control": "private, no-store",
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-robots-tag": "noindex",
    "content-length": "0",
  });
  expect(statements()).toBe(asked);
  await drained();
  expect(scan.drain.counts.drained, "visits recorded").toBe(1);
});

test("says that a link without a destination after expiry has expired, in the visitor's language, to GET and HEAD", async () => {
  const { ask, spool } = await startTestScan(database, { now: () => expiresAt });
  const link = await insertLink(db, { expiresAt, fallback: "https://example.com/fallback" });
  const german = { headers: { "accept-language": "de" } };
  const page = await ask(`/${link.shortlink}?qr`, german);
  expect(page.status).toBe(410);
  expect(page.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "private, no-store",
    "x-robots-tag": "noindex",
  });
  expect(page.headers["set-cookie"]).toBeUndefined();
  expect(page.body).toContain('lang="de"');
  expect(page.body).toContain("Dieser Link ist abgelaufen");
  const head = await ask(`/${link.shortlink}`, { ...german, method: "HEAD" });
  expect([head.status, head.body]).toEqual([410, ""]);
  expect(head.headers["content-length"]).toBe(page.headers["content-length"]);
  expect(spool.depth()).toBe(0);
});

test("sends a visitor under way to the expired link's destination, whatever request comes next", async () => {
  let now = justBefore;
  const { ask, drained } = await startTestScan(database, { now: () => now });
  const workflow = await insertWorkflow(
    db,
    {
      entry: { action: "LINK_VISIT", next: { next: "page" } },
      page: {
        action: "MESSAGE_PAGE",
        payload: { title: "Hello", navigationType: "BUTTON" },
        next: { next: "exit" },
      },
      exit: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/menu" } },
    },
    { expiresAt, expiredDestination: "https://example.com/over" },
  );
  const { body } = await ask(`/${workflow.shortlink}`);
  const step = new RegExp(`/${workflow.shortlink}/s/${workflow.steps.page}[?]lbid=[\\w-]+`).exec(body)?.[0];
  await drained();
  expect((await ask(`${step}`)).status).toBe(200);
  now = expiresAt;
  for (const method of ["GET", "HEAD", "POST"] as const) {
    const { status, headers } = await ask(`${step}`, { method });
    expect([status, headers.location], method).toEqual([302, "https://example.com/over"]);
  }
});

test("serves the same after the link was taken out of its workspace, even to a clock that is behind", async () => {
  const link = await insertLink(db, { expiresAt: new Date("2026-01-01T00:00:00Z"), expiredDestination });
  while ((await takeOutExpiredLinks(db, new Date("2026-01-01T00:00:01Z"))) > 0);
  const { steps } = await db
    .selectFrom("workflow_steps")
    .select((e) => e.fn.countAll<bigint>().as("steps"))
    .where("workspace_id", "=", link.workspaceId)
    .executeTakeFirstOrThrow();
  expect(steps).toBe(0n);
  const { ask } = await startTestScan(database, { now: () => new Date("2025-12-31T23:59:59Z") });
  expect((await ask(`/${link.shortlink}`)).headers.location).toBe(expiredDestination);
});

test("shows nothing of an expired link whose workspace is gone", async () => {
  const { ask } = await startTestScan(database, { now: () => expiresAt });
  const link = await insertLink(db, { expiresAt, expiredDestination });
  await db
    .updateTable("workspaces")
    .set({ deleted_at: expiresAt })
    .where("id", "=", link.workspaceId)
    .execute();
  expect((await ask(`/${link.shortlink}`)).status).toBe(404);
});

test("a link in memory expires as soon as an earlier expiry is announced", async () => {
  const { ask } = await startTestScan(database, { now: () => justBefore });
  const link = await insertLink(db, { expiresAt: new Date(justBefore.getTime() + 60_000) });
  expect((await ask(`/${link.shortlink}`)).status).toBe(302);
  await db.transaction().execute(async (tx) => {
    await tx.updateTable("links").set({ expires_at: justBefore }).where("id", "=", link.id).execute();
    await tx
      .selectNoFrom((e) =>
        e.fn("pg_notify", [e.val("signpost_plan"), e.val(`/${link.shortlink}`)]).as("sent"),
      )
      .execute();
  });
  await expect.poll(async () => (await ask(`/${link.shortlink}`)).status, { timeout: 20_000 }).toBe(410);
});
