import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { StoredAttribute } from "../../model/visitors/attribute-operators.ts";
import type { KnownAttributes } from "../../workflow/visit.ts";
import type { SavedAttribute } from "../../workflow/walk-result.ts";
import type { VisitKey } from "../visit/state.ts";

/** What the visitor of a visit is looked up by: the values that the visit has saved, and the device's cookie. */
export interface SoughtProfile extends VisitKey {
  /** The hash of the device's cookie, in hexadecimal; empty when no cookie was sent. */
  readonly cookieHash: string;
  /** The values that the visit has saved, whether or not the database has them yet. */
  readonly saved: readonly SavedAttribute[];
}

/** What the database knows that a visit does not carry. */
export interface KnownProfile {
  /** Undefined while the visit's first request has not been stored. */
  readonly visitType: "FIRST" | "RETURNING" | undefined;
  /** The visitor to whom `attributes` belong; empty when there is none. */
  readonly visitorId: string;
  /** Undefined for a visitor without a profile. */
  readonly attributes: KnownAttributes | undefined;
}

/** The profile that is used when the database does not answer. */
export const nobodyKnown: KnownProfile = Object.freeze({
  visitType: undefined,
  visitorId: "",
  attributes: undefined,
});

interface FoundProfile {
  readonly visitType: "FIRST" | "RETURNING" | null;
  readonly ownId: string | null;
  readonly matchId: string | null;
  readonly isAnonymous: boolean | null;
  readonly own: Readonly<Record<string, StoredAttribute>> | null;
  readonly match: Readonly<Record<string, StoredAttribute>> | null;
}

/**
 * Finds the visitor that `identifyVisitor` will choose once the values that the visit has saved are stored. The
 * attributes leave out the visit's own unstored values. Takes one statement, which uses events_pkey, visitors_email_key
 * and visitors_phone_idx.
 */
export async function findProfile(db: Db, sought: SoughtProfile): Promise<KnownProfile> {
  const { workspaceId, eventId, cookieHash, saved } = sought;
  const told = (key: string) => saved.findLast((value) => value.key === key)?.value ?? null;
  const { rows } = await sql<FoundProfile>`
    with visit as (select visit_type, visitor_id from events where workspace_id = ${workspaceId} and id = ${eventId}),
    whose as (
      select
        coalesce((select visitor_id from visit), (select d.visitor_id from device_cookies c
          join devices d on d.workspace_id = c.workspace_id and d.id = c.device_id
          where c.workspace_id = ${workspaceId} and c.cookie_hash = decode(${cookieHash}, 'hex'))) as own_id,
        coalesce(
          (select id from visitors where workspace_id = ${workspaceId} and email = ${told("$email")?.toLowerCase() ?? null}),
          (select id from visitors where workspace_id = ${workspaceId} and phone = ${told("$phone")}
            order by created_at, id limit 1)) as match_id)
    select (select visit_type from visit) as "visitType", own_id as "ownId", match_id as "matchId",
      (select email is null and phone is null from visitors
        where workspace_id = ${workspaceId} and id = own_id) as "isAnonymous",
      ${attributesOf(workspaceId, sql.ref("own_id"))} as own,
      ${attributesOf(workspaceId, sql.ref("match_id"))} as match
    from whose`.execute(db);
  const [found] = rows;
  return {
    visitType: found?.visitType ?? undefined,
    visitorId: found?.matchId ?? found?.ownId ?? "",
    attributes: found && attributesIn(found),
  };
}

/** The attributes of a visitor by key; reserved keys begin with `$`. NULL when the visitor has none. */
function attributesOf(workspaceId: string, id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select jsonb_object_agg(key, jsonb_build_object('value', value, 'type', type)) from (
      select key, value, type::text from visitor_attributes a
      where a.workspace_id = ${workspaceId} and a.visitor_id = ${id}
      union all
      select reserved.key, reserved.value, 'STRING' from visitors v,
        lateral (values ('$email', v.email), ('$phone', v.phone), ('$firstName', v.first_name),
          ('$lastName', v.last_name)) as reserved (key, value)
      where v.workspace_id = ${workspaceId} and v.id = ${id} and reserved.value is not null) as known)`;
}

function attributesIn({
  ownId,
  matchId,
  isAnonymous,
  own,
  match,
}: FoundProfile): KnownAttributes | undefined {
  if (matchId === null) return ownId === null ? undefined : new Map(Object.entries(own ?? {}));
  // An anonymous visitor is merged into the profile, which takes over the attributes that it lacks.
  const merged = isAnonymous === true && ownId !== matchId ? { ...own, ...match } : match;
  return new Map(Object.entries(merged ?? {}));
}
