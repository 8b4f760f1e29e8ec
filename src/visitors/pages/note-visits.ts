import { sql } from "kysely";
import { plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";

/**
 * Notes that visitors have come again, in the transaction that counts their visits, so that lists count the visits too.
 * It is one row for each workspace, and costs a visit 1 %. Triggers note all other changes of visitors, but a trigger on
 * the numbers of visits would cost 6 %.
 */
export async function noteVisits(
  tx: Db,
  visits: Iterable<{ readonly workspaceId: string; readonly visitorId: string }>,
): Promise<void> {
  const byWorkspace = Map.groupBy(visits, ({ workspaceId }) => workspaceId);
  const rows = [...byWorkspace].map(([workspaceId, own]) => ({
    workspaceId,
    visitorIds: new Set(own.map(({ visitorId }) => visitorId)),
  }));
  await sql`insert into visitors_visited (workspace_id, visitor_ids, visitors)
    select workspace_id, visitor_ids::uuid[], visitors
    from unnest(${plainArray(rows.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${textArray(rows.map(({ visitorIds }) => plainArray([...visitorIds])))}::text[],
      ${plainArray(rows.map(({ visitorIds }) => visitorIds.size))}::integer[])
      as given (workspace_id, visitor_ids, visitors)`.execute(tx);
}
