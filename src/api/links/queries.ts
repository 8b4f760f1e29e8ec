import { type RawBuilder, type Selectable, sql } from "kysely";
import type { CustomDomains, Events, PageThemes } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import { isFreeFor } from "../../domains/free-shortlinks.ts";
import type { Page } from "../../lib/paging/page.ts";
import type { JsonRow } from "../resources/json-row.ts";
import type { LinkRow } from "../resources/link.ts";
import type { QrcodeDesignRow } from "../resources/qrcode-design.ts";
import type { TagRow } from "../resources/tag.ts";

/** A link with the objects that the request names. */
export interface LinkWithParts extends LinkRow {
  readonly tags?: readonly TagRow[];
  readonly domain?: JsonRow<CustomDomains> | null;
  readonly design?: QrcodeDesignRow | null;
  readonly theme?: JsonRow<PageThemes> | null;
}

/** The objects that a link can embed. `qrcodeSignedUrl` needs only the link itself. */
export type LinkInclude = "customDomain" | "qrcodeDesign" | "tags" | "pageTheme" | "qrcodeSignedUrl";

/** The objects that a request wants embedded. */
export function includeOf(names: readonly string[]): ReadonlySet<LinkInclude> {
  // The rules of the request let no other names through.
  return new Set(names as readonly LinkInclude[]);
}

/** The columns of a link that every read needs, from the tables of `linkTables`. */
export const linkColumns =
  sql.raw(`l.workspace_id, l.id, l.name, l.shortlink, l.custom_domain_id, l.directory_id,
  l.fallback_destination, l.purpose, l.metadata, l.page_theme_id, l.page_theme_template_id, l.qrcode_design_id,
  l.qrcode_template_id, l.qrcode_image_key, l.qrcode_pending_update_since, l.expires_at, l.expired_destination, l.created_at, l.updated_at, d.name as domain_name,
  c.event_count`);

const domainJoin =
  "left join custom_domains d on d.workspace_id = l.workspace_id and d.id = l.custom_domain_id";

export const linkTables = sql.raw(
  `living_links l ${domainJoin} left join link_counters c on c.workspace_id = l.workspace_id and c.link_id = l.id`,
);

// The link is read from its counter, whose index has the order of the list.
const countedTables = sql.raw(
  `link_counters c join living_links l on l.workspace_id = c.workspace_id and l.id = c.link_id ${domainJoin}`,
);

export const tagsColumn = sql.raw(`(select coalesce(jsonb_agg(to_jsonb(t) order by lt.position), '[]')
  from link_tags lt join tags t on t.workspace_id = lt.workspace_id and t.id = lt.tag_id
  where lt.workspace_id = l.workspace_id and lt.link_id = l.id) as tags`);

const includeColumns: Readonly<Record<LinkInclude, RawBuilder<unknown> | undefined>> = {
  tags: tagsColumn,
  customDomain: sql.raw("to_jsonb(d) as domain"),
  qrcodeDesign: sql.raw(`(select to_jsonb(q) from qrcode_designs q
    where q.workspace_id = l.workspace_id and q.id = l.qrcode_design_id) as design`),
  pageTheme: sql.raw(`(select to_jsonb(p) from page_themes p
    where p.workspace_id = l.workspace_id and p.id = l.page_theme_id) as theme`),
  qrcodeSignedUrl: undefined,
};

function columnsWith(include: ReadonlySet<LinkInclude>): RawBuilder<unknown> {
  const columns = [...include].flatMap((name) => includeColumns[name] ?? []);
  return sql.join([linkColumns, ...columns]);
}

/** A link and all it embeds, in one statement. */
export async function findLink(
  db: Db,
  workspaceId: string,
  id: string,
  include: ReadonlySet<LinkInclude>,
): Promise<LinkWithParts | undefined> {
  const { rows } = await sql<LinkWithParts>`select ${columnsWith(include)} from ${linkTables}
    where l.workspace_id = ${workspaceId} and l.id = ${id}`.execute(db);
  return rows[0];
}

