import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { Dimension, Hours, Scope } from "../question.ts";
import { counts, recordedVisits } from "./counted-visits-queries.ts";
import { groupColumns } from "./groups-queries.ts";
import { hourOf } from "./times-queries.ts";

/** A number of a chart: the visits of a scope, or those of one value of a dimension or of one hour of the day. */
export interface ExplainedCount {
  readonly scope: Scope;
  readonly group: { readonly dimension: Dimension; readonly value: string } | undefined;
  readonly hour: { readonly clock: Hours["clock"]; readonly number: number } | undefined;
}

/** How many visits, and the newest of their events. */
export interface Exampled {
  readonly count: number;
  readonly eventIds: readonly string[];
}

export interface Explanation {
  readonly counted: Exampled;
  readonly visitors: number;
  readonly late: Exampled;
  /** Visits of visitors into whom others were merged. */
  readonly merged: Exampled;
  /** The recorded visits that do not count, by reason, in any order. Empty for those that give no reason. */
  readonly leftOut: readonly (Exampled & { readonly reason: string })[];
}

const examplesMax = 20;

const isCounted = sql.raw(counts);

/**
 * Counts the recorded visits of a question by whether they count and why not. The numbers that add up come from one
 * snapshot. It reads every visit of the scope.
 */
export async function explain(db: Db, question: ExplainedCount): Promise<Explanation> {
  // One after another: each of them may read every visit, and a call has one place among the costly ones.
  const rows = await countByReason(db, question);
  const visitors = await countVisitors(db, question);
  const sandboxed = await countInSandboxes(db, question);
  const counted = rows.find(({ reason }) => reason === null);
  const leftOut = rows.flatMap(({ reason, count }) => (reason === null ? [] : [{ reason, count }]));
  if (sandboxed > 0) leftOut.push({ reason: "SANDBOX", count: sandboxed });
  const merged = counted?.merged
    ? sql`${isCounted} and e.visitor_id in (${mergedVisitors(question)})`
    : undefined;
  const examples = await findExamples(db, question, {
    ...(counted && { counted: isCounted }),
    ...(counted?.late && { late: sql`${isCounted} and e.late_seconds is not null` }),
    ...(merged && { merged }),
    ...Object.fromEntries(
      leftOut.filter(({ reason }) => !hidden.has(reason)).map(({ reason }) => [reason, isLeftOut(reason)]),
    ),
  });
  const exampled = (name: string, count = 0) => ({ count, eventIds: examples.get(name) ?? [] });
  return {
    counted: exampled("counted", counted?.count),
    visitors,
    late: exampled("late", counted?.late),
    merged: exampled("merged", counted?.merged),
    leftOut: leftOut.map(({ reason, count }) => ({ reason, ...exampled(reason, count) })),
  };
}

/** Visits of these reasons are in no list of the workspace. */
const hidden: ReadonlySet<string> = new Set(["LOCKED", "SANDBOX"]);

/** Served by events_uncounted_idx. */
function isLeftOut(reason: string): RawBuilder<unknown> {
  return sql`not e.counted and e.uncounted_reason is not distinct from ${reason || null}::uncounted_reason`;
}

/** Which of the visits are meant. What a locked visit would be grouped by stays hidden. */
function meant({ group, hour }: ExplainedCount): RawBuilder<unknown> {
  const conditions = [sql`true`];
  if (group !== undefined)
    conditions.push(
      sql`${groupColumns[group.dimension]} = ${group.value} and left_out is distinct from 'LOCKED'`,
    );
  if (hour !== undefined) conditions.push(sql`${hourOf(sql.raw("created_at"), hour.clock)} = ${hour.number}`);
  return sql.join(conditions, sql.raw(" and "));
}

interface ReasonRow {
  /** Null for visits that count. */
  readonly reason: string | null;
  readonly count: number;
  readonly late: number;
  readonly merged: number;
}

/** Visitors into whom others were merged. */
function mergedVisitors({ scope: { workspaceId } }: ExplainedCount): RawBuilder<unknown> {
  return sql`select v.id from moved_visitors m
    join visitors v on v.workspace_id = m.workspace_id and v.number = m.to_number
    where m.workspace_id = ${workspaceId} and m.to_number <> 0`;
}

async function countByReason(db: Db, question: ExplainedCount): Promise<readonly ReasonRow[]> {
  const { rows } = await sql<ReasonRow>`
    select left_out as reason, count(*)::int as count, count(late_seconds)::int as late,
      (count(*) filter (where visitor_id in (${mergedVisitors(question)})))::int as merged
    from (${recordedVisits(question.scope, sql`true`)}) as visits where ${meant(question)}
    group by left_out`.execute(db);
  return rows;
}

async function countVisitors(db: Db, question: ExplainedCount): Promise<number> {
  const { rows } = await sql<{ readonly visitors: number }>`
    select count(*)::int as visitors from (
      select person from (${recordedVisits(question.scope, isCounted)}) as visits where ${meant(question)}
      group by person) as people`.execute(db);
  return rows[0]?.visitors ?? 0;
}

/** The visits of the workspace's sandboxes. None of them belongs to a link or a tag of the workspace. */
async function countInSandboxes(db: Db, question: ExplainedCount): Promise<number> {
  const { workspaceId, linkId, tagKey } = question.scope;
  if (linkId !== undefined || tagKey !== undefined) return 0;
  const sandboxes = await db
    .selectFrom("workspaces")
    .select("id")
    .where("parent_workspace_id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .execute();
  let total = 0;
  for (const { id } of sandboxes) {
    const rows = await countByReason(db, { ...question, scope: { ...question.scope, workspaceId: id } });
    for (const { count } of rows) total += count;
  }
  return total;
}

/** The newest events of each condition on events `e`. */
async function findExamples(
  db: Db,
  question: ExplainedCount,
  conditions: Readonly<Record<string, RawBuilder<unknown>>>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const [name, condition] of Object.entries(conditions)) {
    const { rows } = await sql<{ readonly id: string }>`
      select id from (${recordedVisits(question.scope, condition)}) as visits where ${meant(question)}
      order by id desc limit ${examplesMax}`.execute(db);
    const ids = rows.map(({ id }) => id);
    found.set(name, ids);
  }
  return found;
}
