import { type Selectable, sql } from "kysely";
import type { Devices } from "../../../gen/database.ts";
import { bytesArray, plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { deviceAlike, matchMs } from "../device/alike-devices.ts";
import type { BatchDevice } from "./resolved-visit.ts";
import type { VisitFacts } from "./visit-facts.ts";

/** The device of each visit, in the order of the visits, and the rows that they add to the database. */
export interface BatchDevices {
  readonly of: readonly BatchDevice[];
  readonly cookies: readonly { readonly hash: string; readonly device: BatchDevice }[];
}

/**
 * Finds the devices of visits, which are in order of arrival. No device is locked before it is written. New devices and
 * visitors take the id of the visit that makes them, so that a batch written twice makes nothing twice. Cookies that
 * were made for the answers are looked for only with `looksForNewCookies`, which is for a batch that may have been
 * written before.
 */
export async function resolveDevices(
  tx: Db,
  visits: readonly VisitFacts[],
  { looksForNewCookies }: { readonly looksForNewCookies: boolean },
): Promise<BatchDevices> {
  const found = await findKnown(tx, visits, looksForNewCookies);
  const { byCookie, byFingerprint } = found;
  const cookies: { hash: string; device: BatchDevice }[] = [];
  const of = visits.map((facts) => {
    const { visit, cookieHash, fingerprint, hasVisitor, isUnseen } = facts;
    const device =
      byCookie.get(cookieHash) ?? recently(byFingerprint.get(fingerprint), visit.atMs) ?? newDevice(facts);
    if (cookieHash !== "" && !byCookie.has(cookieHash)) {
      byCookie.set(cookieHash, device);
      cookies.push({ hash: cookieHash, device });
    }
    if (fingerprint !== "") byFingerprint.set(fingerprint, device);
    device.lastUsedMs = Math.max(device.lastUsedMs, visit.atMs);
    if (hasVisitor && !isUnseen && device.visitorId === "") {
      device.visitorId = visit.id;
      device.visitorSinceMs = visit.atMs;
    }
    return device;
  });
  return { of, cookies };
}

function recently(device: BatchDevice | undefined, atMs: number): BatchDevice | undefined {
  return device !== undefined && Math.abs(atMs - device.lastUsedMs) <= matchMs ? device : undefined;
}

function newDevice(facts: VisitFacts): BatchDevice {
  const { id, workspaceId, atMs } = facts.visit;
  const kept = facts.device();
  return {
    workspaceId,
    id,
    made: { facts, kept },
    country: kept.country,
    visited: new Set(),
    lastUsedMs: atMs,
    visitorId: "",
    visitorSinceMs: undefined,
  };
}

interface Found extends Pick<Selectable<Devices>, "id" | "visitor_id" | "country"> {
  readonly is_cookie: boolean;
  /** The place of the visit among those that were looked for, from 1. */
  readonly place: number;
  /** Whether the device has visited the link of this visit before. */
  readonly has_visited: boolean;
  readonly last_used_ms: number;
}

async function findKnown(
  tx: Db,
  visits: readonly VisitFacts[],
  looksForNewCookies: boolean,
): Promise<{ byCookie: Map<string, BatchDevice>; byFingerprint: Map<string, BatchDevice> }> {
  // A cookie that was made for the answer is unknown, unless the visit was written before.
  const isLookedFor = ({ visit, cookieHash }: VisitFacts) =>
    cookieHash !== "" && (visit.cookieWasSent || looksForNewCookies);
  const cookies = distinct(visits.filter(isLookedFor), ({ cookieHash, visit }) => cookieHash + visit.linkId);
  const fingerprints = distinct(
    visits.filter((facts) => facts.fingerprint !== ""),
    ({ fingerprint }) => fingerprint,
  );
  const workspacesOf = (some: readonly VisitFacts[]) =>
    plainArray(some.map(({ visit }) => visit.workspaceId));
  const times = visits.map(({ visit }) => visit.atMs);
  const alike = deviceAlike({
    workspaceId: sql.ref("given.workspace_id"),
    fingerprint: sql.ref("given.hash"),
    fromMs: Math.min(...times),
    toMs: Math.max(...times),
  });
  const { rows } = await sql<Found>`
    select true as is_cookie, given.place::int as place, ${deviceColumns}, exists (select from device_links l
      where l.workspace_id = d.workspace_id and l.link_id = given.link_id and l.device_id = d.id) as has_visited
    from unnest(${workspacesOf(cookies)}::uuid[], ${bytesArray(cookies.map(({ cookieHash }) => cookieHash))}::bytea[],
        ${plainArray(cookies.map(({ visit }) => visit.linkId))}::uuid[]) with ordinality
        as given (workspace_id, hash, link_id, place)
      join device_cookies c on c.workspace_id = given.workspace_id and c.cookie_hash = given.hash
      join devices d on d.workspace_id = c.workspace_id and d.id = c.device_id
    union all
    select false, given.place::int, ${deviceColumns}, false
    from unnest(${workspacesOf(fingerprints)}::uuid[],
        ${bytesArray(fingerprints.map(({ fingerprint }) => fingerprint))}::bytea[]) with ordinality
        as given (workspace_id, hash, place)
      cross join lateral (${alike}) as d`.execute(tx);
  const devices = new Map<string, BatchDevice>();
  const byCookie = new Map<string, BatchDevice>();
  const byFingerprint = new Map<string, BatchDevice>();
  for (const row of rows) {
    const facts = (row.is_cookie ? cookies : fingerprints)[row.place - 1];
    if (facts === undefined) continue;
    const { visit, cookieHash, fingerprint } = facts;
    const key = visit.workspaceId + row.id;
    const device = devices.get(key) ?? knownDevice(visit.workspaceId, row);
    devices.set(key, device);
    if (row.has_visited) device.visited.add(visit.linkId);
    if (row.is_cookie) byCookie.set(cookieHash, device);
    else byFingerprint.set(fingerprint, device);
  }
  return { byCookie, byFingerprint };
}

const deviceColumns = sql.raw(
  "d.id, d.visitor_id, date_part('epoch', d.last_used_at) * 1000 as last_used_ms, d.country",
);

function knownDevice(workspaceId: string, row: Found): BatchDevice {
  return {
    workspaceId,
    id: row.id,
    made: undefined,
    country: row.country,
    visited: new Set(),
    lastUsedMs: Math.round(row.last_used_ms),
    visitorId: row.visitor_id ?? "",
    visitorSinceMs: undefined,
  };
}

/** One visit for each key. The hashes include the workspace, so a hash alone identifies a row. */
function distinct(visits: readonly VisitFacts[], keyOf: (facts: VisitFacts) => string): VisitFacts[] {
  return [...new Map(visits.map((facts) => [keyOf(facts), facts])).values()];
}
