import { type Selectable, sql } from "kysely";
import type { Events } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { type StepAction, stepActions } from "../../model/steps/kinds.ts";
import type { StoredAttribute } from "../../model/visitors/attribute-operators.ts";
import { lbidOfEvent } from "../../model/visitors/lbid.ts";
import type { DataCollection } from "../../model/workflow/plan.ts";
import type { KnownAttributes } from "../../workflow/visit.ts";

/** A visit as a later request finds it. An id or text that is missing is empty, and a missing time is undefined. */
export interface VisitState {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly lbid: string;
  readonly linkId: string;
  readonly deviceId: string;
  readonly visitorId: string;
  readonly visitType: "FIRST" | "RETURNING";
  /** Whether the device is a bot or an agent. Such a device saves nothing to a visitor. */
  readonly isAutomatic: boolean;
  readonly outcome: "IN_PROGRESS" | "COMPLETED" | "FALLBACK" | "ABANDONED";
  readonly destination: string;
  readonly lastStepId: string;
  readonly endedAt: Date | undefined;
  /** Whether the device cookie that was sent is one of the visit's device. */
  readonly hasCookie: boolean;
  /** Undefined once the visit has ended. */
  readonly underWay: VisitUnderWay | undefined;
}

export interface VisitUnderWay {
  /** The interaction that the visitor is at. */
  readonly stepId: string;
  readonly query: string;
  readonly level: DataCollection;
  readonly activeAt: Date;
  /** When the current step was opened last. */
  readonly openedAt: Date;
}

interface StateRow
  extends Pick<
    Selectable<Events>,
    | "link_id"
    | "device_id"
    | "visitor_id"
    | "visit_type"
    | "outcome"
    | "destination"
    | "last_step_id"
    | "ended_at"
  > {
  readonly is_automatic: boolean;
  readonly has_cookie: boolean;
  readonly step_id: string | null;
  readonly query: string | null;
  readonly data_collection: DataCollection | null;
  readonly active_at: Date | null;
  readonly opened_at: Date | null;
}

export interface VisitKey {
  readonly workspaceId: string;
  readonly eventId: string;
  /** In hexadecimal; empty for none. */
  readonly cookieHash: string;
}

/**
 * Finds a visit by primary keys. With `locks`, no other request of the visit goes on before the transaction ends, as
 * long as the visit is under way. The event is not locked, because events come last in the order of locks.
 */
export async function findVisitState(
  db: Db,
  { workspaceId, eventId, cookieHash }: VisitKey,
  { locks }: { readonly locks: boolean },
): Promise<VisitState | undefined> {
  // The lock comes first, in a statement of its own: a request that waited for it must see what its holder has written.
  if (locks) {
    await sql`select from visits where workspace_id = ${workspaceId} and event_id = ${eventId} for no key update`.execute(
      db,
    );
  }
  const { rows } = await sql<StateRow>`
    select e.link_id, e.device_id, e.visitor_id, e.visit_type, e.outcome, e.destination, e.last_step_id, e.ended_at,
      coalesce(d.device_actor in ('BOT', 'AGENT'), false) as is_automatic, c.device_id is not null as has_cookie,
      v.step_id, v.query, v.data_collection, v.active_at, t.updated_at as opened_at
    from events e
    left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    left join device_cookies c on c.workspace_id = e.workspace_id
      and c.cookie_hash = decode(${cookieHash}, 'hex') and c.device_id = e.device_id
    left join visits v on v.workspace_id = e.workspace_id and v.event_id = e.id
    left join traces t on t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_id = v.step_id
    where e.workspace_id = ${workspaceId} and e.id = ${eventId}`.execute(db);
  const [row] = rows;
  return row && { workspaceId, eventId, lbid: lbidOfEvent(eventId), ...stateOf(row) };
}

function stateOf(row: StateRow): Omit<VisitState, "workspaceId" | "eventId" | "lbid"> {
  const { step_id: stepId, query, data_collection: level, active_at: activeAt } = row;
  return {
    linkId: row.link_id,
    deviceId: row.device_id,
    visitorId: row.visitor_id ?? "",
    visitType: row.visit_type,
    isAutomatic: row.is_automatic,
    outcome: row.outcome,
    destination: row.destination,
    lastStepId: row.last_step_id ?? "",
    endedAt: row.ended_at ?? undefined,
    hasCookie: row.has_cookie,
    underWay:
      stepId === null || query === null || level === null || activeAt === null
        ? undefined
        : { stepId, query, level, activeAt, openedAt: row.opened_at ?? activeAt },
  };
}

/** Marks a visit as active, so that it is not abandoned. */
export async function touchVisit(db: Db, { workspaceId, eventId }: VisitState, now: Date): Promise<void> {
  await sql`update visits set active_at = ${now}
    where workspace_id = ${workspaceId} and event_id = ${eventId}`.execute(db);
}

/** A step of a visit that was opened before. */
export interface OpenedStep {
  readonly stepId: string;
  readonly isCondition: boolean;
}

/** The steps that the visit has opened, in that order. */
export async function openedSteps(db: Db, { workspaceId, eventId }: VisitState): Promise<OpenedStep[]> {
  const { rows } = await sql<{ step_id: string; step_action: StepAction }>`
    select step_id, step_action from traces
    where workspace_id = ${workspaceId} and event_id = ${eventId} and step_action is not null
    order by created_at, id`.execute(db);
  return rows.map(({ step_id: stepId, step_action: action }) => ({
    stepId,
    isCondition: stepActions[action].kind === "CONDITION",
  }));
}

/**
 * Locks the visitor whom the visit belongs to by now, and gives the visitor's id; empty without a visitor. Until the
 * transaction ends, no other one deletes, merges or changes that visitor. Call it after taking every lock that comes before
 * visitors in the order of locks. `alone` is for transactions that may write to the visitor: of two that share the lock,
 * neither could write.
 */
export async function holdVisitor(
  tx: Db,
  { workspaceId, eventId }: VisitState,
  { alone }: { readonly alone: boolean },
): Promise<string> {
  const strength = alone ? sql`for update` : sql`for key share`;
  let held = "";
  for (;;) {
    const { rows } = await sql<Pick<Selectable<Events>, "visitor_id">>`
      select visitor_id from events where workspace_id = ${workspaceId} and id = ${eventId}`.execute(tx);
    const visitorId = rows[0]?.visitor_id ?? "";
    // Before the lock was held, the visit may have moved to another visitor.
    if (visitorId === held) return held;
    held = visitorId;
    if (held !== "")
      await sql`select from visitors where workspace_id = ${workspaceId} and id = ${held} ${strength}`.execute(
        tx,
      );
  }
}

/**
 * The attributes of the visitor whom the visit belongs to by now, by key, reserved ones with `$`. Takes one statement.
 */
export async function attributesOfVisitor(
  db: Db,
  { workspaceId, eventId }: VisitState,
): Promise<KnownAttributes> {
  const { rows } = await sql<StoredAttribute & { readonly key: string }>`
    with own as (select visitor_id as id from events where workspace_id = ${workspaceId} and id = ${eventId})
    select key, value, type::text from visitor_attributes
    where workspace_id = ${workspaceId} and visitor_id = (select id from own)
    union all
    select reserved.key, reserved.value, 'STRING' from visitors v,
      lateral (values ('$email', v.email), ('$phone', v.phone), ('$firstName', v.first_name),
        ('$lastName', v.last_name)) as reserved (key, value)
    where v.workspace_id = ${workspaceId} and v.id = (select id from own) and reserved.value is not null`.execute(
    db,
  );
  return new Map(rows.map(({ key, value, type }) => [key, { value, type }]));
}
