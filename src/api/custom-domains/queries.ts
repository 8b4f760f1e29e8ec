import type { Selectable } from "kysely";
import type { CustomDomainStatus, CustomDomains } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { Page } from "../../lib/paging/page.ts";
import { newestFirst } from "../resources/page-queries.ts";

export type DomainRow = Selectable<CustomDomains>;

export interface DomainFilter {
  readonly workspaceId: string;
  readonly status: CustomDomainStatus | undefined;
}

/** Domains newest first, one more row than the page. Served by custom_domains_page_idx. */
export function listDomains(db: Db, filter: DomainFilter, page: Page<"time">): Promise<DomainRow[]> {
  return matching(db, filter).selectAll().$call(newestFirst(page)).execute();
}

export async function countDomains(db: Db, filter: DomainFilter): Promise<bigint> {
  const { count } = await matching(db, filter)
    .select(({ fn }) => fn.countAll<bigint>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

function matching(db: Db, { workspaceId, status }: DomainFilter) {
  const all = db.selectFrom("custom_domains").where("workspace_id", "=", workspaceId);
  return status === undefined ? all : all.where("status", "=", status);
}

/** The hosts among these that are on the block list. */
export async function findBlockedHosts(db: Db, hosts: readonly string[]): Promise<ReadonlySet<string>> {
  if (hosts.length === 0) return new Set();
  const rows = await db.selectFrom("blocked_hosts").select("host").where("host", "in", hosts).execute();
  return new Set(rows.map(({ host }) => host));
}
