import { sql } from "kysely";
import { type FileStore, fileCheckOf } from "../../db/file-checks.ts";
import type { Db } from "../../db/open.ts";
import type { TemplateTables } from "../../db/templates/template-tables.ts";
import { askProcess } from "../../lib/images/ask-process.ts";

export interface ThumbnailDeps extends FileStore {
  readonly db: Db;
}

const timeoutMs = 30_000;

/**
 * Has a program of ours draw in a child process: drawing takes 50 MB, and the first start draws all built-in templates. A
 * service that only redirects then does not keep that memory.
 */
export async function drawInProcess<Drawing extends object>(
  program: URL,
  drawing: Drawing,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const outcome = await askProcess<Drawing, Uint8Array>(program, drawing, { timeoutMs, signal });
  if ("answer" in outcome) return outcome.answer;
  throw new Error(`the process that drew a thumbnail was ${outcome.ended}`);
}

/**
 * Gives the template its thumbnail, unless the template was changed meanwhile: the job of that change draws it anew.
 */
export async function setThumbnail(
  { db, now }: ThumbnailDeps,
  { templates }: TemplateTables,
  { workspaceId, templateId }: { readonly workspaceId: string; readonly templateId: string },
  { key, pendingSince }: { readonly key: string; readonly pendingSince: Date },
): Promise<void> {
  const table = sql.table(templates);
  const replaced = sql`select workspace_id, thumbnail_key, id from before
    where thumbnail_key is not null and thumbnail_key <> ${key}`;
  await sql`
    with before as (select workspace_id, id, thumbnail_key from ${table}
        where workspace_id = ${workspaceId} and id = ${templateId}
          and thumbnail_pending_update_since = ${pendingSince} for no key update),
      drawn as (update ${table} t set thumbnail_key = ${key}, thumbnail_pending_update_since = null
        from before where t.workspace_id = before.workspace_id and t.id = before.id)
    ${fileCheckOf(replaced, now())}`.execute(db);
}
