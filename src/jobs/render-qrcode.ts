import type { Db } from "../db/open.ts";
import type { Storage } from "../lib/storage.ts";
import { contentTypes, imageKey, renderImage } from "../qr/render.ts";
import { storedDesign } from "../qr/stored-design.ts";
import type { JobPayloads } from "./queue.ts";
import type { Task } from "./runner.ts";

export interface RenderQrcodeDeps {
  readonly db: Db;
  readonly storage: Storage;
  /** Public address of short links without a domain of their own. */
  readonly shortUrl: string;
}

/**
 * Draws the QR image of a link that waits for one (`qrcode_pending_update_since`) and stores it under a key made of all
 * that decides its bytes, so that equal inputs are drawn once. Nothing happens when the link is gone or not waiting.
 */
export function renderQrcode({
  db,
  storage,
  shortUrl,
}: RenderQrcodeDeps): Task<JobPayloads["render-qrcode"]> {
  return async ({ workspaceId, linkId }) => {
    const link = await findWaitingLink(db, workspaceId, linkId);
    if (link?.qrcode_pending_update_since == null) return;
    const origin = link.domain === null ? shortUrl.replace(/\/+$/, "") : `https://${link.domain}`;
    const content = `${origin}/${link.shortlink}?qr`;
    const { design, format } = storedDesign(link.options);
    const key = imageKey(content, design, format);
    if ((await storage.get(key)) === undefined) {
      const bytes = await renderImage(content, design, format);
      await storage.put(key, bytes, { contentType: contentTypes[format] });
    }
    await setImage(db, workspaceId, linkId, { key, pendingSince: link.qrcode_pending_update_since });
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

/** Leaves a link alone that was changed meanwhile: the job of that change draws it anew. */
async function setImage(
  db: Db,
  workspaceId: string,
  linkId: string,
  { key, pendingSince }: { readonly key: string; readonly pendingSince: Date },
): Promise<void> {
  await db
    .updateTable("links")
    .set({ qrcode_image_key: key, qrcode_pending_update_since: null })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", linkId)
    .where("qrcode_pending_update_since", "=", pendingSince)
    .execute();
}
