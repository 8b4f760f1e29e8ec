import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import { monthOf } from "../../model/plans/cycle.ts";
import { sandboxCaps } from "../../model/plans/entitlement.ts";
import type { LimitKey } from "../../model/plans/plan-table.ts";
import type { RawRecord } from "../spool/framed-records.ts";
import type { RecordedAnswer } from "../spool/step-record.ts";
import { timeOfId } from "../spool/visit-id.ts";

/** A record, and what was read of it. */
export interface Readable<Content> {
  readonly record: RawRecord;
  readonly content: Content;
}

type Answers = readonly Readable<RecordedAnswer>[];

export interface FoundVisits {
  /** The answers of stored visits, by visit. */
  readonly stored: readonly Readable<RecordedAnswer>[][];
  /** The answers of live workspaces without their visits, and those of sandboxes. */
  readonly absent: Answers;
  readonly sandboxed: Answers;
  /** Those of sandboxes that had no visit left to record in the visit's month. */
  readonly beyondCap: Answers;
  /** The answers of workspaces that no longer exist. */
  readonly dropped: Answers;
}

const key = "TRACKED_VISITS" satisfies LimitKey;

/** Finds out by one statement which visits of answers are stored, and why the others are not. */
export async function findVisits(db: Db, answers: Answers): Promise<FoundVisits> {
  const byVisit = Map.groupBy(
    answers,
    ({ content: { workspaceId, eventId } }) => `${workspaceId}/${eventId}`,
  );
  const firsts = [...byVisit.values()].flatMap(([first]) => (first === undefined ? [] : [first.content]));
  const { rows } = await sql<{
    visit: string;
    has_event: boolean;
    environment: "live" | "test" | null;
    is_beyond_cap: boolean;
  }>`
    select given.workspace_id || '/' || given.event_id as visit,
      exists (select from events e where e.workspace_id = given.workspace_id and e.id = given.event_id) as has_event,
      (select environment from workspaces w where w.id = given.workspace_id and w.purge_began_at is null),
      exists (select from allowance_cycles c where c.workspace_id = given.workspace_id and c.limit_key = ${key}
        and c.cycle = given.cycle and c.used >= ${sandboxCaps.visits}) as is_beyond_cap
    from unnest(${plainArray(firsts.map(({ workspaceId }) => workspaceId))}::uuid[],
      ${plainArray(firsts.map(({ eventId }) => eventId))}::uuid[],
      ${plainArray(firsts.map(({ eventId }) => sandboxCycleOf(eventId)))}::text[])
      as given (workspace_id, event_id, cycle)`.execute(db);
  const answersOf = (test: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(test).flatMap(({ visit }) => {
      const found = byVisit.get(visit);
      return found === undefined ? [] : [found];
    });
  const isLost = (row: (typeof rows)[number]) => !row.has_event && row.environment === "test";
  return {
    stored: answersOf((row) => row.has_event),
    absent: answersOf((row) => !row.has_event && row.environment === "live").flat(),
    sandboxed: answersOf((row) => isLost(row) && !row.is_beyond_cap).flat(),
    beyondCap: answersOf((row) => isLost(row) && row.is_beyond_cap).flat(),
    dropped: answersOf((row) => row.environment === null && !row.has_event).flat(),
  };
}

/** The month of a sandbox's visit, as `monthOf` names it. The months of sandboxes are those of UTC. */
function sandboxCycleOf(eventId: string): string {
  return monthOf(new Date(timeOfId(eventId)), "UTC");
}
