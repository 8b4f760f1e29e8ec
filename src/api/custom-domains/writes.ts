import { sql } from "kysely";
import { tellDomainChange, tellWorkspaceChange } from "../../db/channels.ts";
import { onlyRow } from "../../db/only-row.ts";
import type { Db } from "../../db/open.ts";
import { isFreeFor } from "../../domains/free-shortlinks.ts";
import { releaseName } from "../../domains/names.ts";
import { reservationMs } from "../../model/links/shortlink.ts";
import type { Deps } from "../deps.ts";
import type { DomainRow } from "./queries.ts";

interface Place {
  readonly workspaceId: string;
  readonly id: string;
}

/** The domain, kept from all other changes until the transaction ends. No link can be made on it meanwhile. */
export async function lockDomain(tx: Db, { workspaceId, id }: Place): Promise<DomainRow | undefined> {
  return tx
    .selectFrom("custom_domains")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

/** The domain, kept from other changes. Links can be made on it meanwhile. */
export async function lockDomainForChange(
  tx: Db,
  { workspaceId, id }: Place,
): Promise<DomainRow | undefined> {
  return tx
    .selectFrom("custom_domains")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** The domain to which links move, which stays until they are there. */
export async function keepDomain(tx: Db, { workspaceId, id }: Place): Promise<DomainRow | undefined> {
  return tx
    .selectFrom("custom_domains")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .forKeyShare()
    .executeTakeFirst();
}

/** Adds a domain about which nothing is known yet. */
export async function insertDomain(
  tx: Db,
  { workspaceId, id, name, at }: Place & { readonly name: string; readonly at: Date },
): Promise<void> {
  await tx
    .insertInto("custom_domains")
    .values({ workspace_id: workspaceId, id, name, status: "INACTIVE", created_at: at, updated_at: at })
    .execute();
}

/** Changes where the bare domain leads, and tells every process: it is the fallback of the domain's links, too. */
export async function changeRoot(
  tx: Db,
  { workspace_id, id, name }: DomainRow,
  { rootDestination, at }: { readonly rootDestination: string; readonly at: Date },
): Promise<DomainRow> {
  const after = await tx
    .updateTable("custom_domains")
    .set({ root_destination: rootDestination, updated_at: at })
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await sql`select ${tellDomainChange(name)}, ${tellWorkspaceChange(workspace_id)}`.execute(tx);
  return after;
}

export async function hasLinks(tx: Db, { workspaceId, id }: Place): Promise<boolean> {
  const { rows } = await sql`select from living_links
    where workspace_id = ${workspaceId} and custom_domain_id = ${id} limit 1`.execute(tx);
  return rows.length > 0;
}

/** Deletes a locked domain without links, releases its name and tells every process. */
export async function deleteDomain(tx: Db, row: DomainRow, at: Date): Promise<void> {
  const { workspace_id, id, name } = row;
  await tx
    .deleteFrom("custom_domains")
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", id)
    .execute();
  const wasProved = row.verified_at !== null || row.activated_at !== null;
  await releaseName(tx, { name, id, at, wasProved });
  await sql`select ${tellDomainChange(name)}, ${tellWorkspaceChange(workspace_id)}`.execute(tx);
}

/** The domain that links move to. For the service's own short host the id is null and the host empty. */
export interface NewHome {
  readonly id: string | null;
  readonly host: string;
}

/** How many links one statement moves. */
const portion = 1_000;

/**
 * Moves some of a locked domain's links with their short links, whose codes are drawn anew. Returns how many it moved, and those
 * of their short links that are taken where they go: then nothing may stay of it.
 */
export async function moveSomeLinks(
  tx: Db,
  { jobCalls }: Pick<Deps, "jobCalls">,
  { workspace_id, id, name }: DomainRow,
  { to, at }: { readonly to: NewHome; readonly at: Date },
): Promise<{ readonly moved: number; readonly taken: readonly string[] }> {
  const drawing = jobCalls(
    "render-qrcode",
    { workspaceId: sql.ref("workspace_id"), linkId: sql.ref("link_id") },
    { rows: sql.raw("moved"), priority: 1 },
  );
  const releasedBefore = new Date(at.getTime() - reservationMs);
  const { rows } = await sql<{ moved: number; taken: string[] }>`
    with moved as (
        update links l
        set custom_domain_id = ${to.id}::uuid, qrcode_pending_update_since = ${at}, updated_at = ${at}
        where l.workspace_id = ${workspace_id} and l.id in (
          select id from living_links where workspace_id = ${workspace_id} and custom_domain_id = ${id}
          order by created_at, id limit ${portion})
        returning l.workspace_id, l.id as link_id, l.shortlink),
      claimed as (
        insert into shortlinks (host, shortlink, workspace_id, link_id)
        select ${to.host}, shortlink, workspace_id, link_id from moved order by shortlink
        on conflict (host, shortlink) do update
          set workspace_id = excluded.workspace_id, link_id = excluded.link_id, released_at = null
          where ${isFreeFor(sql`excluded.workspace_id`, releasedBefore)}
        returning link_id),
      vacated as (delete from shortlinks s using moved
        where s.host = ${name} and s.shortlink = moved.shortlink and s.link_id = moved.link_id),
      job as (select ${drawing} as job)
    select (select count(*)::int from moved) as moved,
      array(select shortlink from moved where link_id not in (select link_id from claimed)
        order by shortlink limit 10) as taken,
      -- Counted, because PostgreSQL does not run what nothing reads.
      (select count(*) from job) as queued`.execute(tx);
  return onlyRow(rows);
}
