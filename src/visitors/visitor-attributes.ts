import { type Selectable, sql } from "kysely";
import type { VisitorAttributes, Visitors } from "../../gen/database.ts";
import { plainArray, textArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import type { AttributeType } from "../model/workflow/attribute-capture.ts";
import { visitorAttributesMax } from "./visitor-moves.ts";

/** A value for a visitor's profile. */
export interface GivenAttribute {
  /** `$email`, `$phone` in E.164 form, `$firstName` and `$lastName`. All other keys are custom attributes. */
  readonly key: string;
  readonly value: string;
  readonly type: AttributeType;
  /** Whether the value only fills a missing or empty attribute. Otherwise the newest write wins. */
  readonly setOnce: boolean;
}

export type GivenValues = ReadonlyMap<string, GivenAttribute>;

export type StoredVisitor = Selectable<Visitors>;

export interface VisitorIdentity {
  /** Case-folded. */
  readonly email: string | null;
  readonly phone: string | null;
}

export function foldedEmail(email: string | undefined): string | null {
  return email?.toLowerCase() || null;
}

export const reservedColumns = {
  $email: "email",
  $phone: "phone",
  $firstName: "first_name",
  $lastName: "last_name",
} as const;

type ReservedValues = Pick<StoredVisitor, (typeof reservedColumns)[keyof typeof reservedColumns]>;

/** Identity and names as the values make them. An empty value changes nothing. */
export function reservedAfter<Before extends ReservedValues>(before: Before, values: GivenValues): Before {
  const after = { ...before };
  for (const [key, column] of Object.entries(reservedColumns)) {
    const given = values.get(key);
    if (given === undefined || given.value === "" || (given.setOnce && before[column])) continue;
    after[column] = column === "email" ? foldedEmail(given.value) : given.value;
  }
  return after;
}

interface ReservedChange {
  /** The row as it is stored. */
  readonly profile: StoredVisitor;
  /** The row as it is before the call's own values. */
  readonly before: StoredVisitor;
  readonly values: GivenValues;
  readonly at: Date;
}

/** Saves identity and names. Gives the keys that changed. */
export async function saveReserved(
  tx: Db,
  { profile, before, values, at }: ReservedChange,
): Promise<readonly string[]> {
  const after = reservedAfter(before, values);
  const columns = Object.entries(reservedColumns);
  if (columns.some(([, column]) => after[column] !== profile[column])) {
    const { email, phone, first_name, last_name } = after;
    await tx
      .updateTable("visitors")
      .set({ email, phone, first_name, last_name, updated_at: at })
      .where("workspace_id", "=", profile.workspace_id)
      .where("id", "=", profile.id)
      .execute();
  }
  return columns.flatMap(([key, column]) => (after[column] === before[column] ? [] : [key]));
}

/**
 * Saves custom attributes of a visitor whose row the transaction has locked. Gives the keys whose values changed. New
 * keys are stored as long as there is room for them. An answer that is stored late overwrites nothing that is newer.
 */
export async function saveAttributes(
  tx: Db,
  workspaceId: string,
  visitorId: string,
  at: Date,
  attributes: readonly Pick<GivenAttribute, "key" | "value" | "type" | "setOnce">[],
): Promise<readonly string[]> {
  if (attributes.length === 0) return [];
  const { rows } = await sql<Pick<Selectable<VisitorAttributes>, "key">>`
    with given as (
      select * from unnest(${attributes.map(({ key }) => key)}::text[], ${attributes.map(({ value }) => value)}::text[],
        ${attributes.map(({ type }) => type)}::visitor_attribute_type[],
        ${attributes.map(({ setOnce }) => setOnce)}::boolean[])
        with ordinality as given (key, value, type, set_once, position)),
    known as (select key, value from visitor_attributes
      where workspace_id = ${workspaceId} and visitor_id = ${visitorId}),
    kept as (
      select given.*, row_number() over (order by known.key is null, position) as place, known.key is null as is_new
      from given left join known using (key)
      where not (given.set_once and coalesce(known.value, '') <> ''))
    insert into visitor_attributes as a (workspace_id, visitor_id, key, type, value, created_at, updated_at)
    select ${workspaceId}, ${visitorId}, key, type, value, ${at}, ${at} from kept
    where not is_new
      or place - (select count(*) from kept where not is_new)
        <= ${visitorAttributesMax} - (select count(*) from known)
    order by key
    on conflict (workspace_id, visitor_id, key) do update
      set type = excluded.type, value = excluded.value, updated_at = excluded.updated_at
      where (a.type, a.value) is distinct from (excluded.type, excluded.value)
        and a.updated_at <= excluded.updated_at
    returning key`.execute(tx);
  return rows.map(({ key }) => key);
}

export async function touchVisitor(tx: Db, workspaceId: string, id: string, at: Date): Promise<void> {
  await sql`update visitors set updated_at = ${at} where workspace_id = ${workspaceId} and id = ${id}`.execute(
    tx,
  );
}

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
