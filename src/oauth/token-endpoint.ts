import { createHash, timingSafeEqual } from "node:crypto";
import type { MemberRole } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";
import { readStanding } from "../people/standing.ts";
import { checkClient, noteClient, readProof } from "./clients.ts";
import { endGrants, findGrant, type GrantRow } from "./grants.ts";
import type { Handle, Handles } from "./handles.ts";
import type { IssueTokens, TokenAnswer } from "./issue-tokens.ts";
import { oauthFault } from "./oauth-fault.ts";
import { type ResourceAddresses, resourceOf } from "./resources.ts";
import { isWithin, narrowed } from "./scopes.ts";

/** The fields of a form; each stands there once. */
export type Form = ReadonlyMap<string, string>;

/** Where a request to an endpoint comes from. */
export interface Asker {
  readonly authorization: string | undefined;
  /** The client's address, after trusted proxies. */
  readonly address: string;
}

/** Answers a request for tokens with a grant type that another room owns. */
export type AnswerGrant = (form: Form, asker: Asker) => Promise<TokenAnswer>;

export interface TokenDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly handles: Handles;
  readonly issue: IssueTokens;
  /** The key for `oauth-secrets`. */
  readonly secretKey: Uint8Array;
  readonly resources: ResourceAddresses;
  readonly scopesOf: (role: MemberRole) => ReadonlySet<string>;
  /** By the name of the grant type. */
  readonly otherGrants: ReadonlyMap<string, AnswerGrant>;
  /** Makes the end of a grant count in this process at once. */
  readonly onRevoked: (grantId: string) => void;
}

/** Answers a request for tokens. Throws an `OauthFault` for a refusal. */
export async function answerToken(deps: TokenDeps, form: Form, asker: Asker): Promise<TokenAnswer> {
  const type = form.get("grant_type") ?? "";
  if (type === "authorization_code") return exchange(deps, form, asker, "code");
  if (type === "refresh_token") return exchange(deps, form, asker, "refresh_token");
  const other = deps.otherGrants.get(type);
  if (other === undefined)
    throw oauthFault("unsupported_grant_type", "grant_type: must be authorization_code or refresh_token");
  return other(form, asker);
}

/** Exchanges a code or a refresh token for the next tokens of its grant. */
async function exchange(
  deps: TokenDeps,
  form: Form,
  { authorization }: Asker,
  kind: "code" | "refresh_token",
): Promise<TokenAnswer> {
  const { db, handles, now, issue } = deps;
  const proof = readProof(form, authorization);
  await checkClient(db, proof, deps.secretKey);
  const handle = handles.read(form.get(kind) ?? "");
  if (handle === undefined || (handle.number === 0) !== (kind === "code")) throw notValid(kind);
  const grant = await findGrant(db, handle, now());
  if (grant === undefined || grant.client_id !== proof.clientId) throw notValid(kind);
  if (grant.refresh_number !== handle.number) throw await reused(deps, handle, kind);
  if (kind === "code") checkCode(grant, form, now());
  const wanted = {
    scope: wantedScope(grant, form, await scopesNow(deps, grant)),
    audience: audienceOf(deps, grant, form),
  };
  const answer = await issue.bothTokens(handle, () => wanted);
  // Another request used it between the two statements.
  if (answer === undefined) throw await reused(deps, handle, kind);
  await noteClient(db, grant.client_id, now());
  return answer;
}

/** Ends a grant of which a code or refresh token was used twice: one of the two users has stolen it. */
async function reused({ db, now, onRevoked }: TokenDeps, handle: Handle, kind: string) {
  const { workspaceId, grantId: id } = handle;
  for (const grantId of await endGrants(db, { workspaceId, grantId: id }, now())) onRevoked(grantId);
  return oauthFault(
    "invalid_grant",
    `the ${kind} was used before, so the grant has ended; ask the member again`,
  );
}

function notValid(kind: string) {
  return oauthFault("invalid_grant", `the ${kind} is unknown, has expired, or belongs to another program`);
}

function checkCode(grant: GrantRow, form: Form, at: Date): void {
  const { code_expires_at: expiresAt, code_challenge: challenge, redirect_uri: redirectUri } = grant;
  if (expiresAt === null || challenge === null || expiresAt <= at) throw notValid("code");
  if ((form.get("redirect_uri") ?? redirectUri) !== redirectUri)
    throw oauthFault("invalid_grant", "redirect_uri: must be the one that the code was sent to");
  const verifier = form.get("code_verifier") ?? "";
  const given = createHash("sha256").update(verifier).digest();
  const asked = Buffer.from(challenge, "base64url");
  if (!/^[\w.~-]{43,128}$/.test(verifier) || asked.length !== given.length || !timingSafeEqual(asked, given))
    throw oauthFault("invalid_grant", "code_verifier: does not belong to the code_challenge");
}

/** The scopes that the member of a grant has now; undefined for a grant without one. Throws when the member is shut out. */
async function scopesNow(
  { db, scopesOf }: TokenDeps,
  grant: GrantRow,
): Promise<ReadonlySet<string> | undefined> {
  const { workspace_id: workspaceId, member_id: memberId } = grant;
  const workspace = await db
    .selectFrom("workspaces")
    .select("id")
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  const standing = memberId === null ? undefined : await readStanding(db, { workspaceId, memberId });
  const isShutOut = memberId !== null && (standing === undefined || standing.isSuspended);
  if (workspace === undefined || isShutOut)
    throw oauthFault("invalid_grant", "the member, or the workspace, is no longer there");
  return standing && scopesOf(standing.role);
}

function wantedScope(grant: GrantRow, form: Form, ofRole: ReadonlySet<string> | undefined): string {
  const scope = form.get("scope") || grant.scope;
  if (!isWithin(scope, grant.scope))
    throw oauthFault("invalid_scope", "scope: must be within what was granted");
  return ofRole === undefined ? scope : narrowed(scope, ofRole);
}

function audienceOf({ resources }: TokenDeps, grant: GrantRow, form: Form): string {
  const asked = form.get("resource");
  const resource = asked === undefined ? (grant.resource ?? "API") : resourceOf(asked, resources);
  if (resource !== "API" && resource !== "MCP") throw wrongResource(resources);
  if (grant.resource !== null && grant.resource !== resource)
    throw oauthFault("invalid_target", "resource: must be the one that the grant is for");
  return resources[resource];
}

function wrongResource(resources: ResourceAddresses) {
  return oauthFault("invalid_target", `resource: must be ${resources.API} or ${resources.MCP}`);
}
