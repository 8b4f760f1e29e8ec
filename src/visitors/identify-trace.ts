import { type Selectable, sql } from "kysely";
import type { Events } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";

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
