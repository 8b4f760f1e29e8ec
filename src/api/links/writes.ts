import type { JsonObject } from "@bufbuild/protobuf";
import { type RawBuilder, sql } from "kysely";
import type { CustomDomainStatus, Json } from "../../../gen/database.ts";
import { tellLinkChange } from "../../db/channels.ts";
import { fileCheckOf } from "../../db/file-checks.ts";
import type { Db } from "../../db/open.ts";
import { removePartsOfGone } from "../../db/take-out-links.ts";
import { usableTemplate } from "../../db/usable-templates.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { LinkRow } from "../resources/link.ts";
import type { TagRow } from "../resources/tag.ts";
import { linkColumns, linkTables, tagsColumn } from "./queries.ts";
import type { WantedTag } from "./wanted-link.ts";

/** A tag to attach. `id` is used when the workspace has no such tag yet. */
export interface AttachedTag extends WantedTag {
  readonly id: string;
}

/** Everything a new link consists of. */
export interface NewLink {
  readonly workspaceId: string;
  readonly id: string;
  readonly at: Date;
  /** The name of the custom domain, or empty for the default short domain. */
  readonly host: string;
  readonly shortlink: string;
  /** A short link that was released before this time is free again. */
  readonly releasedBefore: Date;
  readonly name: string;
  readonly customDomainId: string | null;
  readonly directoryId: string | null;
  readonly fallbackDestination: string;
  readonly expiresAt: Date | null;
  readonly expiredDestination: string;
  readonly purpose: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly design:
    | { readonly id: string; readonly options: Json }
    | { readonly id: string; readonly options?: never };
  readonly qrcodeTemplateId: string | null;
  readonly entryStepId: string;
  readonly exit: ExitStep;
  readonly tags: readonly AttachedTag[];
  /** The hosts that must not be on the block list. */
  readonly screenedHosts: readonly string[];
  /** Queues the drawing of the QR image. */
  readonly drawing: RawBuilder<unknown>;
}

/** The step that the entry leads to in a new link. */
export interface ExitStep {
  readonly stepId: string;
  readonly action: "CLIENT_REDIRECT" | "CONTACT_CARD" | "THANK_YOU_PAGE";
  /** As it is stored. */
  readonly payload: JsonObject;
}

export interface Insertion {
  readonly blocked_host: string | null;
  /** False when a host is blocked or the short link is taken. Nothing is written then. */
  readonly inserted: boolean;
  readonly tags: readonly TagRow[];
}

// Tells the scan runtime of the link whose row a statement selects.
const tellOfRow = tellLinkChange(sql.ref("host"), sql.ref("shortlink"));

/**
 * Makes a link with its design, its two connected steps, its tags and its counter, queues its image and tells the scan
 * runtime, in one statement. Breaks `links_pkey` when the id is taken.
 */
