import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { MediaType } from "../../../gen/database.ts";
import { tellWorkspaceChange } from "../../db/channels.ts";
import { type FileStore, storeFiles } from "../../db/file-checks.ts";
import type { Db } from "../../db/open.ts";
import { type CopyOrder, copyPicture } from "../../lib/images/copy-image.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import { type CopyShape, copyName, plainCopy } from "../../model/look/page-image.ts";
import type { Task } from "../runner.ts";

export interface MakePageImagesDeps extends FileStore {
  readonly db: Db;
}

type ShapedOrder = CopyOrder & { readonly shape: CopyShape };

const badgeBytes = 30_000;
const coverBytes = 120_000;

/** Two or three pixels of a screen for each of CSS: a badge has 88 of those, and a phone 390 by 844. */
const ordersOf: Readonly<Record<MediaType, readonly ShapedOrder[]>> = {
  BADGE: [
    ...[176, 264].map((side) => ({
      shape: "square" as const,
      width: side,
      height: side,
      format: "webp" as const,
      bytesMax: badgeBytes,
    })),
    { shape: "square", width: 176, height: 176, format: "jpeg", bytesMax: badgeBytes },
  ],
  BACKGROUND_COVER: [
    tall(780, "webp"),
    tall(1_170, "webp"),
    wide(780, "webp"),
    wide(1_170, "webp"),
    wide(1_920, "webp"),
    tall(780, "jpeg"),
    wide(1_170, "jpeg"),
  ],
  CENTRAL_QRCODE_IMAGE: [],
};

function tall(width: number, format: CopyOrder["format"]): ShapedOrder {
  const height = Math.round((width * 844) / 390);
  return { shape: "tall", width, height, format, bytesMax: coverBytes, onlyWhereNarrower: true };
}

function wide(width: number, format: CopyOrder["format"]): ShapedOrder {
  return { shape: "wide", width, format, bytesMax: coverBytes };
}

/**
 * Makes the copies of a badge or a cover that pages show, and tells the scan runtime. Pages show their theme without the
 * image until then. Does nothing when the image is gone or has its copies.
 */
export function makePageImages(deps: MakePageImagesDeps): Task<QueuedJobs["make-page-images"]> {
  const { db, storage } = deps;
  return async ({ workspaceId, mediaId }, signal) => {
    const media = await findWaitingMedia(db, workspaceId, mediaId);
    if (media === undefined) return;
    const file = await storage.get(media.storage_key);
    if (file === undefined) return;
    const orders = ordersOf[media.media_type];
    const copies = await copyPicture({ bytes: file.bytes, orders }, signal);
    // The addresses of the copies are known only to who sees a page with them, also when the image itself is private.
    const folder = `public/pages/${randomBytes(16).toString("hex")}/`;
    const files = orders.flatMap(({ shape, format }, index) => {
      const copy = copies[index];
      if (copy === undefined) return [];
      const name = format === "jpeg" ? plainCopy(shape) : copyName({ shape, ...copy });
      return [{ key: folder + name, bytes: copy.bytes, contentType: `image/${format}` }];
    });
    // Copies of a small picture may have the same size.
    const own = new Map(files.map((copy) => [copy.key, copy]));
    await storeFiles(db, deps, { workspaceId, ownerId: mediaId }, [...own.values()]);
    await setPageFiles(db, workspaceId, mediaId, [...own.keys()]);
  };
}

function findWaitingMedia(db: Db, workspaceId: string, mediaId: string) {
  return db
    .selectFrom("media")
    .select(["media_type", "storage_key"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", mediaId)
    .where(sql<boolean>`page_files = '{}'`)
    .executeTakeFirst();
}

/** Gives an image its copies, unless it has some: this job may run twice. The clean-up deletes what nobody refers to. */
async function setPageFiles(
  db: Db,
  workspaceId: string,
  mediaId: string,
  keys: readonly string[],
): Promise<void> {
  await sql`
    with made as (update media set page_files = ${keys}
        where workspace_id = ${workspaceId} and id = ${mediaId} and page_files = '{}' returning workspace_id)
    select ${tellWorkspaceChange(sql.ref("made.workspace_id"))} from made`.execute(db);
}
