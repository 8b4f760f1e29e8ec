import { type Selectable, sql } from "kysely";
import type { VisitorAttributes, Visitors } from "../../gen/database.ts";
import { lockClasses } from "../db/locks.ts";
import { isDeadlock, untilUndisturbed } from "../db/lost-races.ts";
import { type Db, violates } from "../db/open.ts";
import { newId } from "../lib/ids.ts";
import type { AttributeType } from "../model/workflow/attribute-capture.ts";
import { shareRollUps } from "./roll-ups.ts";
import { absorbVisitor, attachEvent, moveEvent, visitorAttributesMax } from "./visitor-moves.ts";

/** A value for a visitor's profile. */
export interface GivenAttribute {
  /** `$email`, `$phone` in E.164 form, `$firstName` and `$lastName`. All other keys are custom attributes. */
  readonly key: string;
  readonly value: string;
  readonly type: AttributeType;
  /** Whether the value only fills a missing or empty attribute. Otherwise the newest write wins. */
  readonly setOnce: boolean;
}

export interface IdentifyCall {
  readonly workspaceId: string;
  readonly at: Date;
  /**
   * The visit that the values come from, which must exist. Its visitor is looked up here, because one that was read
   * before may be gone.
   */
  readonly event?:
    | {
        readonly id: string;
        readonly deviceId: string;
        /** False for visits of which nothing may be kept. They stay without a visitor. */
        readonly mayAttach: boolean;
      }
    | undefined;
  readonly attributes: readonly GivenAttribute[];
}

export interface Identified {
  readonly visitorId: string;
  /** Whether no such profile existed before. */
  readonly created: boolean;
  /** The keys whose values have changed. */
  readonly changedKeys: readonly string[];
}

/**
 * Finds the visitor of the values and saves them: to the profile with the same `$email`, or else the oldest one with
 * the same `$phone`, or else the visit's visitor, or else a new one. An anonymous visitor is merged into the profile
 * that is found. From an identified visitor, only the visit and its device move there. Takes a transaction, which may
 * have written before. Calls that concern the same identity wait for each other.
 */
export async function identifyVisitor(tx: Db, call: IdentifyCall): Promise<Identified> {
  const values = lastingValues(call.attributes);
  const identity = identityOf(values);
  // The roll-ups are locked before any event changes hands, because a rebuild could otherwise fold the event under both
  // visitors.
  await shareRollUps([call.workspaceId]).execute(tx);
  await lockIdentities(tx, identityNames(call.workspaceId, identity));
  return untilUndisturbed(async () => {
    await sql`savepoint identify`.execute(tx);
    try {
      const identified = await identifyOnce(tx, call, identity, values);
      await sql`release savepoint identify`.execute(tx);
      return identified;
    } catch (error) {
      // The rollback also releases the locks, which the next attempt takes in its own order.
      if (isRace(error)) await sql`rollback to savepoint identify`.execute(tx);
      throw error;
    }
  }, isRace);
}

/** Another transaction has changed what this attempt began with, so the attempt starts over. */
class IdentifyRace extends Error {
  override readonly name = "IdentifyRace";
}

function isRace(error: unknown): boolean {
  // A visit that is being stored can cause a deadlock.
  return error instanceof IdentifyRace || violates(error, "visitors_email_key") || isDeadlock(error);
}

export interface VisitorIdentity {
  /** Case-folded. */
  readonly email: string | null;
  readonly phone: string | null;
}

type Values = ReadonlyMap<string, GivenAttribute>;

export function identityOf(values: Values): VisitorIdentity {
  return {
    email: foldedEmail(values.get("$email")?.value),
    phone: values.get("$phone")?.value || null,
  };
}

async function identifyOnce(
  tx: Db,
  call: IdentifyCall,
  identity: VisitorIdentity,
  values: Values,
): Promise<Identified> {
  const { workspaceId, at, event } = call;
  const seen = await whoIsIt(tx, call, identity);
  const rows = await lockVisitors(tx, workspaceId, [seen.visitor_id, seen.match_id]);
  const still = await whoIsIt(tx, call, identity);
  if (still.visitor_id !== seen.visitor_id || still.match_id !== seen.match_id)
    throw new IdentifyRace("the visitors were changed meanwhile");

  const own = rows.find(({ id }) => id === seen.visitor_id);
  const match = rows.find(({ id }) => id === seen.match_id);
  const found = match ?? own;
  const profile = found ?? (await insertVisitor(tx, workspaceId, at));
  if (event !== undefined && own === undefined && event.mayAttach) {
    if (!(await attachEvent(tx, { workspaceId, at, event, to: profile.id })))
      throw new IdentifyRace("the event has a visitor by now");
  }
  if (event !== undefined && own !== undefined && profile.id !== own.id) {
    const move = { workspaceId, at, from: own.id, to: profile.id };
    if (isAnonymous(own)) await absorbVisitor(tx, move);
    else await moveEvent(tx, { ...move, event });
  }
  // Names that the anonymous visitor has and the profile lacks are filled in like other missing attributes.
  const before =
    own === undefined || !isAnonymous(own)
      ? profile
      : {
          ...profile,
          first_name: profile.first_name || own.first_name,
          last_name: profile.last_name || own.last_name,
        };
  const reserved = await saveReserved(tx, { profile, before, values, at });
  const custom = await saveAttributes(tx, workspaceId, profile.id, at, [...values.values()].filter(isCustom));
  if (reserved.length === 0 && custom.length > 0) await touchVisitor(tx, workspaceId, profile.id, at);
  return { visitorId: profile.id, created: found === undefined, changedKeys: [...reserved, ...custom] };
}

