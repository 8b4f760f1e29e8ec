import { type RawBuilder, sql } from "kysely";
import type { AttributeType } from "../model/payloads.ts";
import { plainArray, textArray } from "./array-literal.ts";
import type { Db } from "./open.ts";

/** A custom attribute to save to a visitor. */
export interface AttributeToSave {
  readonly workspaceId: string;
  readonly visitorId: string;
  readonly key: string;
  readonly value: string;
  readonly type: AttributeType;
  /** Fills the attribute only while it is missing or empty; otherwise the newest write wins. */
  readonly setOnce: boolean;
  readonly atMs: number;
}

/**
 * Saves custom attributes of any number of visitors by one statement, as if one after the other in the order given; those
 * of visitors who do not exist any more are left out. Visitors are locked in the order of their keys.
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
    given_to as (
      select workspace_id, visitor_id, to_timestamp(max(at_ms) / 1000) as at from given
      group by workspace_id, visitor_id),
    locked as (
      select v.workspace_id, v.id, g.at from visitors v
      join given_to g on g.workspace_id = v.workspace_id and g.visitor_id = v.id
      order by v.workspace_id, v.id for no key update of v),
    touched as (
      update visitors v set updated_at = greatest(v.updated_at, l.at) from locked l
      where v.workspace_id = l.workspace_id and v.id = l.id
      returning v.workspace_id, v.id),
    filled as (${insertAs(sql`g.set_once`)}
      on conflict (workspace_id, visitor_id, key) do update
        set type = excluded.type, value = excluded.value, updated_at = excluded.updated_at
        where a.value = '')
    ${insertAs(sql`not g.set_once`)}
    on conflict (workspace_id, visitor_id, key) do update
      set type = excluded.type, value = excluded.value, updated_at = excluded.updated_at
      where a.updated_at <= excluded.updated_at`.execute(db);
}

function insertAs(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into visitor_attributes as a (workspace_id, visitor_id, key, type, value, created_at, updated_at)
    select g.workspace_id, g.visitor_id, g.key, g.type, g.value,
      to_timestamp(g.at_ms / 1000), to_timestamp(g.at_ms / 1000)
    from given g join touched t on t.workspace_id = g.workspace_id and t.id = g.visitor_id
    where ${condition}
    order by g.workspace_id, g.visitor_id, g.key`;
}

/** What is left of several writes of one attribute: the last that may overwrite, else the first that fills. */
function folded(attributes: readonly AttributeToSave[]): AttributeToSave[] {
  const found = new Map<string, AttributeToSave>();
  for (const attribute of attributes) {
    const place = `${attribute.workspaceId}${attribute.visitorId}${attribute.key}`;
    if (!attribute.setOnce || !found.has(place)) found.set(place, attribute);
  }
  return [...found.values()];
}
