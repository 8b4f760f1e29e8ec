import { type Selectable, sql } from "kysely";
import type { Events } from "../../../gen/database.ts";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { fallbackStepId } from "../../model/workflow/workflow.ts";
import { lockIdentities } from "../../visitors/identify.ts";
import { isSealed } from "../../visitors/segment-marks.ts";
import type { RecordedAnswer, StepTrace } from "../spool/step-record.ts";
import { type EventKey, placeOf } from "./step-writes.ts";

/** A stored visit while its answers are written. Each answer changes it. */
export interface AnsweredVisit
  extends EventKey,
    Pick<Selectable<Events>, "outcome" | "ended_at" | "created_at"> {
  readonly device_id: string;
  readonly visitor_id: string | null;
  readonly is_automatic: boolean;
  /** Whether the visit is beyond the limit of a plan. */
  readonly is_locked: boolean;
  /** Whether a segment may hold the visit. */
  readonly is_sealed: boolean;
  /** Whether nobody can merge or delete the visitor before the transaction ends. */
  readonly isVisitorLocked: boolean;
  /** How many answers the visit has taken; null when the visit has ended. */
  answers: number | null;
  outcome: Selectable<Events>["outcome"];
  /** The steps that the visit has opened, without conditions. */
  readonly opened: Set<string>;
}

export interface ToLock {
  readonly visits: readonly (EventKey & { readonly linkId: string })[];
  /** The visits that save something. */
  readonly savers: readonly EventKey[];
  /** The identities that they save; see `identityNames`. */
  readonly identities: readonly string[];
}

/**
 * Locks visits and reads them, by place. Before it reads, it also locks identities and the visitors of `savers`, so that
 * what these visits save cannot go to a visitor who is being merged or deleted. Visits that are not stored are missing.
 */
export async function lockVisits(
  tx: Db,
  { visits, savers, identities }: ToLock,
): Promise<ReadonlyMap<string, AnsweredVisit>> {
  // Each lock is a statement of its own, so that the next statement sees what the previous holder of the lock has
  // written.
  await sql`select from visits v join unnest(${workspacesOf(visits)}::uuid[], ${eventsOf(visits)}::uuid[])
      as given (workspace_id, event_id) on v.workspace_id = given.workspace_id and v.event_id = given.event_id
    order by v.workspace_id, v.event_id for no key update of v`.execute(tx);
  await lockIdentities(tx, identities);
  const locked = await lockVisitors(tx, savers);
  const { rows } = await sql<
    Omit<AnsweredVisit, "opened" | "isVisitorLocked"> & {
      readonly steps: readonly Pick<StepTrace, "stepId" | "action">[];
    }
  >`
    select e.workspace_id as "workspaceId", e.id as "eventId", e.device_id, e.visitor_id, e.outcome, e.ended_at, v.answers,
      e.created_at, ${isSealed} as is_sealed,
      coalesce(d.device_actor in ('BOT', 'AGENT'), false) as is_automatic, e.locked_number is not null as is_locked,
      (select coalesce(jsonb_agg(jsonb_build_object('stepId', t.step_id, 'action', t.step_action)), '[]')
        from visit_traces t
        where t.workspace_id = e.workspace_id and t.event_id = e.id and t.step_action is not null) as steps
    from unnest(${workspacesOf(visits)}::uuid[], ${eventsOf(visits)}::uuid[],
        ${plainArray(visits.map(({ linkId }) => linkId))}::uuid[]) as given (workspace_id, event_id, link_id)
    join events e on e.workspace_id = given.workspace_id and e.id = given.event_id and e.link_id = given.link_id
    left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    left join visits v on v.workspace_id = e.workspace_id and v.event_id = e.id`.execute(tx);
  return new Map(
    rows.map(({ steps, ...row }) => {
      const isVisitorLocked = locked.has(`${row.workspaceId}/${row.visitor_id}`);
      return [placeOf(row), { ...row, isVisitorLocked, opened: new Set(openedBy(steps)) }];
    }),
  );
}

/** Locks the visitors of visits in the order of their ids, as every writer does. Returns their workspaces and ids. */
async function lockVisitors(tx: Db, visits: readonly EventKey[]): Promise<ReadonlySet<string>> {
  if (visits.length === 0) return new Set();
  const { rows } = await sql<{ visitor: string }>`
    select v.workspace_id || '/' || v.id as visitor from visitors v
    where (v.workspace_id, v.id) in (
      select e.workspace_id, e.visitor_id from unnest(${workspacesOf(visits)}::uuid[], ${eventsOf(visits)}::uuid[])
          as given (workspace_id, event_id)
        join events e on e.workspace_id = given.workspace_id and e.id = given.event_id)
    order by v.workspace_id, v.id for no key update`.execute(tx);
  return new Set(rows.map(({ visitor }) => visitor));
}

function workspacesOf(visits: readonly EventKey[]): string {
  return plainArray(visits.map(({ workspaceId }) => workspaceId));
}

function eventsOf(visits: readonly EventKey[]): string {
  return plainArray(visits.map(({ eventId }) => eventId));
}

export function openedBy(steps: readonly Pick<StepTrace, "stepId" | "action">[]): string[] {
  return steps.flatMap(({ stepId, action }) =>
    stepActions[action].kind === "CONDITION" || stepId === fallbackStepId ? [] : [stepId],
  );
}

/** How long an answer waits for an earlier one, in milliseconds. After that, it is stored without the earlier one. */
const patienceMs = 60 * 60_000;

/**
 * The place of an answer in its visit: the next one, one whose number is taken, a press on its last page, or too early.
 */
export type Turn = "next" | "again" | "press" | "early";

export function turnOf(visit: AnsweredVisit, { number, isPress, atMs }: RecordedAnswer, now: Date): Turn {
  const { outcome, answers, ended_at: endedAt } = visit;
  const hasEnded = outcome === "COMPLETED" || outcome === "FALLBACK";
  const isPatient = now.getTime() - atMs < patienceMs;
  if (isPress) return hasEnded || !isPatient ? "press" : "early";
  if (hasEnded) return "again";
  // The visit ended as abandoned after this answer was stored ("again"), or because it had not come yet ("next").
  if (outcome === "ABANDONED") return endedAt !== null && atMs <= endedAt.getTime() ? "again" : "next";
  if (answers === null || number <= answers) return "again";
  return number > answers + 1 && isPatient ? "early" : "next";
}
