import { sql } from "kysely";
import { bytesArray, plainArray, textArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import type { KeptDevice } from "../device/collection.ts";
import type { BatchDevices } from "./resolve-devices.ts";
import type { BatchDevice } from "./resolved-visit.ts";

/** Another drain has written some of the batch meanwhile. The batch starts over and sees what that drain wrote. */
export class BatchRace extends Error {
  override readonly name = "BatchRace";
}

/** Writes what a batch adds to devices, cookies and visitors. Throws `BatchRace`. */
export async function writeDevices(tx: Db, { of, cookies }: BatchDevices): Promise<void> {
  const devices = [...new Set(of)].sort(byKey);
  // Cookies come first, because they show that another drain has met the same new device.
  await insertCookies(tx, cookies);
  await insertDevices(tx, devices);
  await touchDevices(
    tx,
    devices.filter(({ made }) => made === undefined),
  );
  await insertVisitors(
    tx,
    devices.filter(({ visitorSinceMs }) => visitorSinceMs !== undefined),
  );
}

function byKey(a: BatchDevice, b: BatchDevice): number {
  if (a.workspaceId !== b.workspaceId) return a.workspaceId < b.workspaceId ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

async function insertCookies(tx: Db, cookies: BatchDevices["cookies"]): Promise<void> {
  if (cookies.length === 0) return;
  // A row that exists already fails the batch: another drain was first.
  await sql`
    insert into device_cookies (workspace_id, cookie_hash, device_id)
    select * from unnest(${plainArray(cookies.map(({ device }) => device.workspaceId))}::uuid[],
      ${bytesArray(cookies.map(({ hash }) => hash))}::bytea[],
      ${plainArray(cookies.map(({ device }) => device.id))}::uuid[]) as given (workspace_id, hash, device_id)
    order by workspace_id, hash`.execute(tx);
}

const deviceColumns = sql.raw(`workspace_id, id, visitor_id, fingerprint, device_type, device_actor,
  device_actor_name, device_actor_origin, device_brand, device_name, browser_name, browser_version,
  browser_language, platform_name, platform_version, user_agent, ip_address, country, region, city, timezone, isp,
  asn`);

async function insertDevices(tx: Db, devices: readonly BatchDevice[]): Promise<void> {
  const made = devices.flatMap((device) => (device.made === undefined ? [] : [{ device, ...device.made }]));
  if (made.length === 0) return;
  const texts = (read: (kept: KeptDevice) => string) => textArray(made.map(({ kept }) => read(kept)));
  const plain = (read: (device: BatchDevice, kept: KeptDevice) => string | number) =>
    plainArray(made.map(({ device, kept }) => read(device, kept)));
  await sql`
    insert into devices (${deviceColumns}, last_used_at, created_at, updated_at)
    select ${deviceColumns},
      to_timestamp(used_ms / 1000), to_timestamp(made_ms / 1000), to_timestamp(made_ms / 1000)
    from unnest(
      ${plain(({ workspaceId }) => workspaceId)}::uuid[],
      ${plain(({ id }) => id)}::uuid[],
      ${plain(({ visitorId }) => visitorId)}::uuid[],
      ${bytesArray(made.map(({ facts }) => facts.fingerprint))}::bytea[],
      ${plain((_, { deviceType }) => deviceType)}::device_type[],
      ${plain((_, { deviceActor }) => deviceActor)}::device_actor[],
      ${texts(({ deviceActorName }) => deviceActorName)}::text[],
      ${texts(({ deviceActorOrigin }) => deviceActorOrigin)}::text[],
      ${texts(({ deviceBrand }) => deviceBrand)}::text[],
      ${texts(({ deviceName }) => deviceName)}::text[],
      ${texts(({ browserName }) => browserName)}::text[],
      ${texts(({ browserVersion }) => browserVersion)}::text[],
      ${texts(({ browserLanguage }) => browserLanguage)}::text[],
      ${texts(({ platformName }) => platformName)}::text[],
      ${texts(({ platformVersion }) => platformVersion)}::text[],
      ${texts(({ userAgent }) => userAgent)}::text[],
      ${texts(({ ipAddress }) => ipAddress)}::text[],
      ${texts(({ country }) => country)}::text[],
      ${texts(({ region }) => region)}::text[],
      ${texts(({ city }) => city)}::text[],
      ${texts(({ timezone }) => timezone)}::text[],
      ${texts(({ isp }) => isp)}::text[],
      ${plain((_, { asn }) => asn)}::bigint[],
      ${plain(({ lastUsedMs }) => lastUsedMs)}::float8[],
      ${plainArray(made.map(({ facts }) => facts.visit.atMs))}::float8[])
      as given (${deviceColumns}, used_ms, made_ms)
    on conflict (workspace_id, id) do nothing`.execute(tx);
}

/**
 * Locks known devices, before any other statement does, in the order of their keys, as all writers do. What was read of
 * them must still hold: that they exist, and which visitors they belong to.
 */
async function touchDevices(tx: Db, devices: readonly BatchDevice[]): Promise<void> {
  if (devices.length === 0) return;
  const { rows } = await sql<{ agreed: number }>`
    with touched as (
      update devices d set
        last_used_at = greatest(d.last_used_at, to_timestamp(given.used_ms / 1000)),
        updated_at = greatest(d.updated_at, to_timestamp(given.used_ms / 1000)),
        -- Only a new visitor is set: a device whose known visitor has been deleted stays without one.
        visitor_id = coalesce(d.visitor_id, given.new_visitor_id)
      from unnest(${plainArray(devices.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(devices.map(({ id }) => id))}::uuid[],
        ${plainArray(devices.map(({ lastUsedMs }) => lastUsedMs))}::float8[],
        ${plainArray(devices.map(({ visitorId }) => visitorId))}::uuid[],
        ${plainArray(devices.map(({ visitorId, visitorSinceMs }) => (visitorSinceMs === undefined ? "" : visitorId)))}::uuid[])
        as given (workspace_id, id, used_ms, visitor_id, new_visitor_id)
      where d.workspace_id = given.workspace_id and d.id = given.id
      returning d.visitor_id is not distinct from given.visitor_id as agrees)
    select count(*) filter (where agrees)::int as agreed from touched`.execute(tx);
  if (rows[0]?.agreed !== devices.length) throw new BatchRace("devices were changed meanwhile");
}

async function insertVisitors(tx: Db, devices: readonly BatchDevice[]): Promise<void> {
  if (devices.length === 0) return;
  await sql`
    insert into visitors (workspace_id, id, created_at, updated_at)
    select workspace_id, id, to_timestamp(since_ms / 1000), to_timestamp(since_ms / 1000)
    from unnest(${plainArray(devices.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(devices.map(({ visitorId }) => visitorId))}::uuid[],
      ${plainArray(devices.map(({ visitorSinceMs }) => visitorSinceMs ?? 0))}::float8[])
      as given (workspace_id, id, since_ms)
    on conflict (workspace_id, id) do nothing`.execute(tx);
}
