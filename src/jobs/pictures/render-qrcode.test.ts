import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readWithZxing } from "../../../test/support/qr-readers.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { openStorage } from "../../lib/storage/open-storage.ts";
import type { Storage } from "../../lib/storage/storage.ts";
import { renderQrcode } from "./render-qrcode.ts";

const { db } = await testDatabase();
const time = new Date("2026-08-01T12:00:00.123Z");
const later = new Date("2026-08-01T12:00:00.124Z");

let directory: string;
let files: Storage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "render-"));
  files = await openStorage({ directory });
});
afterAll(() => rm(directory, { recursive: true }));

interface TestLink {
  readonly workspaceId: string;
  readonly linkId: string;
  readonly designId: string;
}

/** A link that waits for its image. */
async function insertLink(shortlink: string, options: object = {}): Promise<TestLink> {
  const [workspaceId, linkId, designId] = [randomUUID(), randomUUID(), randomUUID()];
  const times = { workspace_id: workspaceId, created_at: time, updated_at: time };
  const design = { ...times, id: designId, link_id: linkId, options: JSON.stringify(options) };
  await db.insertInto("qrcode_designs").values(design).execute();
  const link = { ...times, id: linkId, qrcode_design_id: designId, name: "", shortlink };
  await db
    .insertInto("links")
    .values({ ...link, qrcode_pending_update_since: time })
    .execute();
  return { workspaceId, linkId, designId };
}

async function setPending({ linkId }: TestLink, since: Date | null): Promise<void> {
  await db
    .updateTable("links")
    .set({ qrcode_pending_update_since: since })
    .where("id", "=", linkId)
    .execute();
}

async function imageOf({ linkId }: TestLink) {
  const { qrcode_image_key: key, qrcode_pending_update_since: pendingSince } = await db
    .selectFrom("links")
    .select(["qrcode_image_key", "qrcode_pending_update_since"])
    .where("id", "=", linkId)
    .executeTakeFirstOrThrow();
  return { key, pendingSince, file: key === null ? undefined : await files.get(key) };
}

function render(link: TestLink, storage: Storage = files): Promise<void> {
  const task = renderQrcode({ db, storage, now: () => time, shortUrl: "https://sho.rt/" });
  return task({ workspaceId: link.workspaceId, linkId: link.linkId }, new AbortController().signal);
}

test("stores an image of the link's entrypoint with the scan marker, and clears the wait", async () => {
  const link = await insertLink("4BnH-R19p");
  await render(link);
  const { key, pendingSince, file } = await imageOf(link);
  expect(pendingSince).toBeNull();
  expect(key).toMatch(/^qr\/[0-9a-f]{64}\.png$/);
  expect(file?.contentType).toBe("image/png");
  expect(await readWithZxing(file?.bytes ?? Buffer.of())).toEqual(["https://sho.rt/4BnH-R19p?qr"]);
});

test("encodes the link's own domain when it has one", async () => {
  const link = await insertLink("menu");
  const domainId = randomUUID();
  await db
    .insertInto("custom_domains")
    .values({
      workspace_id: link.workspaceId,
      id: domainId,
      name: "go.example.com",
      status: "ACTIVE",
      created_at: time,
      updated_at: time,
    })
    .execute();
  await db.updateTable("links").set({ custom_domain_id: domainId }).where("id", "=", link.linkId).execute();
  await render(link);
  const { file } = await imageOf(link);
  expect(await readWithZxing(file?.bytes ?? Buffer.of())).toEqual(["https://go.example.com/menu?qr"]);
});

test("draws size, error correction and format of the design", async () => {
  const options = {
    width: 300,
    height: 200,
    errorCorrectionLevel: "H",
    outputFileFormat: "OUTPUT_FILE_FORMAT_SVG",
  };
  const link = await insertLink("designed", options);
  await render(link);
  const { file } = await imageOf(link);
  expect(file?.contentType).toBe("image/svg+xml");
  expect(Buffer.from(file?.bytes ?? []).toString()).toContain('width="300" height="200"');
});

test("draws equal inputs once", async () => {
  const link = await insertLink("once");
  let puts = 0;
  const counting: Storage = {
    ...files,
    put(...args) {
      puts++;
      return files.put(...args);
    },
  };
  await render(link, counting);
  await setPending(link, later);
  await render(link, counting);
  expect(puts).toBe(1);
  expect((await imageOf(link)).pendingSince).toBeNull();
});

test("keeps a link waiting that was changed while its image was drawn", async () => {
  const link = await insertLink("changing");
  const slow: Storage = {
    ...files,
    async put(...args) {
      await setPending(link, later);
      await files.put(...args);
    },
  };
  await render(link, slow);
  expect(await imageOf(link)).toEqual({ key: null, pendingSince: later, file: undefined });
});

test("does nothing for links that are deleted, foreign or not waiting", async () => {
  const untouchable: Storage = {
    ...files,
    get: () => Promise.reject(new Error("asked")),
    put: () => Promise.reject(new Error("stored")),
  };
  const deleted = await insertLink("gone");
  await db.updateTable("links").set({ deleted_at: time }).where("id", "=", deleted.linkId).execute();
  const served = await insertLink("served");
  await setPending(served, null);
  const foreign = { ...(await insertLink("foreign")), workspaceId: randomUUID() };
  for (const link of [deleted, served, foreign]) await render(link, untouchable);
  expect((await imageOf(foreign)).pendingSince).toEqual(time);
});

test("keeps the link waiting when the image could not be stored", async () => {
  const link = await insertLink("unlucky");
  const full: Storage = { ...files, put: () => Promise.reject(new Error("disk full")) };
  await expect(render(link, full)).rejects.toThrow("disk full");
  expect((await imageOf(link)).pendingSince).toEqual(time);
});
