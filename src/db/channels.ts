import { type RawBuilder, sql } from "kysely";
import { isUuid } from "../lib/ids.ts";

/*
 * The notifications between processes. NOTIFY runs in the transaction of the change, so that nobody learns of a change
 * that was undone. During an upgrade processes of two versions run side by side, so a released name and form never
 * change.
 */

/** Says which kept plans and domain roots are out of date. */
export const planChannel = "signpost_plan";
/** Says which tokens and workspaces are revoked. */
export const revocationChannel = "signpost_revocation";
/** Says which scopes a token has now. */
export const scopesChannel = "signpost_scopes";
/** Says that messages wait in the outbox, without saying whose. */
export const outboxChannel = "signpost_outbox";

/** A value, or an expression of the statement. */
type Text = string | RawBuilder<unknown>;

/** The SQL call that notifies of one link's change, as `<host>/<shortlink>`. The service's own short host is empty. */
export function tellLinkChange(host: Text, shortlink: Text): RawBuilder<unknown> {
  return tell(planChannel, sql`${host} || '/' || ${shortlink}`);
}

/**
 * The SQL call that notifies of a change to a custom domain: its status, where its root leads, its certificate, or that it is gone.
 */
export function tellDomainChange(name: Text): RawBuilder<unknown> {
  return tellLinkChange(name, "");
}

/** The SQL call that notifies of a change to all links of a workspace, by the workspace's id. */
export function tellWorkspaceChange(workspaceId: Text): RawBuilder<unknown> {
  return tell(planChannel, sql`${workspaceId}::text`);
}

/** The changed thing: all links of a workspace, a custom domain, or one link. */
export type PlanChange =
  | { readonly kind: "workspace"; readonly workspaceId: string }
  | { readonly kind: "root"; readonly host: string }
  | { readonly kind: "link"; readonly host: string; readonly shortlink: string };

/**
 * Reads a notification of `planChannel`; undefined when it has another form. A domain is sent as `<host>/`.
 */
export function readPlanChange(payload: string): PlanChange | undefined {
  if (isUuid(payload)) return { kind: "workspace", workspaceId: payload };
  const slash = payload.indexOf("/");
  if (slash < 0) return undefined;
  const [host, shortlink] = [payload.slice(0, slash), payload.slice(slash + 1)];
  return shortlink === "" ? { kind: "root", host } : { kind: "link", host, shortlink };
}

/** The SQL call that notifies of a revoked token or workspace, by its id. */
export function tellRevocation(subject: Text): RawBuilder<unknown> {
  return tell(revocationChannel, sql`${subject}::text`);
}

/** The SQL call that notifies of a restored workspace, whose tokens count again, as `restored <id>`. */
export function tellRestoration(subject: Text): RawBuilder<unknown> {
  return tell(revocationChannel, sql`'restored ' || ${subject}::text`);
}

/** A token or a workspace that was revoked, or a workspace that was restored. */
export interface Revocation {
  readonly subject: string;
  readonly isRestored: boolean;
}

/** Reads a revocation or a restoration; undefined when the text has another form. */
export function readRevocation(payload: string): Revocation | undefined {
  const isRestored = payload.startsWith("restored ");
  const subject = isRestored ? payload.slice("restored ".length) : payload;
  return isUuid(subject) ? { subject, isRestored } : undefined;
}

/** The changed scopes of a token. */
export interface ScopeChange {
  readonly tokenId: string;
  readonly scope: string;
  /** Of two changes of a token, the later one has the higher version. */
  readonly version: number;
}

/** The SQL call that notifies of a token's changed scopes, as `<id> <version> <scope>`. */
export function tellScopeChange(
  change: {
    readonly [Part in keyof ScopeChange]: Text;
  },
): RawBuilder<unknown> {
  const { tokenId, version, scope } = change;
  return tell(scopesChannel, sql`concat_ws(' ', ${tokenId}::text, ${version}::text, ${scope}::text)`);
}

/** Reads changed scopes; undefined when the text has another form. */
export function readScopeChange(payload: string): ScopeChange | undefined {
  const [tokenId = "", version = "", ...names] = payload.split(" ");
  if (!isUuid(tokenId) || !/^\d{1,9}$/.test(version) || names.length === 0) return undefined;
  return { tokenId, version: Number(version), scope: names.join(" ") };
}

/** The SQL call that says that messages wait in the outbox. Those of one transaction become one. */
export function tellOutbox(): RawBuilder<unknown> {
  return tell(outboxChannel, sql`''`);
}

function tell(channel: string, payload: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`pg_notify(${sql.lit(channel)}, ${payload})`;
}
