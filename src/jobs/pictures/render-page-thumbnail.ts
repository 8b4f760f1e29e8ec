import { sql } from "kysely";
import { storeFile } from "../../db/file-checks.ts";
import { pageThemeTemplateTables } from "../../db/templates/template-tables.ts";
import { programBeside } from "../../lib/images/ask-process.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import type { Task } from "../runner.ts";
import type { PageDrawing } from "./draw-page-process.ts";
import { drawInProcess, setThumbnail, type ThumbnailDeps } from "./thumbnail.ts";

const program = programBeside(import.meta.url, "draw-page-process");

/** Raise it when pages are drawn otherwise: a thumbnail that is drawn again gets a new file. */
const drawnAs = "v1";

interface WaitingTemplate {
  readonly pendingSince: Date;
  readonly lookHash: string;
  readonly styling: unknown;
  readonly coverKey: string | null;
  readonly badgeKey: string | null;
}

/**
 * Draws a page in the look of a template that waits for a thumbnail (`thumbnail_pending_update_since`). Does nothing when
 * the template is gone or not waiting.
 */
export function renderPageThumbnail(deps: ThumbnailDeps): Task<QueuedJobs["render-page-theme-thumbnail"]> {
  const { db, storage } = deps;
  const read = async (key: string | null) => (key === null ? undefined : (await storage.get(key))?.bytes);
  return async (told, signal) => {
    const { workspaceId, templateId } = told;
    const template = await findWaitingTemplate(deps, told);
    if (template === undefined) return;
    const { styling, coverKey, badgeKey, lookHash, pendingSince } = template;
    // Equal looks have equal hashes. Each template has its own folder, so that none deletes the file of another.
    const key = `thumbnails/${templateId}/page-${drawnAs}-${lookHash}.webp`;
    await storeFile(db, deps, { workspaceId, key, ownerId: templateId }, async () => {
      const drawing: PageDrawing = { styling, cover: await read(coverKey), badge: await read(badgeKey) };
      return { bytes: await drawInProcess(program, drawing, signal), contentType: "image/webp" };
    });
    await setThumbnail(deps, pageThemeTemplateTables, told, { key, pendingSince });
  };
}

async function findWaitingTemplate(
  { db }: ThumbnailDeps,
  { workspaceId, templateId }: QueuedJobs["render-page-theme-thumbnail"],
): Promise<WaitingTemplate | undefined> {
  const keyOf = (field: string) => sql`(select storage_key from media m
    where m.workspace_id = p.workspace_id and m.id = (p.styling ->> ${field}::text)::uuid)`;
  const { rows } = await sql<WaitingTemplate>`
    select t.thumbnail_pending_update_since as "pendingSince", t.look_hash as "lookHash", p.styling,
      ${keyOf("canvasCoverId")} as "coverKey", ${keyOf("badgeId")} as "badgeKey"
    from page_theme_templates t join page_themes p on p.workspace_id = t.workspace_id and p.id = t.look_id
    where t.workspace_id = ${workspaceId} and t.id = ${templateId}
      and t.thumbnail_pending_update_since is not null`.execute(db);
  return rows[0];
}
