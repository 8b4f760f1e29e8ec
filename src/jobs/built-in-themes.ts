import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { v5 } from "uuid";
import { onlyRow } from "../db/only-row.ts";
import type { Db } from "../db/open.ts";
import { type BuiltInTheme, builtInThemes } from "../model/look/built-in-themes.ts";
import { lookHash } from "../model/look/look-hash.ts";
import { noWorkspace } from "../model/no-workspace.ts";
import { jobCall } from "./queue.ts";

// Ids derive from slugs, so that every installation gives a template the same id.
const idSpace = "b1a6e1a4-5d0e-4f52-8d1c-3f0a9f0c7e42";

/** Older than any record of a user; the first template of the list is the newest. */
const firstMadeAt = Date.UTC(2026, 0, 1);

const coverId = v5("daybreak cover", idSpace);
const coverKey = `media/${noWorkspace}/${coverId}.jpg`;
const coverFile = new URL("../../vendor/pictures/daybreak.jpg", import.meta.url);

/** The media files of the built-in themes, which come with the program, by storage key. */
export const builtInFiles: ReadonlyMap<string, URL> = new Map([[coverKey, coverFile]]);

/** Brings the built-in themes up to date; writes nothing when they are. */
export async function storeBuiltInThemes(db: Db, now: Date): Promise<void> {
  const bytes = await readFile(coverFile);
  const cover = createHash("sha256").update(bytes).digest("hex");
  const seeds = builtInThemes.map((theme, index) => seedOf(theme, index, cover));
  const wanted = JSON.stringify(seeds);
  const { rows } = await sql<{ isThere: boolean }>`
    select not exists (${differing(wanted)}) and exists (select from media
      where workspace_id = ${noWorkspace} and id = ${coverId} and sha256 = ${cover}) as "isThere"`.execute(
    db,
  );
  if (onlyRow(rows).isThere) return;
  await db.transaction().execute(async (tx) => {
    await storeCover(tx, { sha256: cover, size: bytes.length }, now);
    await storeSeeds(tx, wanted, now);
  });
}

/** A template as its rows are written. */
function seedOf(
  { name, slug, description, tags, styling, hasCover }: BuiltInTheme,
  index: number,
  cover: string,
) {
  const look = hasCover === true ? { ...styling, canvasCoverId: coverId } : styling;
  return {
    id: v5(slug, idSpace),
    theme_id: v5(`${slug} theme`, idSpace),
    name,
    slug,
    description,
    tags,
    styling: look,
    look_hash: lookHash(look, { cover: hasCover === true ? cover : null, badge: null }),
    made_at: new Date(firstMadeAt - index * 1_000).toISOString(),
  };
}

const seedColumns =
  sql.raw(`(id uuid, theme_id uuid, name text, slug text, description text, tags text, styling jsonb,
  look_hash text, made_at timestamptz)`);

/** The seeds that are not stored as they are. */
function differing(seeds: string) {
  return sql`select wanted.* from jsonb_to_recordset(${seeds}::jsonb) as wanted ${seedColumns}
    left join page_theme_templates t on t.workspace_id = ${noWorkspace} and t.id = wanted.id
    left join page_themes p on p.workspace_id = t.workspace_id and p.id = t.look_id
    where (t.name, t.description, t.tags, t.look_hash, p.styling) is distinct from
      (wanted.name, wanted.description, wanted.tags, wanted.look_hash, wanted.styling)`;
}

async function storeCover(
  tx: Db,
  { sha256, size }: { readonly sha256: string; readonly size: number },
  now: Date,
): Promise<void> {
  await sql`insert into media (workspace_id, id, media_type, visibility, file_name, storage_key, size_bytes, sha256,
      created_at, updated_at)
    values (${noWorkspace}, ${coverId}, 'BACKGROUND_COVER', 'PRIVATE', 'daybreak.jpg', ${coverKey}, ${size}, ${sha256},
      ${new Date(firstMadeAt)}, ${now})
    on conflict on constraint media_pkey do update set size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
      updated_at = excluded.updated_at`.execute(tx);
}

// Processes that start at the same time write the same values.
async function storeSeeds(tx: Db, seeds: string, now: Date): Promise<void> {
  await sql`
    with changed as materialized (${differing(seeds)}),
      theme as (
        insert into page_themes (workspace_id, id, template_id, styling, created_at, updated_at)
        select ${noWorkspace}, theme_id, id, styling, made_at, ${now} from changed order by theme_id
        on conflict on constraint page_themes_pkey do update set styling = excluded.styling, updated_at = ${now}),
      slug as (
        insert into page_theme_template_slugs (slug, workspace_id, template_id, published_at, created_at)
        select slug, ${noWorkspace}, id, made_at, made_at from changed order by slug
        on conflict do nothing),
      template as (
        insert into page_theme_templates (workspace_id, id, name, description, tags, slug, look_id, look_hash,
          published_at, thumbnail_pending_update_since, created_at, updated_at)
        select ${noWorkspace}, id, name, description, tags, slug, theme_id, look_hash, made_at, ${now}, made_at, ${now}
        from changed order by id
        on conflict on constraint page_theme_templates_pkey do update set name = excluded.name,
          description = excluded.description, tags = excluded.tags, look_hash = excluded.look_hash,
          updated_at = ${now}, thumbnail_pending_update_since = ${now}
        returning id)
    select ${jobCall("render-page-theme-thumbnail", { workspaceId: noWorkspace, templateId: sql`template.id` })}
    from template`.execute(tx);
}
