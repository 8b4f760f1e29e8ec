import { type RawBuilder, sql } from "kysely";

/**
 * Whether the workspace may take a short link that has a row `shortlinks`: one that was released long enough ago, or, on a custom
 * domain, one of an earlier holder of the name. Only who holds a name makes links on it.
 */
export function isFreeFor(workspaceId: RawBuilder<unknown>, releasedBefore: Date): RawBuilder<boolean> {
  return sql`(coalesce(shortlinks.released_at < ${releasedBefore}, false)
    or (shortlinks.host <> '' and shortlinks.workspace_id <> ${workspaceId}))`;
}
