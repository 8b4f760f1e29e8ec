import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { StoredAttribute } from "../../model/visitors/attribute-operators.ts";
import type { KnownAttributes, Visit } from "../../workflow/visit.ts";
import { deviceAlike } from "../device/alike-devices.ts";

/** The keys by which the device of a visit may be known; see `VisitFacts`. */
export interface SoughtVisitor {
  readonly workspaceId: string;
  readonly linkId: string;
  readonly atMs: number;
  /** The hash of a browser's cookie. Empty for a bot or agent, which is recognised by its fingerprint. */
  readonly cookieHash: string;
  readonly fingerprint: string;
}

/** The facts that earlier visits tell about a visit that begins. */
export type KnownVisitor = Pick<Visit, "visitType" | "attributes">;

/** The answer when no earlier visit is known, or none may be looked up. */
export const unknownVisitor: KnownVisitor = Object.freeze({ visitType: "FIRST", attributes: undefined });

/**
 * Returns what the cookie alone tells, for use when the database does not answer. A device with a cookie has visited
 * this host before, perhaps by another link.
 */
export function toldByCookie(cookieWasSent: boolean): KnownVisitor {
  return cookieWasSent ? returning : unknownVisitor;
}

const returning: KnownVisitor = Object.freeze({ visitType: "RETURNING", attributes: undefined });

/**
 * Looks for the device of a visit in the same way as the drain will later. Returns the device's visitor, and whether
 * the device has visited the link. Takes one statement.
 */
export async function findKnownVisitor(db: Db, sought: SoughtVisitor): Promise<KnownVisitor> {
  const { workspaceId, linkId } = sought;
  const { rows } = await sql<FoundVisitor>`
    select v.id is not null as "hasVisitor", v.email, v.phone, v.first_name as "firstName", v.last_name as "lastName",
      exists (select from device_links l
        where l.workspace_id = d.workspace_id and l.link_id = ${linkId} and l.device_id = d.id) as "hasVisited",
      (select jsonb_object_agg(a.key, jsonb_build_object('value', a.value, 'type', a.type)) from visitor_attributes a
        where a.workspace_id = v.workspace_id and a.visitor_id = v.id) as custom
    from (${deviceOf(sought)}) as d
    left join visitors v on v.workspace_id = ${workspaceId} and v.id = d.visitor_id`.execute(db);
  const [found] = rows;
  if (found === undefined) return unknownVisitor;
  return {
    visitType: found.hasVisited ? "RETURNING" : "FIRST",
    attributes: found.hasVisitor ? attributesOf(found) : undefined,
  };
}

interface FoundVisitor {
  readonly hasVisitor: boolean;
  readonly hasVisited: boolean;
  readonly email: string | null;
  readonly phone: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly custom: Readonly<Record<string, StoredAttribute>> | null;
}

function deviceOf({ workspaceId, cookieHash, fingerprint, atMs }: SoughtVisitor): RawBuilder<unknown> {
  if (cookieHash !== "") {
    return sql`select d.workspace_id, d.id, d.visitor_id
      from device_cookies c join devices d on d.workspace_id = c.workspace_id and d.id = c.device_id
      where c.workspace_id = ${workspaceId} and c.cookie_hash = decode(${cookieHash}, 'hex')`;
  }
  return deviceAlike({
    workspaceId,
    fingerprint: sql`decode(${fingerprint}, 'hex')`,
    fromMs: atMs,
    toMs: atMs,
  });
}

function attributesOf({ email, phone, firstName, lastName, custom }: FoundVisitor): KnownAttributes {
  const attributes = new Map(Object.entries(custom ?? {}));
  const reserved = { $email: email, $phone: phone, $firstName: firstName, $lastName: lastName };
  for (const [key, value] of Object.entries(reserved))
    if (value !== null) attributes.set(key, { value, type: "STRING" });
  return attributes;
}
