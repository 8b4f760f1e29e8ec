import { sql } from "kysely";
import { plainArray, textArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import type { AttributeType } from "../model/workflow/attribute-capture.ts";
import { visitorAttributesMax } from "./visitor-moves.ts";

/** A custom attribute to save to a visitor. */
export interface AttributeToSave {
  readonly workspaceId: string;
  readonly visitorId: string;
  readonly key: string;
  readonly value: string;
  readonly type: AttributeType;
  /** Whether the value only fills a missing or empty attribute. Otherwise the newest write wins. */
  readonly setOnce: boolean;
  readonly atMs: number;
}

/**
 * Saves custom attributes of any number of visitors by one statement, as if one after the other in the order given.
 * Leaves out those of visitors who no longer exist, and new keys there is no room for. It waits for no lock: it is for
 * transactions that have locked the visitors' devices, after which the rows of visitors come too late in the order of
 * locks. A transaction that holds the lock of a visitor is changing that visitor, and sets the time of the change
 * itself.
 */
export async function saveVisitorAttributes(db: Db, attributes: readonly AttributeToSave[]): Promise<void> {
  if (attributes.length === 0) return;
  const lasting = folded(attributes);
  const plain = (read: (attribute: AttributeToSave) => string | number | boolean) =>
    plainArray(lasting.map(read));
  await sql`
    with given as (
      select * from unnest(
        ${plain(({ workspaceId }) => workspaceId)}::uuid[],
        ${plain(({ visitorId }) => visitorId)}::uuid[],
        ${textArray(lasting.map(({ key }) => key))}::text[],
        ${textArray(lasting.map(({ value }) => value))}::text[],
        ${plain(({ type }) => type)}::visitor_attribute_type[],
        ${plain(({ setOnce }) => setOnce)}::boolean[],
        ${plain(({ atMs }) => atMs)}::float8[])
        as given (workspace_id, visitor_id, key, value, type, set_once, at_ms)),
    free as (
      select v.workspace_id, v.id, g.at from visitors v join (
        select workspace_id, visitor_id, to_timestamp(max(at_ms) / 1000) as at from given
        group by workspace_id, visitor_id) as g on g.workspace_id = v.workspace_id and g.visitor_id = v.id
      for no key update of v skip locked),
    touched as (
      update visitors v set updated_at = greatest(v.updated_at, f.at) from free f
      where v.workspace_id = f.workspace_id and v.id = f.id),
    kept as (
      select g.*, a.key is null as is_new,
        count(*) filter (where a.key is null) over (
          partition by g.workspace_id, g.visitor_id order by g.key rows unbounded preceding)
        + (select count(*) from visitor_attributes k
          where k.workspace_id = g.workspace_id and k.visitor_id = g.visitor_id) as place
      from given g
      join visitors v on v.workspace_id = g.workspace_id and v.id = g.visitor_id
      left join visitor_attributes a
        on a.workspace_id = g.workspace_id and a.visitor_id = g.visitor_id and a.key = g.key
      where not (g.set_once and coalesce(a.value, '') <> ''))
    insert into visitor_attributes as a (workspace_id, visitor_id, key, type, value, created_at, updated_at)
    select workspace_id, visitor_id, key, type, value, to_timestamp(at_ms / 1000), to_timestamp(at_ms / 1000)
    from kept where not is_new or place <= ${visitorAttributesMax}
    order by workspace_id, visitor_id, key
    on conflict (workspace_id, visitor_id, key) do update
      set type = excluded.type, value = excluded.value, updated_at = excluded.updated_at
      where a.updated_at <= excluded.updated_at`.execute(db);
}

/** What remains of several writes of one attribute: the last that may overwrite, else the first that fills. */
function folded(attributes: readonly AttributeToSave[]): AttributeToSave[] {
  const found = new Map<string, AttributeToSave>();
  for (const attribute of attributes) {
    const place = `${attribute.workspaceId}${attribute.visitorId}${attribute.key}`;
    if (!attribute.setOnce || !found.get(place)?.value) found.set(place, attribute);
  }
  return [...found.values()];
}
