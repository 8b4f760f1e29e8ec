import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { StoredAttribute } from "../../model/visitors/attribute-operators.ts";
import type { KnownAttributes } from "../../workflow/visit.ts";
import type { SavedAttribute } from "../../workflow/walk-result.ts";
import type { VisitKey } from "../visit/state.ts";

/** Whose visit it is, going by what it has told and by the device's cookie. */
export interface SoughtProfile extends VisitKey {
  /** In hexadecimal; empty for none. */
  readonly cookieHash: string;
  /** Everything that the visit has saved, stored or not. */
  readonly saved: readonly SavedAttribute[];
}

/** What the database knows that a visit does not carry. */
export interface KnownProfile {
  /** Undefined while the visit's first request has not been stored. */
  readonly visitType: "FIRST" | "RETURNING" | undefined;
  /** Whose values they are; empty for nobody's. */
  readonly visitorId: string;
  /** Undefined for who has no profile. */
  readonly attributes: KnownAttributes | undefined;
}

/** What is left where the database does not answer. */
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
 * The visitor as `identifyVisitor` will leave them once all that the visit has saved is stored, without the visit's own
 * values: one statement, served by events_pkey, visitors_email_key and visitors_phone_idx.
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

/** By attribute key, reserved ones with `$`; NULL for somebody of whom nothing is known. */
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
  // An anonymous visitor is merged into the profile, which gets what it has not.
  const merged = isAnonymous === true && ownId !== matchId ? { ...own, ...match } : match;
  return new Map(Object.entries(merged ?? {}));
}
