import { type RawBuilder, sql } from "kysely";
import type { CustomDomainStatus, Json } from "../../../gen/database.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { qrcodeTemplateTables } from "../../db/templates/template-tables.ts";
import { usableTemplates } from "../../db/templates/usable-templates.ts";
import { isFreeFor } from "../../domains/free-shortlinks.ts";
import { noWorkspace } from "../../model/no-workspace.ts";

/** The records that a request refers to. A list that is absent refers to none. */
export interface Referenced {
  readonly customDomainIds?: readonly string[];
  readonly directoryIds?: readonly string[];
  readonly qrcodeDesignIds?: readonly string[];
  readonly qrcodeTemplateIds?: readonly string[];
  readonly pageThemeIds?: readonly string[];
  readonly screenedHosts: readonly string[];
}

/** Which of these records the workspace has. */
export interface References {
  readonly blocked_hosts: readonly string[];
  readonly domains: readonly {
    readonly id: string;
    readonly name: string;
    readonly status: CustomDomainStatus;
  }[];
  readonly directories: readonly { readonly id: string }[];
  readonly themes: readonly { readonly id: string }[];
  readonly designs: readonly { readonly id: string; readonly used: boolean }[];
  readonly templates: readonly { readonly id: string; readonly options: Json }[];
}

/** The columns of `References`. The rows are locked, so that nobody deletes them before the caller refers to them. */
export function referenceColumns(workspaceId: string, wanted: Referenced): RawBuilder<unknown> {
  const { customDomainIds = [], directoryIds = [], qrcodeDesignIds = [] } = wanted;
  const { qrcodeTemplateIds = [], pageThemeIds = [], screenedHosts } = wanted;
  return sql`
    array(select host from blocked_hosts where host = any(${screenedHosts})) as blocked_hosts,
    ${listOf(
      "domains",
      customDomainIds,
      sql`select id, name, status from custom_domains
      where workspace_id = ${workspaceId} and id = any(${customDomainIds}::uuid[]) order by id for key share`,
    )},
    ${listOf(
      "directories",
      directoryIds,
      sql`select id from directories
      where workspace_id = ${workspaceId} and id = any(${directoryIds}::uuid[]) order by id for key share`,
    )},
    ${listOf(
      "themes",
      pageThemeIds,
      sql`select id from page_themes
      where workspace_id = ${workspaceId} and id = any(${pageThemeIds}::uuid[]) and template_id is null
      order by id for key share`,
    )},
    ${listOf(
      "designs",
      qrcodeDesignIds,
      sql`select id, link_id is not null or template_id is not null as used
      from qrcode_designs where workspace_id in (${workspaceId}, ${noWorkspace})
        and id = any(${qrcodeDesignIds}::uuid[]) order by id for update`,
    )},
    ${listOf(
      "templates",
      qrcodeTemplateIds,
      sql`select t.id, q.options
      from (${usableTemplates(qrcodeTemplateTables, workspaceId, qrcodeTemplateIds)}) usable
      join qrcode_templates t on t.workspace_id = usable.workspace_id and t.id = usable.id
      join qrcode_designs q on q.workspace_id = t.workspace_id and q.id = t.look_id
      order by t.id for key share of t`,
    )}`;
}

/** A column with the rows of a query as a JSON array. Without keys to look for, nothing is looked up. */
function listOf(column: string, keys: readonly string[], rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const name = sql.ref(column);
  if (keys.length === 0) return sql`'[]'::jsonb as ${name}`;
  return sql`(select coalesce(jsonb_agg(to_jsonb(found)), '[]') from (${rows}) found) as ${name}`;
}

/** Looks up and locks all records that a request refers to, in one statement of the caller's transaction. */
export async function lockReferences(tx: Db, workspaceId: string, wanted: Referenced): Promise<References> {
  const { rows } = await sql<References>`select ${referenceColumns(workspaceId, wanted)}`.execute(tx);
  return onlyRow(rows);
}

/** A short link on a host. The default short domain is the empty host. */
export interface Place {
  readonly host: string;
  readonly shortlink: string;
}

/** The short links that are in use, or were released after `releasedBefore`, and the ids that links have. */
export interface Taken {
  readonly places: readonly Place[];
  readonly ids: readonly string[];
}

/** Which of many short links and ids are taken. Another call may take one before this one does. */
export async function findTaken(
  tx: Db,
  workspaceId: string,
  { places, ids, releasedBefore }: Taken & { readonly releasedBefore: Date },
): Promise<Taken> {
  const { rows } = await sql<Taken>`select
    (select coalesce(jsonb_agg(jsonb_build_object('host', shortlinks.host, 'shortlink', shortlinks.shortlink)), '[]') from shortlinks
      join unnest(${places.map(({ host }) => host)}::text[], ${places.map(({ shortlink }) => shortlink)}::text[])
        as wanted (host, shortlink) on shortlinks.host = wanted.host and shortlinks.shortlink = wanted.shortlink
      where not ${isFreeFor(sql`${workspaceId}::uuid`, releasedBefore)}) as places,
    (select coalesce(jsonb_agg(id), '[]') from links
      where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])) as ids`.execute(tx);
  return onlyRow(rows);
}
