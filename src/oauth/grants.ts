import { type Selectable, sql } from "kysely";
import type { OauthGrants } from "../../gen/database.ts";
import { tellRevocation } from "../db/channels.ts";
import type { Db } from "../db/open.ts";
import { newId } from "../lib/ids.ts";
import type { Resource } from "./resources.ts";

/** How long a refresh token lives, in milliseconds (behaviour 2.5). */
export const refreshTokenLifeMs = 30 * 24 * 60 * 60 * 1000;

export interface GrantKey {
  readonly workspaceId: string;
  readonly grantId: string;
}

export interface NewGrant {
  readonly workspaceId: string;
  /** The id of a registered program, the address of a program's document, or the id of an agent's registration. */
  readonly clientId: string;
  readonly clientName: string;
  /** Undefined for an agent whose workspace nobody has claimed yet. */
  readonly memberId: string | undefined;
  readonly scope: string;
  /** The one resource of its tokens; undefined when each request for a token says which. */
  readonly resource: Resource | undefined;
  /** Of a grant that begins with a code. */
  readonly code?: { readonly redirectUri: string; readonly challenge: string; readonly expiresAt: Date };
  /** The grant ends by itself at this time. */
  readonly expiresAt: Date;
}

export type GrantRow = Selectable<OauthGrants>;

/** Makes a grant and returns its id. */
export async function makeGrant(db: Db, grant: NewGrant, at: Date): Promise<string> {
  const id = newId(at);
  await db
    .insertInto("oauth_grants")
    .values({
      ...{ workspace_id: grant.workspaceId, id, member_id: grant.memberId ?? null },
      ...{ client_id: grant.clientId, client_name: grant.clientName },
      ...{ scope: grant.scope, resource: grant.resource ?? null },
      redirect_uri: grant.code?.redirectUri ?? null,
      code_challenge: grant.code?.challenge ?? null,
      code_expires_at: grant.code?.expiresAt ?? null,
      ...{ expires_at: grant.expiresAt, tokens_until: at, created_at: at, used_at: at },
    })
    .execute();
  return id;
}

/** A grant that has not ended; undefined when there is none. */
export function findGrant(
  db: Db,
  { workspaceId, grantId }: GrantKey,
  at: Date,
): Promise<GrantRow | undefined> {
  return db
    .selectFrom("oauth_grants")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", grantId)
    .where("expires_at", ">", at)
    .executeTakeFirst();
}

/** The program of a grant, also of one whose refresh token has expired: an access token of an agent can live longer. */
export async function clientOfGrant(db: Db, { workspaceId, grantId }: GrantKey): Promise<string | undefined> {
  const row = await db
    .selectFrom("oauth_grants")
    .select("client_id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", grantId)
    .executeTakeFirst();
  return row?.client_id;
}

