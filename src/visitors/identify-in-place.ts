import { type Selectable, sql } from "kysely";
import type { Visitors } from "../../gen/database.ts";
import { plainArray, textArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import { identityOf, lastingValues } from "./identify.ts";
import { type GivenAttribute, reservedAfter, reservedColumns } from "./visitor-attributes.ts";

/** Values that say who the visitor of a visit is. */
export interface OwnIdentify {
  readonly workspaceId: string;
  /** The visit's visitor. The transaction has locked the visitor's row, and before it the identity. */
  readonly visitorId: string;
  readonly at: Date;
  readonly attributes: readonly GivenAttribute[];
}

type Names = Pick<Selectable<Visitors>, "email" | "phone" | "first_name" | "last_name">;

interface OwnRow extends Names {
  readonly place: number;
  /** The visitor whom `identifyVisitor` would choose; null for none besides the visit's own. */
  readonly match_id: string | null;
}

/**
 * Does what `identifyVisitor` does for reserved keys, for many visits by two statements, as long as nobody else has the
 * identity: the visitor of the visit then takes it, and nothing moves. Returns the calls that it has carried out. Those
 * that would merge visitors, or that depend on each other, are left.
 */
export async function identifyInPlace(
  tx: Db,
  calls: readonly OwnIdentify[],
): Promise<ReadonlySet<OwnIdentify>> {
  const own = independent(calls);
  if (own.length === 0) return new Set();
  const identities = own.map(({ attributes }) => identityOf(lastingValues(attributes)));
  const { rows } = await sql<OwnRow>`
    select given.place::int as place, v.email, v.phone, v.first_name, v.last_name, coalesce(
        (select id from visitors e where e.workspace_id = given.workspace_id and e.email = nullif(given.email, '')),
        (select id from visitors p where p.workspace_id = given.workspace_id and p.phone = nullif(given.phone, '')
          order by created_at, id limit 1)) as match_id
    from unnest(
        ${plainArray(own.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(own.map(({ visitorId }) => visitorId))}::uuid[],
        ${textArray(identities.map(({ email }) => email ?? ""))}::text[],
        ${textArray(identities.map(({ phone }) => phone ?? ""))}::text[]) with ordinality
        as given (workspace_id, visitor_id, email, phone, place)
      join visitors v on v.workspace_id = given.workspace_id and v.id = given.visitor_id`.execute(tx);
  const done = rows.flatMap(({ place, match_id, ...before }) => {
    const call = own[place - 1];
    if (call === undefined || (match_id !== null && match_id !== call.visitorId)) return [];
    return [{ call, before, after: reservedAfter(before, lastingValues(call.attributes)) }];
  });
  await writeNames(
    tx,
    done.filter(({ before, after }) =>
      Object.values(reservedColumns).some((column) => before[column] !== after[column]),
    ),
  );
  return new Set(done.map(({ call }) => call));
}

/** The calls that share neither a visitor nor an identity with another one. */
function independent(calls: readonly OwnIdentify[]): OwnIdentify[] {
  const count = new Map<string, number>();
  const claimsOf = ({ workspaceId, visitorId, attributes }: OwnIdentify) => {
    const { email, phone } = identityOf(lastingValues(attributes));
    return [visitorId, email, phone].flatMap((claim) => (claim === null ? [] : [`${workspaceId} ${claim}`]));
  };
  for (const claim of calls.flatMap(claimsOf)) count.set(claim, (count.get(claim) ?? 0) + 1);
  return calls.filter((call) => claimsOf(call).every((claim) => count.get(claim) === 1));
}

interface Named {
  readonly call: OwnIdentify;
  readonly after: Names;
}

async function writeNames(tx: Db, named: readonly Named[]): Promise<void> {
  if (named.length === 0) return;
  const plain = (read: (call: OwnIdentify) => string) => plainArray(named.map(({ call }) => read(call)));
  const texts = (column: keyof Names) => textArray(named.map(({ after }) => after[column] ?? ""));
  await sql`
    update visitors v set email = nullif(given.email, ''), phone = nullif(given.phone, ''),
      first_name = nullif(given.first_name, ''), last_name = nullif(given.last_name, ''), updated_at = given.at
    from unnest(
      ${plain(({ workspaceId }) => workspaceId)}::uuid[],
      ${plain(({ visitorId }) => visitorId)}::uuid[],
      ${texts("email")}::text[], ${texts("phone")}::text[], ${texts("first_name")}::text[], ${texts("last_name")}::text[],
      ${plain(({ at }) => at.toISOString())}::timestamptz[])
      as given (workspace_id, visitor_id, email, phone, first_name, last_name, at)
    where v.workspace_id = given.workspace_id and v.id = given.visitor_id`.execute(tx);
}
