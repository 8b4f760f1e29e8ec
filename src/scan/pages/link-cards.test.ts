import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { insertWorkflow, type StepSeed } from "../../../test/support/insert-workflow.ts";
import { startTestScan, type TestLink } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { createMissLimit } from "../../lib/limits/miss-limit.ts";
import { createLinkCards } from "./link-cards.ts";
import { plain } from "./respond.ts";

const database = await testDatabase();
const { db } = database;
const { ask, port, drained } = await startTestScan(database, {}, afterAll);

const chat = { "user-agent": "WhatsApp/2.23.20.0" };
const person = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
const form: Record<string, StepSeed> = {
  entry: { action: "LINK_VISIT", next: { next: "form" } },
  form: {
    action: "FORM_SUBMIT",
    payload: { formTitle: "Where may we <write> to?", formDescription: "Once a month." },
    next: { next: "done" },
  },
  done: { action: "CLIENT_REDIRECT", payload: { destination: "https://example.com/" } },
};
const contactCard: Record<string, StepSeed> = {
  entry: { action: "LINK_VISIT", next: { next: "card" } },
  card: {
    action: "CONTACT_CARD",
    payload: { firstName: "Ada", lastName: "Lovelace", organization: "Engines" },
  },
};

function tagsOf(page: string): Readonly<Record<string, string>> {
  const tags = page.matchAll(/<meta (?:name|property)="((?:og|twitter):[^"]+)" content="([^"]*)"/g);
  return Object.fromEntries(
    [...tags].map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")]),
  );
}

/** The picture at a path of the short host. */
async function pictureAt(path: string) {
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    get({ port, host: "127.0.0.1", path, headers: { host: "go.example" } }, (res) => {
      buffer(res).then(resolve, reject);
    });
  });
  const picture = sharp(bytes);
  const { format, width, height } = await picture.metadata();
  const { dominant } = await picture.stats();
  return { format, width, height, dominant, bytes: bytes.length };
}

async function wear(link: TestLink, styling: object): Promise<void> {
  const at = new Date("2026-11-22T10:00:00.000Z");
  const own = { workspace_id: link.workspaceId, created_at: at, updated_at: at };
  await db
    .insertInto("page_themes")
    .values({ ...own, id: link.id, styling: JSON.stringify(styling) })
    .execute();
  await db.updateTable("links").set({ page_theme_id: link.id }).where("id", "=", link.id).execute();
}

const solid = (color: string) => ({ type: "THEME_COLOR_TYPE_SOLID", colors: [color] });

const eventsOf = async (workspaceId: string) => {
  await drained();
  return db.selectFrom("events").selectAll().where("workspace_id", "=", workspaceId).execute();
};

test("a chat is told what a form asks, without the form, and is recorded as a bot that nobody counts", async () => {
  const link = await insertWorkflow(db, form);
  const { status, body } = await ask(`/${link.shortlink}`, { headers: chat });
  expect(status).toBe(200);
  expect(body).not.toMatch(/<form|<script/);
  expect(tagsOf(body)).toMatchObject({
    "og:title": "Where may we &lt;write&gt; to?",
    "og:description": "Once a month.",
    "og:url": `https://go.example/${link.shortlink}`,
    "og:image": expect.stringMatching(
      `^https://go\\.example/_p/cards/${link.shortlink}\\.jpg\\?v=[0-9a-f]{12}$`,
    ),
    "og:image:width": "1200",
    "twitter:card": "summary_large_image",
  });
  expect(await eventsOf(link.workspaceId)).toMatchObject([{ counted: false }]);
});

test("a page that opens at the link's own address tells the same to people's programs, exits too", async () => {
  for (const [flow, title] of [
    [form, "Where may we &lt;write&gt; to?"],
    [contactCard, "Ada Lovelace"],
  ] as const) {
    const link = await insertWorkflow(db, flow);
    const first = await ask(`/${link.shortlink}`, { headers: person });
    expect(tagsOf(first.body)).toMatchObject({
      "og:title": title,
      "og:url": `https://go.example/${link.shortlink}`,
    });
    const bot = await ask(`/${link.shortlink}`, { headers: chat });
    expect(tagsOf(bot.body)).toEqual(tagsOf(first.body));
  }
});

