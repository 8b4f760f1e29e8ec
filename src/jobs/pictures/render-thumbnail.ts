import { storeFile } from "../../db/file-checks.ts";
import type { Db } from "../../db/open.ts";
import { qrcodeTemplateTables } from "../../db/templates/template-tables.ts";
import { programBeside } from "../../lib/images/ask-process.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import { qrcodeContent, sampleShortlink } from "../../model/look/design-options.ts";
import { loadDesign } from "../../qr/designs/load-design.ts";
import { contentTypes, imageKey } from "../../qr/drawing/render.ts";
import type { Task } from "../runner.ts";
import type { Drawing } from "./draw-process.ts";
import { drawInProcess, setThumbnail, type ThumbnailDeps } from "./thumbnail.ts";

export interface RenderThumbnailDeps extends ThumbnailDeps {
  /** Public address of short links without a domain of their own. */
  readonly shortUrl: string;
}

/** The thumbnail's side in pixels, whatever the design says. */
const side = 512;
const program = programBeside(import.meta.url, "draw-process");

/**
 * Draws a code in the design of a template that waits for a thumbnail (`thumbnail_pending_update_since`). Does nothing
 * when the template is gone or not waiting.
 */
export function renderThumbnail(deps: RenderThumbnailDeps): Task<QueuedJobs["render-thumbnail"]> {
  const { db, storage, shortUrl } = deps;
  const content = qrcodeContent(shortUrl, sampleShortlink);
  return async (told, signal) => {
    const { workspaceId, templateId } = told;
    const template = await findWaitingTemplate(db, workspaceId, templateId);
    if (template?.thumbnail_pending_update_since == null) return;
    const { design } = await loadDesign(storage, template.options);
    const square = { ...design, width: side, height: side };
    // Each template has its own folder, so that two templates with the same look never share a file that one of them
    // deletes.
    const key = imageKey(content, square, "PNG").replace(/^qr\//, `thumbnails/${templateId}/`);
    const drawing: Drawing = { content, design: square };
    await storeFile(db, deps, { workspaceId, key, ownerId: templateId }, async () => ({
      bytes: await drawInProcess(program, drawing, signal),
      contentType: contentTypes.PNG,
    }));
    const pendingSince = template.thumbnail_pending_update_since;
    await setThumbnail(deps, qrcodeTemplateTables, told, { key, pendingSince });
  };
}

function findWaitingTemplate(db: Db, workspaceId: string, templateId: string) {
  return db
    .selectFrom("qrcode_templates as t")
    .innerJoin("qrcode_designs as q", (join) =>
      join.onRef("q.workspace_id", "=", "t.workspace_id").onRef("q.id", "=", "t.look_id"),
    )
    .select(["t.thumbnail_pending_update_since", "q.options"])
    .where("t.workspace_id", "=", workspaceId)
    .where("t.id", "=", templateId)
    .executeTakeFirst();
}