type StoredVisitor = Selectable<Visitors>;

export function isAnonymous({ email, phone }: Pick<StoredVisitor, "email" | "phone">): boolean {
  return email === null && phone === null;
}

export function foldedEmail(email: string | undefined): string | null {
  return email?.toLowerCase() || null;
}

function isCustom({ key }: GivenAttribute): boolean {
  return !key.startsWith("$");
}

/**
 * Keeps one of several writes of each key: the last one that may overwrite, or else the first one that fills the key.
 */
export function lastingValues(attributes: readonly GivenAttribute[]): Values {
  const values = new Map<string, GivenAttribute>();
  for (const attribute of attributes)
    if (!attribute.setOnce || !values.get(attribute.key)?.value) values.set(attribute.key, attribute);
  return values;
}

/**
 * Makes calls with the same identity wait for each other until the transaction ends. The database keeps only e-mail
 * addresses unique, and those only once somebody has them. The names are those of `identityNames`.
 */
export async function lockIdentities(tx: Db, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await sql`select pg_advisory_xact_lock(${lockClasses.identity}, number)
    from (select distinct hashtext(name) as number from unnest(${names}::text[]) as given (name) order by number)
      as locks`.execute(tx);
}

export function identityNames(workspaceId: string, { email, phone }: VisitorIdentity): string[] {
  return [email, phone].flatMap((name) => (name === null ? [] : [`${workspaceId} ${name}`]));
}

interface Whose {
  /** Null without a visit, and for a visit without a visitor. */
  readonly visitor_id: string | null;
  readonly match_id: string | null;
}

/**
 * Finds the visit's visitor and the visitor with the same identity. Served by events_pkey, visitors_email_key and
 * visitors_phone_idx.
 */
async function whoIsIt(
  tx: Db,
  { workspaceId, event }: IdentifyCall,
  identity: VisitorIdentity,
): Promise<Whose> {
  const { rows } = await sql<Whose>`
    select
      (select visitor_id from events
        where workspace_id = ${workspaceId} and id = ${event?.id ?? null}::uuid) as visitor_id,
      coalesce(
        (select id from visitors where workspace_id = ${workspaceId} and email = ${identity.email}),
        (select id from visitors where workspace_id = ${workspaceId} and phone = ${identity.phone}
          order by created_at, id limit 1)) as match_id`.execute(tx);
  return rows[0] ?? { visitor_id: null, match_id: null };
}

/** Locks visitors in the order of their ids, as every writer that needs several does. */
export async function lockVisitors(
  tx: Db,
  workspaceId: string,
  ids: readonly (string | null)[],
): Promise<StoredVisitor[]> {
  const known = ids.filter((id) => id !== null);
  if (known.length === 0) return [];
  const { rows } = await sql<StoredVisitor>`select * from visitors
    where workspace_id = ${workspaceId} and id = any(${known}::uuid[]) order by id for update`.execute(tx);
  return rows;
}

async function insertVisitor(tx: Db, workspaceId: string, at: Date): Promise<StoredVisitor> {
  return await tx
    .insertInto("visitors")
    .values({ workspace_id: workspaceId, id: newId(at), created_at: at, updated_at: at })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const reservedColumns = {
  $email: "email",
  $phone: "phone",
  $firstName: "first_name",
  $lastName: "last_name",
} as const;

type ReservedValues = Pick<StoredVisitor, (typeof reservedColumns)[keyof typeof reservedColumns]>;

/** Identity and names as the values make them. An empty value changes nothing. */
export function reservedAfter<Before extends ReservedValues>(before: Before, values: Values): Before {
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
  readonly values: Values;
  readonly at: Date;
}

/** Saves identity and names. Gives the keys that changed. */
async function saveReserved(
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

async function touchVisitor(tx: Db, workspaceId: string, id: string, at: Date): Promise<void> {
  await sql`update visitors set updated_at = ${at} where workspace_id = ${workspaceId} and id = ${id}`.execute(
    tx,
  );
}