/** Which links a list has. An undefined field does not narrow the list. */
export interface LinkFilter {
  readonly workspaceId: string;
  /** A text in the name or the short link, in any case. */
  readonly search: string | undefined;
  /** Keys of tags. A link has at least one of them. */
  readonly tagKeys: readonly string[] | undefined;
  /** The directory that contains the links directly. Null for links in no directory. */
  readonly directoryId: string | null | undefined;
  readonly customDomainId: string | undefined;
}

export type LinkOrder = "created_at" | "updated_at" | "shortlink" | "name" | "event_count";

const linkId = sql.raw("l.id");

/** What the rows are sorted by, with the id for ties, and where they are read from. */
export const linkOrders = {
  created_at: { column: sql.raw("l.created_at"), id: linkId, key: "time", tables: linkTables },
  updated_at: { column: sql.raw("l.updated_at"), id: linkId, key: "time", tables: linkTables },
  shortlink: { column: sql.raw("l.shortlink"), id: linkId, key: "text", tables: linkTables },
  name: { column: sql.raw("l.name"), id: linkId, key: "text", tables: linkTables },
  // Every link has a counter from its creation on.
  event_count: {
    column: sql.raw("c.event_count"),
    id: sql.raw("c.link_id"),
    key: "count",
    tables: countedTables,
  },
} as const satisfies Record<LinkOrder, unknown>;

export interface LinkListing {
  readonly filter: LinkFilter;
  readonly order: LinkOrder;
  readonly ascending: boolean;
  readonly page: Page<"time" | "text" | "count">;
  readonly include: ReadonlySet<LinkInclude>;
}

const includeNames: Readonly<Record<LinkInclude, string | undefined>> = {
  tags: "tags",
  customDomain: "domain",
  qrcodeDesign: "design",
  pageTheme: "theme",
  qrcodeSignedUrl: undefined,
};

/** The bytes of a page's row: those of the link itself and of what it embeds. */
function linkBytes(include: ReadonlySet<LinkInclude>): RawBuilder<unknown> {
  const embedded = [...include].flatMap((name) => includeNames[name] ?? []);
  const texts = ["name", "purpose", "fallback_destination", "expired_destination"].map(
    (name) => `octet_length(page.${name})`,
  );
  const objects = ["metadata", ...embedded].map((name) => `coalesce(octet_length(page.${name}::text), 0)`);
  return sql.raw([...texts, ...objects].join(" + "));
}

/**
 * One page and one more row, with everything that the links embed, as far as it fits into an answer. Served by the
 * index of the order, or of the filter.
 */
export async function listLinks(
  db: Db,
  { filter, order, ascending, page, include }: LinkListing,
): Promise<(LinkWithParts & { readonly bytes: number })[]> {
  const { column, id, tables } = linkOrders[order];
  const direction = sql.raw(ascending ? "asc" : "desc");
  const beyond =
    page.after === undefined
      ? sql.raw("")
      : sql`and (${column}, ${id}) ${sql.raw(ascending ? ">" : "<")} (${page.after.key}, ${page.after.id}::uuid)`;
  const rowsOfPage = sql`select ${columnsWith(include)} from ${tables}
    where ${matching(filter)} ${beyond}
    order by ${column} ${direction}, ${id} ${direction} limit ${page.size + 1}`;
  const { rows } = await sql<LinkWithParts & { readonly bytes: number }>`${withinAnswer(rowsOfPage, {
    bytes: linkBytes(include),
    order: sql`page.${sql.ref(order)} ${direction}, page.id ${direction}`,
  })}`.execute(db);
  return rows;
}

export interface LinkTotals {
  readonly total: bigint;
  /** Whether the directory of the filter belongs to the workspace. */
  readonly directoryExists: boolean;
  /** Whether the custom domain of the filter does. */
  readonly domainExists: boolean;
}

export async function countLinks(db: Db, filter: LinkFilter): Promise<LinkTotals> {
  const { rows } = await sql<LinkTotals>`select
    (select count(*) from living_links l where ${matching(filter)}) as total,
    exists (select from directories where workspace_id = ${filter.workspaceId}
      and id = ${filter.directoryId ?? null}::uuid) as "directoryExists",
    exists (select from custom_domains where workspace_id = ${filter.workspaceId}
      and id = ${filter.customDomainId ?? null}::uuid) as "domainExists"`.execute(db);
  return onlyRow(rows);
}

