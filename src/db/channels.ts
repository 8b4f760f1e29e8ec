import { type RawBuilder, sql } from "kysely";
import { isUuid } from "../lib/ids.ts";

/*
 * What processes tell each other by NOTIFY, in the transaction of the change, so that nobody hears of what never happened.
 * Processes of two versions run side by side during an upgrade: a name and a form, once released, stay as they are.
 */

/** Told what plans and roots hold that is no longer so. */
export const planChannel = "signpost_plan";
/** Told which tokens and workspaces are revoked. */
export const revocationChannel = "signpost_revocation";
/** Told which scopes a token has now. */
export const scopesChannel = "signpost_scopes";

/** A value, or what a statement calls it. */
type Text = string | RawBuilder<unknown>;

/** The call that tells of one link's change, as `<host>/<shortlink>`. The service's own short host is empty. */
export function tellLinkChange(host: Text, shortlink: Text): RawBuilder<unknown> {
  return tell(planChannel, sql`${host} || '/' || ${shortlink}`);
}

/** The call that tells of a change to all links of a workspace, by its id. */
export function tellWorkspaceChange(workspaceId: Text): RawBuilder<unknown> {
  return tell(planChannel, sql`${workspaceId}::text`);
}

/** What has changed: all links of a workspace, the root of a custom domain, or one link. */
export type PlanChange =
  | { readonly kind: "workspace"; readonly workspaceId: string }
  | { readonly kind: "root"; readonly host: string }
  | { readonly kind: "link"; readonly host: string; readonly shortlink: string };

/** Reads what was told of plans; undefined when it is something else. The root of a domain is told as `<host>/`. */
export function readPlanChange(payload: string): PlanChange | undefined {
  if (isUuid(payload)) return { kind: "workspace", workspaceId: payload };
  const slash = payload.indexOf("/");
  if (slash < 0) return undefined;
  const [host, shortlink] = [payload.slice(0, slash), payload.slice(slash + 1)];
  return shortlink === "" ? { kind: "root", host } : { kind: "link", host, shortlink };
}

/** The call that tells of a revoked token or workspace, by its id. */
export function tellRevocation(subject: Text): RawBuilder<unknown> {
  return tell(revocationChannel, sql`${subject}::text`);
}

/** Reads who was revoked; undefined when it is something else. */
export function readRevocation(payload: string): string | undefined {
  return isUuid(payload) ? payload : undefined;
}

/** The scopes of a token as they were changed after its creation. */
export interface ScopeChange {
  readonly tokenId: string;
  readonly scope: string;
  /** Of two changes of a token, the later one has the higher version. */
  readonly version: number;
}

/** The call that tells of a token's changed scopes, as `<id> <version> <scope>`. */
export function tellScopeChange(
  change: {
    readonly [Part in keyof ScopeChange]: Text;
  },
): RawBuilder<unknown> {
  const { tokenId, version, scope } = change;
  return tell(scopesChannel, sql`concat_ws(' ', ${tokenId}::text, ${version}::text, ${scope}::text)`);
}

/** Reads changed scopes; undefined when it is something else. */
export function readScopeChange(payload: string): ScopeChange | undefined {
  const [tokenId = "", version = "", ...names] = payload.split(" ");
  if (!isUuid(tokenId) || !/^\d{1,9}$/.test(version) || names.length === 0) return undefined;
  return { tokenId, version: Number(version), scope: names.join(" ") };
}

function tell(channel: string, payload: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`pg_notify(${sql.lit(channel)}, ${payload})`;
}
