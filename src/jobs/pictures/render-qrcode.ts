import { type RawBuilder, sql } from "kysely";
import { type FileStore, fileCheckOf, storeFile } from "../../db/file-checks.ts";
import type { Db } from "../../db/open.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import { linkOrigin } from "../../model/links/entrypoint.ts";
import { qrcodeContent } from "../../model/look/design-options.ts";
import { loadDesign } from "../../qr/designs/load-design.ts";
import { contentTypes, imageKey, renderImage } from "../../qr/drawing/render.ts";
import type { Task } from "../runner.ts";

export interface RenderQrcodeDeps extends FileStore {
  readonly db: Db;
  /** Public address of short links without a domain of their own. */
  readonly shortUrl: string;
}

/**
 * Draws the QR image of a link that waits for one (`qrcode_pending_update_since`) and stores it under a key made of
 * everything that decides its bytes, so that equal inputs are drawn once. Does nothing when the link is gone or not
 * waiting.
 */
export function renderQrcode(deps: RenderQrcodeDeps): Task<QueuedJobs["render-qrcode"]> {
  const { db, storage, shortUrl } = deps;
  return async ({ workspaceId, linkId }) => {
    const link = await findWaitingLink(db, workspaceId, linkId);
    if (link?.qrcode_pending_update_since == null) return;
    const content = qrcodeContent(linkOrigin(link.domain, shortUrl), link.shortlink);
    const { design, format } = await loadDesign(storage, link.options);
    const key = imageKey(content, design, format);
    await storeFile(db, deps, { workspaceId, key, ownerId: linkId }, async () => ({
      bytes: await renderImage(content, design, format),
      contentType: contentTypes[format],
    }));
    await setImage(deps, workspaceId, linkId, { key, pendingSince: link.qrcode_pending_update_since });
  };
}

function findWaitingLink(db: Db, workspaceId: string, linkId: string) {
  return db
    .selectFrom("links")
    .leftJoin("custom_domains", (join) =>
      join
        .onRef("custom_domains.workspace_id", "=", "links.workspace_id")
        .onRef("custom_domains.id", "=", "links.custom_domain_id"),
    )
    .leftJoin("qrcode_designs", (join) =>
      join
        .onRef("qrcode_designs.workspace_id", "=", "links.workspace_id")
        .onRef("qrcode_designs.id", "=", "links.qrcode_design_id"),
    )
    .select([
      "links.shortlink",
      "links.qrcode_pending_update_since",
      "custom_domains.name as domain",
      "qrcode_designs.options",
    ])
    .where("links.workspace_id", "=", workspaceId)
    .where("links.id", "=", linkId)
    .where("links.deleted_at", "is", null)
    .executeTakeFirst();
}

/**
 * Gives the link its image, unless the link was changed meanwhile: the job of that change draws it anew. The previous
 * image is deleted when its addresses have expired.
 */
async function setImage(
  { db, now }: RenderQrcodeDeps,
  workspaceId: string,
  linkId: string,
  { key, pendingSince }: { readonly key: string; readonly pendingSince: Date },
): Promise<void> {
  await sql`
    with before as (select workspace_id, id, qrcode_image_key from links
        where workspace_id = ${workspaceId} and id = ${linkId}
          and qrcode_pending_update_since = ${pendingSince} for no key update),
      drawn as (update links l set qrcode_image_key = ${key}, qrcode_pending_update_since = null
        from before where l.workspace_id = before.workspace_id and l.id = before.id)
    ${fileCheckOf(replaced(key), now())}`.execute(db);
}

function replaced(key: string): RawBuilder<unknown> {
  return sql`select workspace_id, qrcode_image_key, id from before
    where qrcode_image_key is not null and qrcode_image_key <> ${key}`;
}
