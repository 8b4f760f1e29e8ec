import { type Insertable, type Selectable, sql } from "kysely";
import type { Events, Visitors } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { eraseBodies } from "../../outbox/subscribers.ts";
import { shareRollUps } from "../../visitors/roll-ups.ts";
import { lockVisitors, numbersMoved } from "../../visitors/visitor-moves.ts";
import { withdrawExports } from "../../visitors/withdraw-exports.ts";
import { withdrawSummaries } from "../../visitors/withdraw-summaries.ts";
import type { Deps } from "../deps.ts";

export type ReservedFields = Pick<Insertable<Visitors>, "email" | "phone" | "first_name" | "last_name">;

/** Writes values of a visitor. Breaks `visitors_email_key` when another visitor has the address. */
export async function updateVisitor(
  db: Db,
  workspaceId: string,
  id: string,
  values: Partial<ReservedFields> & { readonly updated_at: Date },
): Promise<void> {
  await db
    .updateTable("visitors")
    .set(values)
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .execute();
}

/** Deletes the attributes with these keys, and the texts that may name their values. Gives how many there were. */
export async function deleteAttributes(
  db: Db,
  workspaceId: string,
  visitorId: string,
  keys: readonly string[],
): Promise<bigint> {
  if (keys.length === 0) return 0n;
  const { numAffectedRows = 0n } = await sql`delete from visitor_attributes
    where workspace_id = ${workspaceId} and visitor_id = ${visitorId} and key = any(${keys}::text[])`.execute(
    db,
  );
  if (numAffectedRows > 0n) await withdrawSummaries(db, workspaceId);
  return numAffectedRows;
}

/**
 * Deletes a visitor. False when there is none. Events and devices stay, without a visitor. Traces lose what the visitor
 * has told: answers to forms, what steps saved, and the values that conditions have seen. Exports lose their files, waiting
 * messages their texts, and dashboards the texts that may name the visitor's values. Takes locks in the order of `src/visitors/visitor-moves.ts`.
 */
export async function deleteVisitor(
  tx: Db,
  jobCall: Deps["jobCall"],
  { workspaceId, id, at }: { readonly workspaceId: string; readonly id: string; readonly at: Date },
): Promise<boolean> {
  await shareRollUps([workspaceId]).execute(tx);
  const [visitor] = await lockVisitors(tx, workspaceId, [id]);
  if (visitor === undefined) return false;
  await sql`update devices set visitor_id = null, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and visitor_id = ${id}`.execute(tx);
  const { rows } = await sql<Pick<Selectable<Events>, "id">>`
    update events set visitor_id = null, updated_at = greatest(updated_at, ${at})
    where workspace_id = ${workspaceId} and visitor_id = ${id} returning id`.execute(tx);
  const eventIds = rows.map((event) => event.id);
  await eraseAnswers(tx, workspaceId, eventIds, at);
  await eraseBodies(tx, workspaceId, eventIds);
  await sql`delete from visitor_links where workspace_id = ${workspaceId} and visitor_id = ${id}`.execute(tx);
  await sql`delete from visitor_attributes where workspace_id = ${workspaceId} and visitor_id = ${id}`.execute(
    tx,
  );
  await sql`
    with gone as (delete from visitors where workspace_id = ${workspaceId} and id = ${id} returning number)
    ${numbersMoved(workspaceId, sql`0`)}`.execute(tx);
  await withdrawSummaries(tx, workspaceId);
  await withdrawExports(tx, { workspaceId, at, jobCall });
  return true;
}

async function eraseAnswers(
  tx: Db,
  workspaceId: string,
  eventIds: readonly string[],
  at: Date,
): Promise<void> {
  if (eventIds.length === 0) return;
  await sql`
    update traces set updated_at = ${at}, saved_attributes = null, data = case
        when jsonb_typeof(data #> '{form,fields}') = 'array'
          then jsonb_set(data, '{form,fields}', ${without("form", "fields", "value")})
        when jsonb_typeof(data #> '{visitorDataCondition,options}') = 'array'
          then jsonb_set(data, '{visitorDataCondition,options}',
            ${without("visitorDataCondition", "options", "observedValue")})
        else data
      end
    where workspace_id = ${workspaceId} and event_id = any(${eventIds}::uuid[])
      and (saved_attributes is not null or jsonb_typeof(data #> '{form,fields}') = 'array'
        or jsonb_typeof(data #> '{visitorDataCondition,options}') = 'array')`.execute(tx);
}

/** The list of a trace's data at `variant` and `list`, without one field of each item. */
function without(variant: string, list: string, field: string) {
  return sql`(select coalesce(jsonb_agg(item - ${field}::text order by position), '[]')
    from jsonb_array_elements(data -> ${variant}::text -> ${list}::text) with ordinality as items (item, position))`;
}
