import { type RawBuilder, sql } from "kysely";
import type { Json } from "../../../gen/database.ts";
import { tellLinkChange } from "../../db/channels.ts";
import { fileCheckOf } from "../../db/file-checks.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { removePartsOfGone } from "../../db/take-out-links.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { LinkRow } from "../resources/link.ts";
import type { TagRow } from "../resources/tag.ts";
import { linkColumns, linkTables, tagsColumn } from "./queries.ts";
import { type Referenced, type References, referenceColumns } from "./reference-queries.ts";
import { type AttachedTag, attachedTags, attachTags, tagsInOrder } from "./tag-writes.ts";

// Tells the scan runtime of the link whose row a statement selects.
const tellOfRow = tellLinkChange(sql.ref("host"), sql.ref("shortlink"));

/** A link before a change, with its tags, and with the records that the change refers to. */
export interface LockedLink
  extends LinkRow,
    Pick<References, "blocked_hosts" | "directories" | "themes" | "templates"> {
  readonly tags: readonly TagRow[];
  readonly design_options: Json;
}

/**
 * Locks a link and all records that a change of it refers to, then reads the link in a statement of its own. While this
 * call waited for the lock, another change may have written tags and design, which a statement from before would not
 * see.
 */
export async function lockLink(
  tx: Db,
  workspaceId: string,
  id: string,
  wanted: Referenced,
): Promise<LockedLink | undefined> {
  const locked = await sql<References>`
    select ${referenceColumns(workspaceId, wanted)} from living_links l
    where l.workspace_id = ${workspaceId} and l.id = ${id}
    for no key update of l`.execute(tx);
  const [references] = locked.rows;
  if (references === undefined) return undefined;
  const { rows } = await sql<Omit<LockedLink, keyof References>>`
    select ${linkColumns}, ${tagsColumn}, (select options from qrcode_designs q
      where q.workspace_id = l.workspace_id and q.id = l.qrcode_design_id) as design_options
    from ${linkTables} where l.workspace_id = ${workspaceId} and l.id = ${id}`.execute(tx);
  const { blocked_hosts, directories, themes, templates } = references;
  return { ...onlyRow(rows), blocked_hosts, directories, themes, templates };
}

/** The new values of a link. */
export interface LinkChange {
  readonly at: Date;
  readonly after: Pick<
    LinkRow,
    | "workspace_id"
    | "id"
    | "name"
    | "purpose"
    | "shortlink"
    | "domain_name"
    | "fallback_destination"
    | "expires_at"
    | "expired_destination"
    | "directory_id"
    | "page_theme_id"
    | "page_theme_template_id"
    | "qrcode_design_id"
    | "qrcode_template_id"
    | "qrcode_pending_update_since"
  >;
  /** All tags of the link. Undefined leaves them. */
  readonly tags: readonly AttachedTag[] | undefined;
  /** A new look of the QR code, and the job that draws it. Undefined leaves the look. */
  readonly restyling: { readonly options: Json; readonly drawing: RawBuilder<unknown> } | undefined;
}

/**
 * Writes a change of a locked link and tells the scan runtime, in one statement. Gives the link's tags, if the change
 * has tags.
 */
export async function updateLink(
  tx: Db,
  { at, after, tags, restyling }: LinkChange,
): Promise<readonly TagRow[]> {
  const detached = sql`
      detached as (delete from link_tags lt using made
        where lt.workspace_id = made.workspace_id and lt.link_id = made.link_id
          and lt.tag_id not in (select id from ${sql.raw(tags?.length ? "attached" : "tags where false")})),`;
  const restyled = sql`
      picture as (${fileCheckOf(pictureOf(after), at)}),
      design as (update qrcode_designs q set options = ${JSON.stringify(restyling?.options)}::jsonb, updated_at = made.at
        from made where q.workspace_id = made.workspace_id and q.id = ${after.qrcode_design_id}),
      job as (select ${restyling?.drawing} from made),`;
  const nothing = sql.raw("");
  const { rows } = await sql<{ tags: TagRow[] }>`
    with made as (
        update links set name = ${after.name}, purpose = ${after.purpose},
          fallback_destination = ${after.fallback_destination}, expires_at = ${after.expires_at},
          expired_destination = ${after.expired_destination}, directory_id = ${after.directory_id},
          page_theme_id = ${after.page_theme_id}, page_theme_template_id = ${after.page_theme_template_id},
          qrcode_template_id = ${after.qrcode_template_id},
          qrcode_pending_update_since = ${after.qrcode_pending_update_since}, updated_at = ${at}
        where workspace_id = ${after.workspace_id} and id = ${after.id}
        returning workspace_id, id as link_id, updated_at as at, shortlink),
      -- A theme that may go because no link has it stays now.
      theme as (update page_themes set unattached_since = null
        where workspace_id = ${after.workspace_id} and id = ${after.page_theme_id} and unattached_since is not null),
      ${tags ? attachTags(tags) : nothing} ${tags ? detached : nothing} ${restyling ? restyled : nothing}
      notice as (select ${tellLinkChange(after.domain_name ?? "", sql.ref("shortlink"))} from made)
    select ${attachedTags(tags ?? [])} as tags, (select count(*) from notice)
      ${restyling ? sql.raw(", (select count(*) from job)") : nothing}`.execute(tx);
  return tagsInOrder(tags ?? [], onlyRow(rows).tags);
}

/** The picture in the middle of a link's code, as a file that may have become unused. */
function pictureOf({ workspace_id, qrcode_design_id }: LinkChange["after"]): RawBuilder<unknown> {
  return sql`select ${noWorkspace}::uuid, options ->> 'centralImageKey', null::uuid from qrcode_designs
    where workspace_id = ${workspace_id} and id = ${qrcode_design_id} and options ->> 'centralImageKey' is not null`;
}

/**
 * Deletes a link: hides its row, reserves its short link, removes everything that depends on it, and tells the scan
 * runtime. False when there is no such link. The lock is taken in a statement of its own, so that the next statement
 * sees what edits that held the lock have written.
 */
export async function deleteLink(tx: Db, workspaceId: string, id: string, at: Date): Promise<boolean> {
  await sql`select from links where workspace_id = ${workspaceId} and id = ${id} for update`.execute(tx);
  const { rows } = await sql`
    with gone as (
        update living_links set deleted_at = ${at}, updated_at = ${at}
        where workspace_id = ${workspaceId} and id = ${id}
        returning workspace_id, id as link_id, shortlink, custom_domain_id, qrcode_design_id, qrcode_image_key),
      place as (select gone.*, coalesce(d.name, '') as host from gone
        left join custom_domains d on d.workspace_id = gone.workspace_id and d.id = gone.custom_domain_id),
      released as (update shortlinks s set released_at = ${at} from place
        where s.host = place.host and s.shortlink = place.shortlink and s.workspace_id = place.workspace_id
          and s.link_id = place.link_id),
      ${removePartsOfGone(at)}
    select ${tellOfRow} from place`.execute(tx);
  return rows.length > 0;
}
