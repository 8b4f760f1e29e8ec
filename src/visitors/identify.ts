import { type Selectable, sql } from "kysely";
import type { Events } from "../../gen/database.ts";
import { lockClasses } from "../db/locks.ts";
import { isDeadlock, untilUndisturbed } from "../db/lost-races.ts";
import { type Db, violates } from "../db/open.ts";
import { fail } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { shareRollUps } from "./roll-ups.ts";
import {
  foldedEmail,
  type GivenAttribute,
  type GivenValues,
  type StoredVisitor,
  saveAttributes,
  saveReserved,
  touchVisitor,
  type VisitorIdentity,
} from "./visitor-attributes.ts";
import { absorbVisitor, attachEvent, lockVisitors, moveEvent } from "./visitor-moves.ts";

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

export function identityOf(values: GivenValues): VisitorIdentity {
  return {
    email: foldedEmail(values.get("$email")?.value),
    phone: values.get("$phone")?.value || null,
  };
}

async function identifyOnce(
  tx: Db,
  call: IdentifyCall,
  identity: VisitorIdentity,
  values: GivenValues,
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

export function isAnonymous({ email, phone }: Pick<StoredVisitor, "email" | "phone">): boolean {
  return email === null && phone === null;
}

function isCustom({ key }: GivenAttribute): boolean {
  return !key.startsWith("$");
}

/**
 * Keeps one of several writes of each key: the last one that may overwrite, or else the first one that fills the key.
 */
export function lastingValues(attributes: readonly GivenAttribute[]): GivenValues {
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

async function insertVisitor(tx: Db, workspaceId: string, at: Date): Promise<StoredVisitor> {
  return await tx
    .insertInto("visitors")
    .values({ workspace_id: workspaceId, id: newId(at), created_at: at, updated_at: at })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The visit that an identify call names. */
export interface VisitRow extends Pick<Selectable<Events>, "id" | "device_id"> {
  /** False at level NONE, at which no device leads to a person. */
  readonly may_attach: boolean;
}

/** Finds the visit of an event. */
export async function findVisit(db: Db, workspaceId: string, eventId: string): Promise<VisitRow | undefined> {
  // Devices of level NONE are the ones of which no address is kept.
  const { rows } = await sql<VisitRow>`
    select e.id, e.device_id, d.ip_address <> '' as may_attach from events e
    left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    where e.workspace_id = ${workspaceId} and e.id = ${eventId}`.execute(db);
  return rows[0];
}

export interface IdentifyTrace {
  readonly workspaceId: string;
  readonly eventId: string;
  /** The id of the call, and of its trace. */
  readonly id: string;
  readonly at: Date;
  /** The JSON of the trace's one variant, under its name. */
  readonly data: { readonly identifyVisitor: object };
}

/**
 * Writes the trace of an identify call. Every call leaves one. It belongs to no step, so its own id stands in place of
 * a step's.
 */
export async function insertIdentifyTrace(
  db: Db,
  { workspaceId, eventId, id, at, data }: IdentifyTrace,
): Promise<void> {
  await db
    .insertInto("traces")
    .values({
      workspace_id: workspaceId,
      event_id: eventId,
      step_id: id,
      id,
      step_action: null,
      data: JSON.stringify(data),
      created_at: at,
      completed_at: at,
      updated_at: at,
    })
    .execute();
}

/** An identify call that named a visit before that visit was stored. */
export interface PendingIdentify extends IdentifyTrace {
  readonly visitorId: string;
}

/** How many calls may wait for one visit: the thread that stores the visit carries them out one by one. */
const pendingMax = 20;

/**
 * Keeps a call until its visit is stored. The caller must look for the visit once more after the commit. Throws
 * RATE_LIMITED when too many calls wait for the visit already.
 */
export async function keepPending(tx: Db, pending: PendingIdentify): Promise<void> {
  const { workspaceId, eventId, id, visitorId, at, data } = pending;
  const { rows: waiting } = await sql`select from pending_identifications
    where workspace_id = ${workspaceId} and event_id = ${eventId} limit ${pendingMax}`.execute(tx);
  if (waiting.length >= pendingMax)
    throw fail(
      "RESOURCE_EXHAUSTED",
      "RATE_LIMITED",
      "lbid: too many calls wait for this visit; try again later",
      {
        retryAfterSeconds: 2,
      },
    );
  await tx
    .insertInto("pending_identifications")
    .values({
      workspace_id: workspaceId,
      event_id: eventId,
      id,
      visitor_id: visitorId,
      data: JSON.stringify(data),
      created_at: at,
    })
    .execute();
}