test("a link's card is a small picture in its colors, kept for a day, and asking for it is no visit", async () => {
  const link = await insertWorkflow(db, form);
  const path = `/_p/cards/${link.shortlink}.jpg`;
  const shown = await ask(path);
  expect(shown).toMatchObject({
    status: 200,
    headers: {
      "content-type": "image/jpeg",
      "cache-control": "public, max-age=86400",
    },
  });
  expect(shown.headers["set-cookie"]).toBeUndefined();
  const head = await ask(path, { method: "HEAD" });
  expect([head.status, head.body, head.headers["content-length"]]).toEqual([
    200,
    "",
    shown.headers["content-length"],
  ]);
  expect(await eventsOf(link.workspaceId)).toEqual([]);
});

test("the card of a sandbox's link is marked like its pages", async () => {
  const { shortlink } = await insertWorkflow(db, form, { environment: "test" });
  expect((await ask(`/_p/cards/${shortlink}.jpg`)).headers).toMatchObject({
    "x-service-sandbox": "true",
    "x-robots-tag": "noindex",
  });
});

test("a card wears the theme, and has an address of its own for each look", async () => {
  const [red, blue] = [await insertWorkflow(db, form), await insertWorkflow(db, form)];
  await wear(red, { canvasColor: solid("#b91c1c"), badgeEnabled: true });
  await wear(blue, { canvasColor: solid("#1d4ed8") });
  const versions = new Set<string | undefined>();
  for (const [link, channel] of [
    [red, "r"],
    [blue, "b"],
  ] as const) {
    const { body } = await ask(`/${link.shortlink}`, { headers: chat });
    const address = new URL(tagsOf(body)["og:image"] ?? "");
    versions.add(address.searchParams.get("v") ?? undefined);
    const { dominant, bytes, ...size } = await pictureAt(`${address.pathname}${address.search}`);
    expect(size).toEqual({ format: "jpeg", width: 1200, height: 630 });
    expect(bytes).toBeLessThan(60_000);
    expect(dominant[channel]).toBe(Math.max(dominant.r, dominant.g, dominant.b));
  }
  expect(versions.size).toBe(2);
});

test("one address has so many new cards painted, and cards in memory without end", async () => {
  const send = createLinkCards(createMissLimit({ nowMs: () => 0, burst: 3 }));
  const server = createServer((req, res) => {
    const [, color, address = ""] = (req.url ?? "").split("/");
    const cardOf = { res, plan: { pageTheme: { canvasColor: solid(`#${color}`) } }, address };
    send(cardOf, plain).catch(() => res.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port: at } = server.address() as AddressInfo;
  const statusOf = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${at}${path}`);
    await reply.arrayBuffer();
    return [reply.status, reply.headers.get("retry-after")];
  };
  for (const color of ["a00000", "b00000", "c00000", "a00000", "b00000", "c00000"])
    expect(await statusOf(`/${color}/198.51.100.7`)).toEqual([200, null]);
  expect(await statusOf("/d00000/198.51.100.7")).toEqual([503, "1"]);
  expect(await statusOf("/a00000/198.51.100.7")).toEqual([200, null]);
  expect(await statusOf("/d00000/198.51.100.8")).toEqual([200, null]);
});

test("many who ask for cards at once are answered or told to come back, and nothing else is a card", async () => {
  const links = await Promise.all(
    Array.from({ length: 22 }, async (_, index) => {
      const link = await insertWorkflow(db, form);
      await wear(link, { canvasColor: solid(`#0000${(index + 16).toString(16)}`) });
      return link;
    }),
  );
  const answers = await Promise.all(links.map(({ shortlink }) => ask(`/_p/cards/${shortlink}.jpg`)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(20);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  for (const path of [
    "/_p/cards/nobody-made-this.jpg",
    "/_p/cards/.jpg",
    "/_p/cards/a/b.jpg",
    "/_p/cards/a.png",
  ])
    expect((await ask(path)).status, path).toBe(404);
  const posted = await ask(`/_p/cards/${links[0]?.shortlink}.jpg`, { method: "POST" });
  expect([posted.status, posted.headers.allow]).toEqual([405, "GET, HEAD"]);
});
