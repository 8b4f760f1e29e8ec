import type pg from "pg";
import type { LinkVisits } from "../kernels/links.ts";
import type { LinkCounts, Scope } from "../question.ts";
import type { LinkFilter } from "./select-rows.ts";

/** Which links a scope means. */
export async function readLinkFilter(
  pool: pg.Pool,
  { workspaceId, linkId, tagKey }: Scope,
): Promise<LinkFilter> {
  if (tagKey === undefined) return linkId === undefined ? undefined : (id) => id === linkId;
  const { rows } = await pool.query<[string] & unknown[]>({
    text: `select lt.link_id::text from link_tags lt
      join tags t on t.workspace_id = lt.workspace_id and t.id = lt.tag_id
      where lt.workspace_id = $1 and t.name_key = $2`,
    values: [workspaceId, tagKey],
    rowMode: "array",
  });
  const tagged = new Set(rows.map(([id]) => id));
  return (id) => tagged.has(id) && (linkId === undefined || id === linkId);
}

/** The links with the most visits that still exist, with what they are called. */
export async function readTopLinks(
  pool: pg.Pool,
  workspaceId: string,
  visits: LinkVisits,
  limit: number,
): Promise<LinkCounts> {
  // Links that are gone have no place, so a second look may be needed, at many more.
  for (let count = 2 * limit; ; count *= 16) {
    const most = visits.most(count);
    const { rows } = await pool.query<{ name: string; shortlink: string; count: number }>({
      text: `select l.name, l.shortlink, m.count
        from unnest($2::uuid[], $3::int[]) as m (id, count)
        join living_links l on l.workspace_id = $1 and l.id = m.id
        order by m.count desc, l.name collate "C", l.id limit $4`,
      values: [workspaceId, most.map(({ id }) => id), most.map(({ count: own }) => own), limit],
    });
    if (rows.length === limit || most.length === visits.links) return { total: visits.total, links: rows };
  }
}
