import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import type { BatchDevice, VisitType } from "./resolved-visit.ts";
import type { VisitFacts } from "./visit-facts.ts";

type Pair = { workspaceId: string; linkId: string; deviceId: string; eventId: string };

/**
 * Tells first visits from returning ones, per device and link, and remembers the first. A prefetch counts as first as
 * long as no visit has come, and the next visit is still a first one. A device without a key, as at level NONE, makes
 * only first visits.
 */
export async function visitTypes(
  tx: Db,
  visits: readonly VisitFacts[],
  devices: readonly BatchDevice[],
): Promise<VisitType[]> {
  const pairs = new Map<string, Pair>();
  const prefetched = new Map<string, Pair>();
  const known = new Set<string>();
  const keys = visits.map(({ visit, isUnseen, cookieHash, fingerprint }, index) => {
    const device = devices[index];
    const deviceId = device?.id ?? "";
    if (cookieHash === "" && fingerprint === "") return "";
    const { workspaceId, linkId, id } = visit;
    const key = `${workspaceId}/${linkId}/${deviceId}`;
    const into = isUnseen ? prefetched : pairs;
    if (device?.visited.has(linkId)) known.add(key);
    else if (!into.has(key)) into.set(key, { workspaceId, linkId, deviceId, eventId: id });
    return key;
  });
  const visited = await findVisited(tx, [...prefetched.values()]);
  const first = await insertFirst(tx, inOrder(pairs));
  return visits.map(({ visit }, index) => {
    const key = keys[index] ?? "";
    if (key === "" || first.get(key) === visit.id) return "FIRST";
    const isKnown = known.has(key) || pairs.has(key) || visited.has(key);
    const since = first.get(key) ?? (isKnown ? "" : undefined);
    // From here on only a prefetch can be FIRST: one before the first visit, or one without any visit.
    return since === undefined || visit.id < since ? "FIRST" : "RETURNING";
  });
}

/** Sorted, so that all writers lock in the same order. */
function inOrder(pairs: ReadonlyMap<string, Pair>): Pair[] {
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair);
}

/** The pairs that are new, each with the id of its first visit. */
async function insertFirst(tx: Db, pairs: readonly Pair[]): Promise<Map<string, string>> {
  if (pairs.length === 0) return new Map();
  const { rows } = await sql<{ pair: string; first_event_id: string }>`
    insert into device_links (workspace_id, link_id, device_id, first_event_id)
    select * from unnest(${plainArray(pairs.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(pairs.map(({ linkId }) => linkId))}::uuid[],
      ${plainArray(pairs.map(({ deviceId }) => deviceId))}::uuid[],
      ${plainArray(pairs.map(({ eventId }) => eventId))}::uuid[])
    on conflict (workspace_id, link_id, device_id) do nothing
    returning workspace_id || '/' || link_id || '/' || device_id as pair, first_event_id`.execute(tx);
  return new Map(rows.map((row) => [row.pair, row.first_event_id]));
}

async function findVisited(tx: Db, pairs: readonly Pair[]): Promise<ReadonlySet<string>> {
  if (pairs.length === 0) return new Set();
  const { rows } = await sql<{ pair: string }>`
    select d.workspace_id || '/' || d.link_id || '/' || d.device_id as pair
    from unnest(${plainArray(pairs.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(pairs.map(({ linkId }) => linkId))}::uuid[],
        ${plainArray(pairs.map(({ deviceId }) => deviceId))}::uuid[]) as given (workspace_id, link_id, device_id)
      join device_links d on d.workspace_id = given.workspace_id and d.link_id = given.link_id
        and d.device_id = given.device_id`.execute(tx);
  return new Set(rows.map(({ pair }) => pair));
}
