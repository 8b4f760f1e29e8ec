import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MediaType } from "../../gen/database.ts";
import { testDatabase } from "../../test/support/test-database.ts";
import { sweepFiles } from "../db/file-checks.ts";
import { createTokenBox } from "../integrations/token-box.ts";
import { openStorage } from "../lib/storage/open-storage.ts";
import type { Storage } from "../lib/storage/storage.ts";
import { pageImage } from "../model/look/page-image.ts";
import { makePageImages } from "./make-page-images.ts";
import { deleteTenantRows } from "./purge-rows.ts";

const { db } = await testDatabase();
const time = new Date("2026-08-01T12:00:00.123Z");

let directory: string;
let files: Storage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "page-images-"));
  files = await openStorage({ directory });
});
afterAll(() => rm(directory, { recursive: true }));

/** An uploaded image without copies. */
async function insertMedia(mediaType: MediaType, bytes: Buffer) {
  const [workspaceId, mediaId] = [randomUUID(), randomUUID()];
  const key = `media/${workspaceId}/${mediaId}.png`;
  await files.put(key, bytes, { contentType: "image/png" });
  const values = {
    workspace_id: workspaceId,
    id: mediaId,
    media_type: mediaType,
    visibility: "PRIVATE" as const,
  };
  await db
    .insertInto("media")
    .values({
      ...values,
      file_name: "a.png",
      sha256: "",
      storage_key: key,
      size_bytes: 1n,
      created_at: time,
      updated_at: time,
    })
    .execute();
  return { workspaceId, mediaId };
}

type TestMedia = Awaited<ReturnType<typeof insertMedia>>;

function make(media: TestMedia, storage = files): Promise<void> {
  return makePageImages({ db, storage, now: () => time })(media, new AbortController().signal);
}

async function keysOf({ mediaId }: TestMedia): Promise<string[]> {
  const { page_files } = await db
    .selectFrom("media")
    .select("page_files")
    .where("id", "=", mediaId)
    .executeTakeFirstOrThrow();
  return page_files;
}

/** Each copy by its name, as what its file says of itself. */
async function copiesOf(media: TestMedia) {
  const copies = (await keysOf(media)).map(async (key) => {
    const { bytes = new Uint8Array() } = (await files.get(key)) ?? {};
    const { format, width, height, hasAlpha } = await sharp(bytes).metadata();
    return { name: key.slice(key.lastIndexOf("/") + 1), size: bytes.length, format, width, height, hasAlpha };
  });
  return Promise.all(copies);
}

function picture(width: number, height: number, alpha = 1) {
  return sharp({ create: { width, height, channels: 4, background: { r: 9, g: 99, b: 199, alpha } } })
    .png()
    .toBuffer();
}

/** Pixels without any order: the picture that can be compressed the least. */
function noise(width: number, height: number) {
  const grain = { type: "gaussian", mean: 128, sigma: 80 } as const;
  return sharp({ create: { width, height, channels: 3, background: "#000", noise: grain } })
    .png({ compressionLevel: 0 })
    .toBuffer();
}

test("a cover has a cut for upright phones and all of itself in three widths, as WEBP and once each as JPEG", async () => {
  const media = await insertMedia("BACKGROUND_COVER", await picture(4_000, 3_000));
  await make(media);
  const copies = await copiesOf(media);
  expect(copies.map(({ name, format, width, height }) => `${name} ${format} ${width} ${height}`)).toEqual([
    "tall-780x1688.webp webp 780 1688",
    "tall-1170x2532.webp webp 1170 2532",
    "wide-780x585.webp webp 780 585",
    "wide-1170x878.webp webp 1170 878",
    "wide-1920x1440.webp webp 1920 1440",
    "tall.jpg jpeg 780 1688",
    "wide.jpg jpeg 1170 878",
  ]);
  expect(pageImage(await keysOf(media))?.copies).toHaveLength(5);
});

test("a badge is cut to a square and stays transparent", async () => {
  const media = await insertMedia("BADGE", await picture(900, 600, 0.5));
  await make(media);
  expect(await copiesOf(media)).toMatchObject([
    { name: "square-176x176.webp", width: 176, height: 176, hasAlpha: true },
    { name: "square-264x264.webp", width: 264, height: 264, hasAlpha: true },
    { name: "square.jpg", width: 176, height: 176, hasAlpha: false },
  ]);
});

test("no copy is larger than its image, however small or thin the image is", async () => {
  const shapes = [
    [1, 1],
    [200, 300],
    [8_000, 1],
    [1, 8_000],
  ] as const;
  for (const [width, height] of shapes) {
    for (const type of ["BACKGROUND_COVER", "BADGE"] as const) {
      const media = await insertMedia(type, await picture(width, height));
      await make(media);
      const copies = await copiesOf(media);
      expect(pageImage(await keysOf(media))?.copies.length).toBeGreaterThan(0);
      for (const copy of copies) {
        expect(copy.width).toBeLessThanOrEqual(width);
        expect(copy.height).toBeLessThanOrEqual(height);
      }
    }
  }
});

test("a copy of a cover has at most 120 kB, whatever the image shows, and is named by its size", async () => {
  const media = await insertMedia("BACKGROUND_COVER", await noise(800, 1_700));
  await make(media);
  const copies = await copiesOf(media);
  expect(copies.length).toBeGreaterThanOrEqual(4);
  for (const { name, size, width, height } of copies) {
    expect(size).toBeLessThanOrEqual(120_000);
    if (name.endsWith(".webp")) expect(name).toContain(`-${width}x${height}.`);
  }
  // Quality goes before pixels do, but pixels may go.
  expect(Math.max(...copies.map(({ width }) => width))).toBeGreaterThan(250);
});

test("runs twice with the outcome of once, and the clean-up takes what nobody refers to", async () => {
  const media = await insertMedia("BADGE", await picture(300, 300));
  const put: string[] = [];
  const watched: Storage = {
    ...files,
    put: (key, ...file) => files.put(key, ...file).then(() => void put.push(key)),
  };
  await Promise.all([make(media, watched), make(media, watched)]);
  const kept = await keysOf(media);
  await make(media, watched);
  expect(await keysOf(media)).toEqual(kept);
  const later = () => new Date(time.getTime() + 3 * 60 * 60 * 1_000);
  while ((await sweepFiles(db, { storage: files, now: later })) > 0);
  const left = await Promise.all(put.map(async (key) => ((await files.get(key)) === undefined ? [] : [key])));
  expect(new Set(left.flat())).toEqual(new Set(kept));
});

test("the copies go with the rows of their workspace", async () => {
  const media = await insertMedia("BADGE", await picture(300, 300));
  await make(media);
  const keys = await keysOf(media);
  expect(keys).toHaveLength(3);
  const tokenBox = createTokenBox(Buffer.alloc(32));
  await deleteTenantRows(
    { db, storage: files, tokenBox, now: () => time, batchSize: 100 },
    media.workspaceId,
  );
  for (const key of keys) expect(await files.get(key)).toBeUndefined();
});

test("leaves an image alone that is gone, or that pages never show", async () => {
  const gone = { workspaceId: randomUUID(), mediaId: randomUUID() };
  await make(gone);
  const other = await insertMedia("BADGE", await picture(9, 9));
  await make({ ...other, workspaceId: randomUUID() });
  expect(await keysOf(other)).toEqual([]);
});