function matching(filter: LinkFilter): RawBuilder<unknown> {
  const { workspaceId, search, tagKeys, directoryId, customDomainId } = filter;
  const conditions = [sql`l.workspace_id = ${workspaceId}`];
  if (search !== undefined) {
    const pattern = `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
    conditions.push(sql`(l.name ilike ${pattern} or l.shortlink ilike ${pattern})`);
  }
  if (tagKeys !== undefined)
    conditions.push(sql`exists (select from link_tags lt
      join tags t on t.workspace_id = lt.workspace_id and t.id = lt.tag_id
      where lt.workspace_id = l.workspace_id and lt.link_id = l.id and t.name_key = any(${tagKeys}))`);
  if (customDomainId !== undefined) conditions.push(sql`l.custom_domain_id = ${customDomainId}`);
  if (directoryId === null) conditions.push(sql`l.directory_id is null`);
  else if (directoryId !== undefined) conditions.push(sql`l.directory_id = ${directoryId}`);
  return sql.join(conditions, sql.raw(" and "));
}

export interface ShortlinkUse {
  readonly taken: boolean;
  readonly domainExists: boolean;
}

/** Whether a short link is in use on a host, or was released after `releasedBefore`. */
export async function findShortlinkUse(
  db: Db,
  place: { readonly workspaceId: string; readonly customDomainId: string | null; readonly shortlink: string },
  releasedBefore: Date,
): Promise<ShortlinkUse> {
  const { rows } = await sql<ShortlinkUse>`
    with domain as (select name from custom_domains
      where workspace_id = ${place.workspaceId} and id = ${place.customDomainId}::uuid)
    select exists (select from domain) as "domainExists",
      exists (select from shortlinks where host = coalesce((select name from domain), '')
        and shortlink = ${place.shortlink}
        and not ${isFreeFor(sql`${place.workspaceId}::uuid`, releasedBefore)}) as taken`.execute(db);
  return onlyRow(rows);
}

/** The score of an event and the purpose of its link. All but the purpose are null when the link has no such event. */
export interface LeadScoreRow
  extends Pick<
    Selectable<Events>,
    | "lead_score"
    | "engagement_level"
    | "technological_aptitude"
    | "recurring_interest"
    | "brand_supportiveness"
    | "profile_fit"
    | "recurring_scans"
  > {
  readonly id: string | null;
  readonly purpose: string;
}

/** Undefined when there is no such link. */
export async function findLeadScore(
  db: Db,
  workspaceId: string,
  linkId: string,
  eventId: string,
): Promise<LeadScoreRow | undefined> {
  const { rows } = await sql<LeadScoreRow>`
    select l.purpose, e.id, e.lead_score, e.engagement_level, e.technological_aptitude, e.recurring_interest,
      e.brand_supportiveness, e.profile_fit, e.recurring_scans
    from living_links l left join events e
      on e.workspace_id = l.workspace_id and e.id = ${eventId} and e.link_id = l.id and e.locked_number is null
    where l.workspace_id = ${workspaceId} and l.id = ${linkId}`.execute(db);
  return rows[0];
}

export type ImageState = Pick<LinkWithParts, "qrcode_image_key" | "qrcode_pending_update_since">;

/** The storage keys of the QR images of these links, each once, for those that exist and have an image. */
export async function findImageKeys(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly qrcode_image_key: string }[]> {
  const { rows } = await sql<{
    id: string;
    qrcode_image_key: string;
  }>`select id, qrcode_image_key from living_links
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and qrcode_image_key is not null`.execute(
    db,
  );
  return rows;
}

/** Which QR images these links have, and whether newer ones are still to be drawn. */
export async function findImageStates(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<(ImageState & { readonly id: string })[]> {
  const { rows } = await sql<ImageState & { id: string }>`
    select id, qrcode_image_key, qrcode_pending_update_since from living_links
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`.execute(db);
  return rows;
}
