import { type RawBuilder, sql } from "kysely";
import { numericOf, trimmed } from "../../db/number-of-text.ts";
import type { Db } from "../../db/open.ts";
import { withinAnswer } from "../../db/within-answer.ts";
import { reservedColumns } from "../../visitors/visitor-attributes.ts";
import { decimalOf, floatOf, meanOf } from "../exact-mean.ts";
import type { Attribute, AttributeNumbers, AttributeValues, GivenValues, GroupCounts } from "../question.ts";
import { countedVisits } from "./counted-visits-queries.ts";

/** The visitors that a scope has now. Visits without a visitor add nobody. */
function audience({ scope }: Attribute): RawBuilder<unknown> {
  return sql`select v.* from visitors v where v.workspace_id = ${scope.workspaceId}
    and v.id in (select visitor_id from (${countedVisits(scope)}) as visits)`;
}

/** The values that visitors of `audience` have: visitor, value and time. */
function given({ scope, key }: Attribute): RawBuilder<unknown> {
  const column = Object.entries(reservedColumns).find(([reserved]) => reserved === key)?.[1];
  if (column !== undefined)
    return sql`select v.id, v.${sql.ref(column)} as value, v.updated_at from audience v
      where v.${sql.ref(column)} is not null`;
  return sql`select v.id, a.value, a.updated_at from audience v
    join visitor_attributes a on a.workspace_id = ${scope.workspaceId} and a.visitor_id = v.id and a.key = ${key}`;
}

interface NumbersRow {
  readonly audience: number;
  readonly given: number;
  readonly numbers: number;
  /** Decimals, which a float may not hold exactly. */
  readonly sum: string | null;
  readonly least: string | null;
  readonly greatest: string | null;
}

export async function attribute(db: Db, question: Attribute): Promise<AttributeNumbers> {
  const { rows } = await sql<NumbersRow>`
    with audience as (${audience(question)}),
    given as (${given(question)}),
    numbers as (select ${numericOf(trimmed(sql.raw("value")))} as n from given)
    select (select count(*) from audience)::int as audience, (select count(*) from given)::int as given,
      count(n)::int as numbers, sum(n) as sum, min(n) as least, max(n) as greatest from numbers`.execute(db);
  const [row] = rows;
  const { numbers: count = 0, sum, least, greatest } = row ?? {};
  const isKnown = typeof sum === "string" && typeof least === "string" && typeof greatest === "string";
  const numbers = isKnown
    ? { mean: meanOf(decimalOf(sum), count), least: floatOf(least), greatest: floatOf(greatest) }
    : undefined;
  return { audience: row?.audience ?? 0, withValue: row?.given ?? 0, withNumber: count, numbers };
}

interface ValueRow {
  readonly value: string;
  readonly count: number;
  readonly total: number;
}

export async function attributeGroups(db: Db, question: AttributeValues): Promise<GroupCounts> {
  const { rows } = await sql<ValueRow>`
    with audience as (${audience(question)}),
    given as (${given(question)}),
    grouped as (select value, count(*) as count from given group by value)
    select value, count::int as count, (sum(count) over ())::int as total from grouped
    order by count desc, value collate "C" limit ${question.limit}`.execute(db);
  return { total: rows[0]?.total ?? 0, groups: rows.map(({ value, count }) => ({ value, count })) };
}

interface GivenRow {
  readonly value: string;
  readonly updated_at: Date;
  readonly total: number;
}

export async function attributeValues(db: Db, question: AttributeValues): Promise<GivenValues> {
  const newest = sql`select g.*, (count(*) over ())::int as total from given g
    order by g.updated_at desc, g.id desc limit ${question.limit}`;
  const { rows } = await sql<GivenRow>`
    with audience as (${audience(question)}),
    given as (${given(question)})
    ${withinAnswer(newest, {
      bytes: sql`octet_length(page.value)`,
      order: sql`page.updated_at desc, page.id desc`,
    })}`.execute(db);
  return {
    total: rows[0]?.total ?? 0,
    values: rows.map(({ value, updated_at }) => ({ value, at: updated_at })),
  };
}