/** How many grants a member has that go on, with those whose code nobody has exchanged yet. */
export async function countGrants(
  db: Db,
  { workspaceId, memberId }: { readonly workspaceId: string; readonly memberId: string },
  at: Date,
): Promise<number> {
  const { count } = await db
    .selectFrom("oauth_grants")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("workspace_id", "=", workspaceId)
    .where("member_id", "=", memberId)
    .where((eb) => eb.or([eb("expires_at", ">", at), eb("tokens_until", ">", at)]))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** What people are told of a grant. */
export type ListedGrant = Pick<
  GrantRow,
  "id" | "client_id" | "client_name" | "member_id" | "scope" | "created_at" | "used_at"
>;

/** The grants of a workspace, or of one member, that go on and have had a token. The newest come first. */
export function listGrants(
  db: Db,
  { workspaceId, memberId }: { readonly workspaceId: string; readonly memberId?: string | undefined },
  { at, limit }: { readonly at: Date; readonly limit: number },
): Promise<ListedGrant[]> {
  return db
    .selectFrom("oauth_grants")
    .select(["id", "client_id", "client_name", "member_id", "scope", "created_at", "used_at"])
    .where("workspace_id", "=", workspaceId)
    .$if(memberId !== undefined, (query) => query.where("member_id", "=", memberId ?? null))
    .where((eb) => eb.or([eb("refresh_number", ">", 0), eb("code_challenge", "is", null)]))
    .where((eb) => eb.or([eb("expires_at", ">", at), eb("tokens_until", ">", at)]))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** Notes that an access token of the grant was issued, so that its revocation is kept for as long as the token lives. */
export async function noteAccessToken(
  db: Db,
  { workspaceId, grantId }: GrantKey,
  { at, until }: { readonly at: Date; readonly until: Date },
): Promise<void> {
  await sql`update oauth_grants set tokens_until = greatest(tokens_until, ${until}), used_at = ${at}
    where workspace_id = ${workspaceId} and id = ${grantId}`.execute(db);
}

/**
 * Uses up the refresh token with a number, or the code, which has number 0, and gives the grant. Undefined when it was used
 * before, or when the grant has ended. One statement decides, so that of simultaneous uses in all processes one succeeds.
 */
export async function takeTurn(
  db: Db,
  { workspaceId, grantId }: GrantKey,
  { number, at, tokensUntil }: { readonly number: number; readonly at: Date; readonly tokensUntil: Date },
): Promise<GrantRow | undefined> {
  return db
    .updateTable("oauth_grants")
    .set({
      refresh_number: number + 1,
      expires_at: new Date(at.getTime() + refreshTokenLifeMs),
      tokens_until: sql`greatest(tokens_until, ${tokensUntil})`,
      used_at: at,
    })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", grantId)
    .where("refresh_number", "=", number)
    .where("expires_at", ">", at)
    .returningAll()
    .executeTakeFirst();
}

/** Gives a grant to the member who claims it, with these scopes from now on. Access tokens that it has keep theirs. */
export async function claimGrant(
  db: Db,
  { workspaceId, grantId }: GrantKey,
  { memberId, scope }: { readonly memberId: string; readonly scope: string },
): Promise<void> {
  await db
    .updateTable("oauth_grants")
    .set({ member_id: memberId, scope })
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", grantId)
    .execute();
}

/** Which grants end: one, all of a member, or one if it is the member's. */
export type Ended = { readonly workspaceId: string } & (
  | { readonly grantId: string; readonly memberId?: string | undefined }
  | { readonly grantId?: undefined; readonly memberId: string }
);

/**
 * Ends grants: their codes and tokens end on every process within 5 s. Returns the ids of the
 * ended grants.
 */
export async function endGrants(
  db: Db,
  { workspaceId, grantId, memberId }: Ended,
  at: Date,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with ended as (
        delete from oauth_grants where workspace_id = ${workspaceId}
          and (${grantId ?? null}::uuid is null or id = ${grantId ?? null})
          and (${memberId ?? null}::uuid is null or member_id = ${memberId ?? null})
        returning id, tokens_until),
      revoked as (
        insert into revocations (subject, revoked_at, forget_at) select id, ${at}::timestamptz, tokens_until from ended
        where tokens_until > ${at}
        on conflict on constraint revocations_pkey do nothing)
    select id, case when tokens_until > ${at} then ${tellRevocation(sql.ref("id"))} end from ended`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** The most expired grants that one statement deletes. */
const batchSize = 1_000;

/** Deletes some of the grants that have ended by themselves, once none of their tokens can live. Returns how many. */
export async function deleteOldGrants(db: Db, at: Date): Promise<number> {
  const { rows } = await sql`
    delete from oauth_grants g using (
      select workspace_id, id from oauth_grants where expires_at <= ${at} and tokens_until <= ${at}
      limit ${batchSize} for update skip locked) old
    where g.workspace_id = old.workspace_id and g.id = old.id
    returning g.id`.execute(db);
  return rows.length;
}