export async function insertLink(db: Db, link: NewLink): Promise<Insertion> {
  const { rows } = await sql<Insertion>`
    with given as (select ${link.workspaceId}::uuid as workspace_id, ${link.id}::uuid as link_id,
        ${link.at}::timestamptz as at, ${link.host}::text as host, ${link.shortlink}::text as shortlink,
        ${link.design.id}::uuid as design_id, ${link.entryStepId}::uuid as entry_id,
        ${link.exit.stepId}::uuid as exit_id),
      blocked as (select host from blocked_hosts where host = any(${link.screenedHosts}) limit 1),
      claimed as (
        insert into shortlinks (host, shortlink, workspace_id, link_id)
        select host, shortlink, workspace_id, link_id from given where not exists (select from blocked)
        on conflict (host, shortlink) do update
          set workspace_id = excluded.workspace_id, link_id = excluded.link_id, released_at = null
          where shortlinks.released_at < ${link.releasedBefore}
        returning link_id),
      made as (select given.* from given join claimed using (link_id)),
      link as (
        insert into links (workspace_id, id, name, shortlink, custom_domain_id, directory_id, fallback_destination,
          expires_at, expired_destination, purpose, metadata, qrcode_design_id, qrcode_template_id,
          qrcode_pending_update_since, created_at, updated_at)
        select workspace_id, link_id, ${link.name}, shortlink, ${link.customDomainId}::uuid,
          ${link.directoryId}::uuid, ${link.fallbackDestination}, ${link.expiresAt}::timestamptz,
          ${link.expiredDestination}, ${link.purpose},
          ${JSON.stringify(link.metadata)}::jsonb, design_id, ${link.qrcodeTemplateId}::uuid, at, at, at from made),
      ${designOf(link)}
      step as (
        insert into workflow_steps (workspace_id, link_id, id, event_action, payload, canvas_x, canvas_y, created_at,
          updated_at)
        select workspace_id, link_id, entry_id, 'LINK_VISIT'::event_action, '{}'::jsonb, 0, 0, at, at from made
        union all
        select workspace_id, link_id, exit_id, ${link.exit.action},
          ${JSON.stringify(link.exit.payload)}::jsonb, 320, 0, at, at from made),
      connection as (
        insert into workflow_connections (workspace_id, link_id, step_id, branch_id, next_step_id)
        select workspace_id, link_id, entry_id, 'next', exit_id from made),
      counter as (
        insert into link_counters (workspace_id, link_id) select workspace_id, link_id from made
        on conflict on constraint link_counters_pkey do nothing),
      ${attachTags(link.tags)}
      job as (select ${link.drawing} from made),
      notice as (select ${tellOfRow} from made)
    select (select host from blocked) as blocked_host, ${attachedTags(link.tags)} as tags,
      -- Counted, because PostgreSQL does not run what nothing reads.
      (select count(*) from job) + (select count(*) from notice) > 0 as inserted`.execute(db);
  return onlyRow(rows);
}

function designOf({ design }: NewLink): RawBuilder<unknown> {
  const place = sql.raw(
    "insert into qrcode_designs (workspace_id, id, link_id, options, created_at, updated_at)",
  );
  // A design of no workspace moves to the link's workspace.
  if (design.options === undefined)
    return sql`
      taken as (
        delete from qrcode_designs q using made
        where q.workspace_id in (made.workspace_id, ${noWorkspace}) and q.id = made.design_id
        returning q.id, q.options, q.created_at),
      design as (${place}
        select made.workspace_id, taken.id, made.link_id, taken.options, taken.created_at, made.at from made, taken),`;
  return sql`
      design as (${place}
        select workspace_id, design_id, link_id, ${JSON.stringify(design.options)}::jsonb, at, at from made),`;
}

// Existing tags are only read, so that links with the same popular tag do not wait for each other. A tag that another
// call makes at the same moment is found by the conflict. The keys are sorted, so that two such calls cannot lock each
// other out.
function attachTags(tags: readonly AttachedTag[]): RawBuilder<unknown> {
  if (tags.length === 0) return sql.raw("");
  const keys = tags.map(({ key }) => key);
  return sql`
      known as (
        select t.id, t.name, t.name_key, t.created_at, t.updated_at from tags t join made using (workspace_id)
        where t.name_key = any(${keys}::text[]) for key share of t),
      fresh as (
        insert into tags (workspace_id, id, name, name_key, created_at, updated_at)
        select workspace_id, wanted.id, wanted.name, wanted.name_key, at, at
        from made, unnest(${tags.map(({ id }) => id)}::uuid[], ${tags.map(({ name }) => name)}::text[],
          ${keys}::text[]) as wanted (id, name, name_key)
        where wanted.name_key not in (select name_key from known) order by wanted.name_key
        on conflict on constraint tags_name_key do update set name_key = excluded.name_key
        returning id, name, name_key, created_at, updated_at),
      attached as (select * from known union all select * from fresh),
      link_tag as (
        insert into link_tags (workspace_id, link_id, tag_id, position)
        select workspace_id, link_id, id, array_position(${keys}::text[], name_key) from made, attached
        on conflict on constraint link_tags_pkey do update set position = excluded.position),`;
}

