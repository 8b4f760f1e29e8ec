import { sql } from "kysely";
import { type FileStore, fileCheckOf, storeFile } from "../db/file-checks.ts";
import type { Db } from "../db/open.ts";
import { askProcess, programBeside } from "../lib/images/ask-process.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import { qrcodeContent, sampleShortlink } from "../model/look/design-options.ts";
import { loadDesign } from "../qr/designs/load-design.ts";
import { contentTypes, imageKey } from "../qr/drawing/render.ts";
import type { Drawing } from "./draw-process.ts";
import type { Task } from "./runner.ts";

export interface RenderThumbnailDeps extends FileStore {
  readonly db: Db;
  /** Public address of short links without a domain of their own. */
  readonly shortUrl: string;
}

/** The thumbnail's side in pixels, whatever the design says. */
const side = 512;
const timeoutMs = 30_000;
const program = programBeside(import.meta.url, "draw-process");

/**
 * Draws a code in the design of a template that waits for a thumbnail (`thumbnail_pending_update_since`). Does nothing
 * when the template is gone or not waiting. Drawing takes 50 MB, and the first start draws all built-in templates, so a
 * child process draws: a service that only redirects then does not keep that memory.
 */
export function renderThumbnail(deps: RenderThumbnailDeps): Task<QueuedJobs["render-thumbnail"]> {
  const { db, storage, shortUrl } = deps;
  const content = qrcodeContent(shortUrl, sampleShortlink);
  return async ({ workspaceId, templateId }, signal) => {
    const template = await findWaitingTemplate(db, workspaceId, templateId);
    if (template?.thumbnail_pending_update_since == null) return;
    const { design } = await loadDesign(storage, template.options);
    const square = { ...design, width: side, height: side };
    // Each template has its own folder, so that two templates with the same look never share a file that one of them
    // deletes.
    const key = imageKey(content, square, "PNG").replace(/^qr\//, `thumbnails/${templateId}/`);
    await storeFile(db, deps, { workspaceId, key, ownerId: templateId }, async () => ({
      bytes: await draw({ content, design: square }, signal),
      contentType: contentTypes.PNG,
    }));
    await setThumbnail(deps, workspaceId, templateId, {
      key,
      pendingSince: template.thumbnail_pending_update_since,
    });
  };
}

async function draw(drawing: Drawing, signal: AbortSignal): Promise<Uint8Array> {
  const outcome = await askProcess<Drawing, Uint8Array>(program, drawing, { timeoutMs, signal });
  if ("answer" in outcome) return outcome.answer;
  throw new Error(`the process that drew a thumbnail was ${outcome.ended}`);
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

/**
 * Gives the template its thumbnail, unless the template was changed meanwhile: the job of that change draws it anew.
 */
async function setThumbnail(
  { db, now }: RenderThumbnailDeps,
  workspaceId: string,
  templateId: string,
  { key, pendingSince }: { readonly key: string; readonly pendingSince: Date },
): Promise<void> {
  const replaced = sql`select workspace_id, thumbnail_key, id from before
    where thumbnail_key is not null and thumbnail_key <> ${key}`;
  await sql`
    with before as (select workspace_id, id, thumbnail_key from qrcode_templates
        where workspace_id = ${workspaceId} and id = ${templateId}
          and thumbnail_pending_update_since = ${pendingSince} for no key update),
      drawn as (update qrcode_templates t set thumbnail_key = ${key}, thumbnail_pending_update_since = null
        from before where t.workspace_id = before.workspace_id and t.id = before.id)
    ${fileCheckOf(replaced, now())}`.execute(db);
}
