import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/test-database.ts";
import { sweepFiles } from "../../db/file-checks.ts";
import { openStorage } from "../../lib/storage/open-storage.ts";
import { lookHash } from "../../model/look/look-hash.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import { builtInFiles } from "../built-in-themes.ts";
import { renderPageThumbnail } from "./render-page-thumbnail.ts";

const { db } = await testDatabase();
const directory = await mkdtemp(join(tmpdir(), "thumbnails-"));
afterAll(() => rm(directory, { recursive: true, force: true }));
const storage = await openStorage({ directory, shipped: builtInFiles });

const workspaceId = "0192a1b2-0000-7000-8000-00000000000a";
const at = new Date("2026-11-22T10:00:00.000Z");
const later = new Date("2026-11-22T10:05:00.000Z");
const task = renderPageThumbnail({ db, storage, now: () => at });

let made = 0;
function newId(): string {
  made += 1;
  return `0192a1b2-0000-7000-8000-${String(made).padStart(12, "0")}`;
}

const solid = (color: string) => ({ type: "THEME_COLOR_TYPE_SOLID", colors: [color] });

/** A template that waits for its thumbnail. */
async function newTemplate(styling: object): Promise<string> {
  const [templateId, lookId] = [newId(), newId()];
  await sql`insert into page_themes (workspace_id, id, template_id, styling, created_at, updated_at)
    values (${workspaceId}, ${lookId}, ${templateId}, ${JSON.stringify(styling)}::jsonb, ${at}, ${at})`.execute(
    db,
  );
  await sql`insert into page_theme_templates (workspace_id, id, name, look_id, look_hash,
      thumbnail_pending_update_since, created_at, updated_at)
    values (${workspaceId}, ${templateId}, 'Ours', ${lookId}, ${hashOf(styling)}, ${at}, ${at}, ${at})`.execute(
    db,
  );
  return templateId;
}

function hashOf(styling: object): string {
  return lookHash(styling, { cover: null, badge: null });
}

/** A stored image of one color, or of bytes that are none. */
async function newMedia(type: "BADGE" | "BACKGROUND_COVER", image: string | Buffer): Promise<string> {
  const id = newId();
  const key = `media/${workspaceId}/${id}.png`;
  const create = { width: 300, height: 300, channels: 3, background: "" } as const;
  const bytes =
    typeof image === "string"
      ? await sharp({ create: { ...create, background: image } })
          .png()
          .toBuffer()
      : image;
  await storage.put(key, bytes, { contentType: "image/png" });
  await sql`insert into media (workspace_id, id, media_type, visibility, file_name, storage_key, size_bytes, sha256,
      created_at, updated_at)
    values (${workspaceId}, ${id}, ${type}, 'PRIVATE', 'x.png', ${key}, 1, '', ${at}, ${at})`.execute(db);
  return id;
}

function draw(templateId: string, workspace = workspaceId): Promise<unknown> {
  return Promise.resolve(task({ workspaceId: workspace, templateId }, AbortSignal.timeout(60_000)));
}

async function stateOf(templateId: string) {
  const row = await db
    .selectFrom("page_theme_templates")
    .select(["thumbnail_key", "thumbnail_pending_update_since"])
    .where("id", "=", templateId)
    .executeTakeFirstOrThrow();
  return { key: row.thumbnail_key ?? "", pendingSince: row.thumbnail_pending_update_since };
}