function attachedTags(tags: readonly AttachedTag[]): RawBuilder<unknown> {
  if (tags.length === 0) return sql.raw("'[]'::jsonb");
  return sql`(select coalesce(jsonb_agg(to_jsonb(attached)
    order by array_position(${tags.map(({ key }) => key)}::text[], name_key)), '[]') from attached)`;
}

/** The records that a request refers to. Null or empty where it refers to none. */
export interface Referenced {
  readonly customDomainId?: string | null | undefined;
  readonly directoryId?: string | null | undefined;
  readonly qrcodeDesignId?: string | null | undefined;
  readonly qrcodeTemplateId?: string | null | undefined;
  readonly pageThemeId?: string | null | undefined;
  readonly screenedHosts: readonly string[];
}

/** Which of these records the workspace has. */
export interface References {
  readonly blocked_host: string | null;
  readonly domain: { readonly name: string; readonly status: CustomDomainStatus } | null;
  readonly has_directory: boolean;
  readonly has_theme: boolean;
  readonly design: { readonly used: boolean } | null;
  readonly template: { readonly options: Json } | null;
}

// The rows are locked, so that nobody deletes them before the caller's transaction refers to them.
function referenceColumns(workspaceId: string, wanted: Referenced): RawBuilder<unknown> {
  return sql`
    (select host from blocked_hosts where host = any(${wanted.screenedHosts}) limit 1) as blocked_host,
    (select to_jsonb(found) from (select name, status from custom_domains
      where workspace_id = ${workspaceId} and id = ${wanted.customDomainId || null}::uuid for key share) found) as domain,
    exists (select from directories
      where workspace_id = ${workspaceId} and id = ${wanted.directoryId || null}::uuid for key share) as has_directory,
    exists (select from page_themes
      where workspace_id = ${workspaceId} and id = ${wanted.pageThemeId || null}::uuid for key share) as has_theme,
    (select to_jsonb(found) from (select link_id is not null or template_id is not null as used from qrcode_designs
      where workspace_id in (${workspaceId}, ${noWorkspace}) and id = ${wanted.qrcodeDesignId || null}::uuid
      for update) found) as design,
    (select to_jsonb(found) from (select q.options
      from (${usableTemplate(workspaceId, wanted.qrcodeTemplateId || null)}) usable
      join qrcode_templates t on t.workspace_id = usable.workspace_id and t.id = usable.id
      join qrcode_designs q on q.workspace_id = t.workspace_id and q.id = t.qrcode_design_id
      for key share of t) found) as template`;
}

/** Looks up and locks all records that a request refers to, in one statement of the caller's transaction. */
export async function lockReferences(tx: Db, workspaceId: string, wanted: Referenced): Promise<References> {
  const { rows } = await sql<References>`select ${referenceColumns(workspaceId, wanted)}`.execute(tx);
  return onlyRow(rows);
}

/** A link before a change, with its tags, and with the records that the change refers to. */
export interface LockedLink
  extends LinkRow,
    Pick<References, "blocked_host" | "has_directory" | "has_theme" | "template"> {
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
  const { blocked_host, has_directory, has_theme, template } = references;
  return { ...onlyRow(rows), blocked_host, has_directory, has_theme, template };
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
      ${tags ? attachTags(tags) : nothing} ${tags ? detached : nothing} ${restyling ? restyled : nothing}
      notice as (select ${tellLinkChange(after.domain_name ?? "", sql.ref("shortlink"))} from made)
    select ${attachedTags(tags ?? [])} as tags, (select count(*) from notice)
      ${restyling ? sql.raw(", (select count(*) from job)") : nothing}`.execute(tx);
  return onlyRow(rows).tags;
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

function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("a statement that gives one row gave none");
  return row;
}
