import { type RawBuilder, sql } from "kysely";
import { fileCheckOf } from "../../db/file-checks.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import {
  pageThemeTemplateTables,
  qrcodeTemplateTables,
  type TemplateTables,
} from "../../db/templates/template-tables.ts";
import { forgetTemplate } from "../../db/templates/usable-templates.ts";
import { keepNamesForNobody } from "../../domains/names.ts";
import type { TokenBox } from "../../integrations/token-box.ts";
import type { Storage } from "../../lib/storage/storage.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import { deleteSlackIntegration } from "../integrations/revoke-slack-token.ts";
import { jobCall } from "../queue.ts";
import { reserveForNobody } from "./purge-reservations.ts";

export interface RowsDeps {
  readonly db: Db;
  readonly storage: Storage;
  readonly tokenBox: TokenBox;
  readonly now: () => Date;
  readonly batchSize: number;
}

/** The storage keys of a workspace's own files, as expressions that give an array for each row. */
const fileKeys: Readonly<Record<string, RawBuilder<unknown>>> = {
  exports: sql.raw("array[storage_key]"),
  file_checks: sql.raw("array[storage_key]"),
  links: sql.raw("array[qrcode_image_key]"),
  media: sql.raw("page_files || storage_key"),
  page_theme_templates: sql.raw("array[thumbnail_key]"),
  qrcode_templates: sql.raw("array[thumbnail_key]"),
};

/** What else goes with the rows of a table, as parts of the statement that deletes them as `gone`. */
const besides: Readonly<Record<string, (at: Date) => RawBuilder<unknown>>> = {
  // Pictures in the middle of codes are shared: a file that no other design has is deleted when its check is due.
  qrcode_designs: (at) => sql`, picture as (${fileCheckOf(picturesOfGone, at)})`,
  oauth_grants: () => sql`, revocation as (delete from revocations r using gone where r.subject = gone.id)`,
  // The revocation of the workspace covers its tokens.
  workspace_tokens: () => sql`,
    revocation as (delete from revocations r using gone where r.subject = gone.id),
    scopes as (delete from changed_scopes c using gone where c.token_id = gone.id)`,
};

/** The job that each row of a table queues when it is deleted. */
const queuedBy: Readonly<Record<string, RawBuilder<unknown>>> = {
  // Google is told that the account is no longer used. The job has a sealed token, and needs no row.
  google_forms_integrations: jobCall("revoke-google-grant", {
    ownerId: sql.ref("workspace_id"),
    integrationId: sql.ref("id"),
    subject: sql.ref("google_subject"),
    token: sql`encode(refresh_token, 'hex')`,
  }),
};

const picturesOfGone = sql`select ${noWorkspace}::uuid, options ->> 'centralImageKey', null::uuid from gone
  where options ->> 'centralImageKey' is not null`;

/** Statements that take rows from the workspace where they are not deleted. */
const instead: Readonly<Record<string, (at: Date) => RawBuilder<unknown>>> = {
  domain_names: keepNamesForNobody,
  shortlinks: reserveForNobody,
};

/**
 * Deletes the rows and files of a workspace from every table that has a `workspace_id`, one batch in each transaction.
 * The tables come from the catalog, so that none can be forgotten. Returns how many rows there were.
 */
export async function deleteTenantRows(
  deps: RowsDeps,
  workspaceId: string,
  signal?: AbortSignal,
): Promise<number> {
  await deleteSlackIntegration(deps, workspaceId);
  let deleted = 0;
  for (const tables of [qrcodeTemplateTables, pageThemeTemplateTables])
    deleted += await forgetTemplates(deps, tables, workspaceId, signal);
  for (const table of await tenantTables(deps.db)) {
    for (;;) {
      if (signal?.aborted === true) return deleted;
      const keys = fileKeys[table];
      const rows = keys === undefined ? undefined : await deleteFiles(deps, { table, keys, workspaceId });
      const count = await deleteBatch(deps, { table, workspaceId, rows });
      deleted += count;
      if (count === 0) break;
    }
  }
  return deleted;
}

/**
 * Tables, and partitions in place of partitioned tables. Events come first: answers of visits lock their event, so
 * nothing is written about a visit once its event is gone.
 */
async function tenantTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
    left join pg_inherits i on i.inhrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    order by coalesce(i.inhparent, c.oid) = 'events'::regclass desc, name`.execute(db);
  return rows.map(({ name }) => name);
}

interface Place {
  readonly table: string;
  readonly workspaceId: string;
}

/**
 * Deletes the files of some rows, and returns where these rows are. A row that is written in the meantime has moved, and
 * is found again with its new file.
 */
async function deleteFiles(
  { db, storage, batchSize }: RowsDeps,
  { table, keys: expression, workspaceId }: Place & { readonly keys: RawBuilder<unknown> },
): Promise<readonly string[]> {
  const statement = sql<{ place: string; keys: (string | null)[] }>`
    select ctid::text as place, ${expression} as keys from ${sql.table(table)}
    where workspace_id = ${workspaceId} limit ${Math.min(batchSize, filesMax)}`;
  const { rows } = await statement.execute(db);
  const keys = rows.flatMap((row) => row.keys.filter((key) => key !== null));
  await Promise.all(keys.map((key) => storage.delete(key)));
  return rows.map(({ place }) => place);
}

/** The files of so many rows are deleted at the same time. */
const filesMax = 100;

/** Takes the rows at these places, or any of the workspace's, from it. Returns how many they were. */
async function deleteBatch(
  { db, now, batchSize }: RowsDeps,
  { table, workspaceId, rows: places }: Place & { readonly rows: readonly string[] | undefined },
): Promise<number> {
  const from = sql.table(table);
  const chosen =
    places === undefined
      ? sql`array(select ctid from ${from} where workspace_id = ${workspaceId} limit ${batchSize})`
      : sql`${places}::tid[]`;
  const taking = instead[table]?.(now()) ?? sql`delete from ${from}`;
  const statement = sql<{ count: bigint }>`
    with gone as (${taking} where ctid = any(${chosen}) and workspace_id = ${workspaceId} returning *)
      ${besides[table]?.(now()) ?? sql.raw("")}
    select count(*) as count, count(${queuedBy[table] ?? sql.raw("null")}) as queued from gone`;
  const { rows } = await statement.execute(db);
  return Number(onlyRow(rows).count);
}

/** Other workspaces' links forget the templates that this workspace has published. Returns how many links they were. */
async function forgetTemplates(
  { db, batchSize }: RowsDeps,
  tables: TemplateTables,
  workspaceId: string,
  signal?: AbortSignal,
): Promise<number> {
  const published = await db
    .selectFrom(tables.slugs)
    .select("template_id")
    .where("workspace_id", "=", workspaceId)
    .where("published_at", "is not", null)
    .orderBy("template_id")
    .execute();
  let forgotten = 0;
  for (const { template_id } of published) {
    while (signal?.aborted !== true) {
      const { numAffectedRows = 0n } = await forgetTemplate(tables, template_id, batchSize).execute(db);
      if (numAffectedRows === 0n) break;
      forgotten += Number(numAffectedRows);
    }
  }
  return forgotten;
}
