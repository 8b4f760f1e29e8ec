import { expect, test } from "vitest";
import type { MediaType } from "../../../gen/database.ts";
import { insertWorkflow, type StepSeed } from "../../../test/support/insert-workflow.ts";
import {
  insertLink,
  insertWorkspace,
  type LinkOptions,
  startTestScan,
} from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { newId } from "../../lib/ids.ts";

const database = await testDatabase();
const { db } = database;
const at = new Date("2026-08-01T12:00:00Z");

const page = { action: "THANK_YOU_PAGE", payload: { title: "Thanks" } } as const;
const flow = {
  entry: { action: "LINK_VISIT", next: { next: "page" } },
  page,
} as const satisfies Record<string, StepSeed>;

/** The storage keys of the copies of an image, as the job names them. */
function copiesOf(letter: string, ...names: readonly string[]): string[] {
  return names.map((name) => `public/pages/${letter.repeat(32)}/${name}`);
}
const coverFiles = copiesOf("c", "tall-780x1688.webp", "wide-780x585.webp", "tall.jpg", "wide.jpg");
const badgeFiles = copiesOf("b", "square-176x176.webp", "square.jpg");

async function insertMedia(workspaceId: string, type: MediaType, files: readonly string[]): Promise<string> {
  const id = newId(at);
  const values = { workspace_id: workspaceId, id, media_type: type, visibility: "PRIVATE" as const };
  const stored = { file_name: "a.png", storage_key: `media/${id}.png`, sha256: "", size_bytes: 1n };
  const times = { created_at: at, updated_at: at };
  await db
    .insertInto("media")
    .values({ ...values, ...stored, ...times, page_files: [...files] })
    .execute();
  return id;
}

/** Gives a link a theme of its own. */
async function dress(
  { workspaceId, id }: { workspaceId: string; id: string },
  styling: object,
): Promise<void> {
  const theme = newId(at);
  const own = { workspace_id: workspaceId, id: theme, created_at: at, updated_at: at };
  await db
    .insertInto("page_themes")
    .values({ ...own, styling: JSON.stringify(styling) })
    .execute();
  await db.updateTable("links").set({ page_theme_id: theme }).where("id", "=", id).execute();
}

const colors = {
  badgeEnabled: true,
  canvasColor: { colors: ["#123456"] },
  titleFont: { color: { colors: ["#fedcba"] } },
};

async function dressedLink(options: LinkOptions = {}, extra: object = {}) {
  const workspaceId = await insertWorkspace(db, options);
  const link = await insertWorkflow(db, flow, { ...options, workspaceId });
  const media = {
    canvasCoverId: await insertMedia(workspaceId, "BACKGROUND_COVER", coverFiles),
    badgeId: await insertMedia(workspaceId, "BADGE", badgeFiles),
  };
  await dress(link, { ...colors, ...media, ...extra });
  return { ...link, media };
}

test("a page wears its theme with cover and badge, at the cost of the one statement that finds its link", async () => {
  const scan = await startTestScan(database);
  const plain = await insertWorkflow(db, flow);
  const dressed = await dressedLink();
  const cost = async (shortlink: string) => {
    const before = scan.statements();
    const { status, body } = await scan.ask(`/${shortlink}`);
    expect(status).toBe(200);
    return { statements: scan.statements() - before, body };
  };
  const without = await cost(plain.shortlink);
  const first = await cost(dressed.shortlink);
  expect(first.statements).toBe(without.statements);
  expect(without.body).not.toContain("<img");
  for (const text of [
    "--canvas:#123456",
    "--title:#fedcba",
    "/_p/files/public/pages/cccc",
    "/_p/files/public/pages/bbbb",
  ])
    expect(first.body).toContain(text);
  expect((await cost(dressed.shortlink)).statements).toBe(without.statements - 1);
});

test("a theme without its images, because they wait for their copies, is whole without them", async () => {
  const scan = await startTestScan(database);
  const { shortlink, media } = await dressedLink();
  await db.updateTable("media").set({ page_files: [] }).where("id", "=", media.canvasCoverId).execute();
  const { body, headers } = await scan.ask(`/${shortlink}`);
  expect(body).toContain("/_p/files/public/pages/bbbb");
  expect(body).not.toContain("pages/cccc");
  expect(headers["content-security-policy"]).toContain("img-src data: 'self';");
});

test("a theme that names media of another workspace shows none of them", async () => {
  const scan = await startTestScan(database);
  const other = await dressedLink();
  const { shortlink } = await dressedLink({}, other.media);
  const { body, headers } = await scan.ask(`/${shortlink}`);
  expect(body).toContain("--canvas:#123456");
  expect(body).not.toContain("<img");
  expect(headers["content-security-policy"]).toContain("img-src data:;");
});

test("notices about a link wear its theme: expired links, links that lead nowhere, steps that are not there", async () => {
  const scan = await startTestScan(database);
  const expired = await dressedLink({ expiresAt: at });
  const nowhere = await insertLink(db, { isConnected: false });
  await dress(nowhere, colors);
  const open = await dressedLink();
  const asked = [
    [410, `/${expired.shortlink}`],
    [404, `/${nowhere.shortlink}`],
    [400, `/${open.shortlink}/s/${open.steps.page}`],
  ] as const;
  for (const [status, path] of asked) {
    const answer = await scan.ask(path);
    expect([answer.status, path]).toEqual([status, path]);
    expect(answer.body).toContain("--canvas:#123456");
    expect(answer.body).toContain('class="badge"');
    expect(answer.body).not.toContain('class="mark"');
  }
  expect((await scan.ask("/no-such-link")).body).toContain("--canvas:#ffffff");
});
