import { type Selectable, sql } from "kysely";
import type { PendingIdentifications, Visitors } from "../../gen/database.ts";
import { plainArray } from "../db/array-literal.ts";
import { isLostRace, untilUndisturbed } from "../db/lost-races.ts";
import { type Db, inTransaction } from "../db/open.ts";
import {
  findVisit,
  type IdentifyTrace,
  identifyVisitor,
  insertIdentifyTrace,
  type PendingIdentify,
} from "./identify.ts";
import type { GivenAttribute } from "./visitor-attributes.ts";

/** A visit that an identify call may have named before it was stored. */
type VisitOf = Pick<PendingIdentify, "workspaceId" | "eventId">;

/**
 * Gives visits that were just stored to the visitors whom earlier identify calls named with them. The caller must first
 * commit the visits. There are hardly ever such calls; without any, this costs one small statement.
 */
export async function attachPending(db: Db, visits: readonly VisitOf[]): Promise<void> {
  const { rows: some } = await sql`select from pending_identifications limit 1`.execute(db);
  if (some.length === 0 || visits.length === 0) return;
  const { rows } = await sql<VisitOf>`
    select distinct p.workspace_id as "workspaceId", p.event_id as "eventId"
    from unnest(${plainArray(visits.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(visits.map(({ eventId }) => eventId))}::uuid[]) as given (workspace_id, event_id)
      join pending_identifications p on p.workspace_id = given.workspace_id and p.event_id = given.event_id`.execute(
    db,
  );
  for (const visit of rows)
    await untilUndisturbed(() => inTransaction(db, (tx) => attachTo(tx, visit)), isLostRace);
}

/** Carries out all calls that named the visit, in their order. Of two simultaneous runs, the second finds nothing. */
async function attachTo(tx: Db, { workspaceId, eventId }: VisitOf): Promise<void> {
  const { rows } = await sql<Selectable<PendingIdentifications>>`
    delete from pending_identifications where workspace_id = ${workspaceId} and event_id = ${eventId}
    returning *`.execute(tx);
  const visit = await findVisit(tx, workspaceId, eventId);
  const inOrder = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, visitor_id: visitorId, data, created_at: at } of inOrder) {
    const identity = await identityOf(tx, workspaceId, visitorId);
    // A deleted workspace stores no visit, and the visitor may have been deleted in the meantime.
    if (visit === undefined || identity === undefined) continue;
    const event = { id: eventId, deviceId: visit.device_id, mayAttach: visit.may_attach };
    await identifyVisitor(tx, { workspaceId, at, event, attributes: [identity] });
    // `keepPending` wrote this value.
    const told = data as IdentifyTrace["data"];
    await insertIdentifyTrace(tx, { workspaceId, eventId, id, at, data: told });
  }
}

/** The e-mail or the phone number that identifies the visitor; undefined for a visitor with neither. */
async function identityOf(tx: Db, workspaceId: string, id: string): Promise<GivenAttribute | undefined> {
  const { rows } = await sql<Pick<Selectable<Visitors>, "email" | "phone">>`
    select email, phone from visitors where workspace_id = ${workspaceId} and id = ${id}`.execute(tx);
  const { email = null, phone = null } = rows[0] ?? {};
  if (email !== null) return { key: "$email", value: email, type: "STRING", setOnce: false };
  return phone === null ? undefined : { key: "$phone", value: phone, type: "STRING", setOnce: false };
}

/**
 * Deletes calls older than eight days, whose visits never came; 10,000 at most. Returns the number of deleted calls.
 */
export async function deleteOldPending(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from pending_identifications where (workspace_id, event_id, id) in (
      select workspace_id, event_id, id from pending_identifications
      where created_at < ${now}::timestamptz - interval '8 days' limit 10000 for update skip locked)`.execute(
    db,
  );
  return Number(numAffectedRows);
}