/** The colors of the template's thumbnail, row by row, as coarse as its format keeps them. */
async function pictureOf(templateId: string) {
  const file = await storage.get((await stateOf(templateId)).key);
  const { data, info } = await sharp(file?.bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (pixel: number) =>
    [...data.subarray(pixel * 3, pixel * 3 + 3)].map((value) => Math.round(value / 32)).join();
  return { at, width: info.width, height: info.height };
}

/** The colors at some places, which are shares of the width and the height. */
async function pixelsOf(templateId: string, ...places: readonly (readonly [x: number, y: number])[]) {
  const { at, width, height } = await pictureOf(templateId);
  return places.map(([x, y]) => at(Math.round(y * height) * width + Math.round(x * width)));
}

/** How much of the thumbnail has a color. */
async function shareOf(templateId: string, color: string): Promise<number> {
  const { at, width, height } = await pictureOf(templateId);
  const pixels = Array.from({ length: width * height }, (_, index) => at(index));
  return pixels.filter((each) => each === color).length / pixels.length;
}

const [red, lime, green, blue, white] = ["8,0,0", "0,8,0", "0,4,0", "0,0,8", "8,8,8"];

test("a thumbnail shows the look of its template, which waits no more", async () => {
  const id = await newTemplate({
    canvasColor: solid("#ff0000"),
    elementColor: solid("#0000ff"),
    containerEnabled: true,
    containerConfig: {
      variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE",
      backgroundColor: solid("#ffffff"),
      opacity: 100,
    },
  });
  await draw(id);
  const { key, pendingSince } = await stateOf(id);
  expect(pendingSince).toBeNull();
  const file = await storage.get(key);
  expect(file?.contentType).toBe("image/webp");
  expect(file?.bytes.length).toBeLessThan(60_000);
  expect(await sharp(file?.bytes).metadata()).toMatchObject({ format: "webp", width: 585, height: 876 });
  expect(await pixelsOf(id, [0.02, 0.02], [0.08, 0.5])).toEqual([red, white]);
  // Three buttons.
  expect(await shareOf(id, blue)).toBeGreaterThan(0.15);
  expect(await shareOf(id, blue)).toBeLessThan(0.25);
});

test("a thumbnail shows the cover and the badge", async () => {
  const [canvasCoverId, badgeId] = [
    await newMedia("BACKGROUND_COVER", "#00ff00"),
    await newMedia("BADGE", "#0000ff"),
  ];
  const full = { canvasColor: solid("#ff0000"), canvasCoverId, badgeId, badgeEnabled: true };
  const whole = await newTemplate(full);
  const top = await newTemplate({
    ...full,
    canvasCoverMode: "PAGE_THEME_BACKGROUND_COVER_MODE_PROGRESSIVE_TOP",
  });
  await draw(whole);
  await draw(top);
  expect(await pixelsOf(whole, [0.02, 0.02], [0.02, 0.98])).toEqual([lime, lime]);
  expect(await pixelsOf(top, [0.02, 0.02], [0.02, 0.98], [0.5, 0.44])).toEqual([lime, red, blue]);
});

test("every built-in template gets a thumbnail of its own", async () => {
  const { rows } = await sql<{ id: string }>`select id from page_theme_templates
    where workspace_id = ${noWorkspace} order by id`.execute(db);
  for (const { id } of rows) await draw(id, noWorkspace);
  const pictures = await Promise.all(
    rows.map(async ({ id }) => (await storage.get((await stateOf(id)).key))?.bytes),
  );
  expect(new Set(pictures.map((bytes) => Buffer.from(bytes ?? "").toString("base64"))).size).toBe(6);
});

test("drawing again changes nothing, and a new look gives a new file and leaves the old one to the clean-up", async () => {
  const id = await newTemplate({ canvasColor: solid("#00ff00") });
  await draw(id);
  const first = await stateOf(id);
  await draw(id);
  expect(await stateOf(id)).toEqual(first);
  const changed = { canvasColor: solid("#008000") };
  await sql`update page_themes set styling = ${JSON.stringify(changed)}::jsonb where template_id = ${id}`.execute(
    db,
  );
  await sql`update page_theme_templates set look_hash = ${hashOf(changed)}, thumbnail_pending_update_since = ${later}
    where id = ${id}`.execute(db);
  await draw(id);
  const second = await stateOf(id);
  expect(second.key).not.toBe(first.key);
  expect(await pixelsOf(id, [0.02, 0.02])).toEqual([green]);
  const afterwards = new Date(at.getTime() + 3 * 60 * 60 * 1000);
  while ((await sweepFiles(db, { storage, now: () => afterwards })) > 0);
  expect(await storage.get(first.key)).toBeUndefined();
  expect(await storage.get(second.key)).toBeDefined();
});

test("a template that is changed while it is drawn goes on waiting", async () => {
  const id = await newTemplate({ canvasColor: solid("#123456") });
  const change = sql`update page_theme_templates set thumbnail_pending_update_since = ${later} where id = ${id}`;
  const changing = {
    ...storage,
    put: async (...file: Parameters<typeof storage.put>) => {
      await change.execute(db);
      await storage.put(...file);
    },
  };
  const slow = renderPageThumbnail({ db, storage: changing, now: () => at });
  await slow({ workspaceId, templateId: id }, AbortSignal.timeout(60_000));
  expect(await stateOf(id)).toEqual({ key: "", pendingSince: later });
});

test("a template that cannot be drawn goes on waiting, and its job fails, so that it is tried again", async () => {
  const canvasCoverId = await newMedia("BACKGROUND_COVER", Buffer.from("no image"));
  const id = await newTemplate({ canvasCoverId });
  await expect(draw(id)).rejects.toThrow("crashed");
  expect(await stateOf(id)).toEqual({ key: "", pendingSince: at });
});

test("a template that is gone, or of another workspace, is not drawn", async () => {
  const id = await newTemplate({});
  await draw(id, "0192a1b2-0000-7000-8000-00000000000b");
  await draw(newId());
  expect(await stateOf(id)).toEqual({ key: "", pendingSince: at });
});
