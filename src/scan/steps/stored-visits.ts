import { type Selectable, sql } from "kysely";
import type { Events } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { Turns } from "../../db/turns.ts";
import { timeOfUuid } from "../../lib/ids.ts";
import type { Arrivals } from "../../lib/limits/arrivals.ts";
import type { DataCollection } from "../../model/workflow/plan.ts";
import type { Drain } from "../store/drain.ts";
import type { VisitKey, VisitState } from "../visit/state.ts";

/** Finds visits in the database, for visitors who come without a seal. */
export interface StoredVisits {
  /** Returns where the visit stands, as soon as its first request is stored; or else the reason why it is not known. */
  find(
    key: VisitKey,
    who: { readonly cookieHash: string; readonly address: string; readonly now: Date },
  ): Promise<VisitState | "NOT_FOUND" | "TOO_MANY_MISSES" | "UNAVAILABLE">;
}

export interface StoredVisitsDeps {
  /** By workspace. */
  readonly turns: Turns;
  readonly arrivals: Arrivals;
  readonly drain: Pick<Drain, "catchUp">;
}

/** How long a request waits for this process to store a visit that may still be in its spool, in milliseconds. */
const arrivalMs = 2_000;

/** The age above which a visit must already be stored, in milliseconds. */
const arrivalAgeMs = 60_000;

/** How long a request may wait for a connection, in milliseconds. */
const turnMs = 5_000;

export function createStoredVisits({ turns, arrivals, drain }: StoredVisitsDeps): StoredVisits {
  return {
    async find(key, { cookieHash, address, now }) {
      if (turns.isCrowded(key.workspaceId)) return "UNAVAILABLE";
      const db = turns.of(key.workspaceId, { patience: () => AbortSignal.timeout(turnMs) });
      const find = () => findVisitState(db, key, cookieHash);
      const mayArrive = Math.abs(now.getTime() - timeOfUuid(key.eventId).getTime()) <= arrivalAgeMs;
      if (mayArrive) {
        const found = await find();
        if (found !== undefined) return found;
        await drain.catchUp(arrivalMs);
      }
      const arrived = await arrivals.look({ caller: address, find, mayArrive });
      if (typeof arrived === "object") return arrived;
      return arrived === "missing" ? "NOT_FOUND" : "TOO_MANY_MISSES";
    },
  };
}

interface StateRow
  extends Pick<
    Selectable<Events>,
    "visitor_id" | "visit_type" | "outcome" | "destination" | "last_step_id" | "ended_at"
  > {
  readonly has_cookie: boolean;
  readonly step_id: string | null;
  readonly query: string | null;
  readonly data_collection: DataCollection | null;
  readonly active_at: Date | null;
  readonly answers: number | null;
  readonly opened_at: Date | null;
}

/**
 * Finds a visit by primary keys, in one statement. `cookieHash` is the hash of the device cookie that was sent; empty
 * for none. The visit's state gets this hash when the cookie belongs to the visit's device.
 */
async function findVisitState(
  db: Db,
  { workspaceId, linkId, eventId }: VisitKey,
  cookieHash: string,
): Promise<VisitState | undefined> {
  const { rows } = await sql<StateRow>`
    select e.visitor_id, e.visit_type, e.outcome, e.destination, e.last_step_id, e.ended_at,
      c.device_id is not null as has_cookie,
      v.step_id, v.query, v.data_collection, v.active_at, v.answers, t.updated_at as opened_at
    from events e
    left join device_cookies c on c.workspace_id = e.workspace_id
      and c.cookie_hash = decode(${cookieHash}, 'hex') and c.device_id = e.device_id
    left join visits v on v.workspace_id = e.workspace_id and v.event_id = e.id
    left join traces t on t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_id = v.step_id
    where e.workspace_id = ${workspaceId} and e.id = ${eventId} and e.link_id = ${linkId}`.execute(db);
  const [row] = rows;
  return row && stateOf(row, cookieHash);
}

function stateOf(row: StateRow, cookieHash: string): VisitState {
  const isUnderWay = row.outcome === "IN_PROGRESS" && row.step_id !== null;
  const activeAtMs = (row.active_at ?? row.ended_at ?? new Date(0)).getTime();
  return {
    answers: row.answers ?? 0,
    outcome: row.outcome === "IN_PROGRESS" && !isUnderWay ? "ABANDONED" : row.outcome,
    stepId: (isUnderWay ? row.step_id : row.last_step_id) ?? "",
    destination: row.destination,
    activeAtMs,
    openedAtMs: row.opened_at?.getTime() ?? activeAtMs,
    // A visit without a visitor at its end had none from the start.
    level: row.data_collection ?? (row.visitor_id === null ? "NONE" : "BASIC"),
    visitType: row.visit_type,
    isTypeKnown: true,
    cookieHash: row.has_cookie ? cookieHash : "",
    query: row.query ?? "",
    saved: [],
  };
}

/** Stores that the visitor is still there, which keeps the visit from ending as abandoned. */
export async function touchVisit(db: Db, { workspaceId, eventId }: VisitKey, now: Date): Promise<void> {
  await sql`update visits set active_at = greatest(active_at, ${now})
    where workspace_id = ${workspaceId} and event_id = ${eventId}`.execute(db);
}
