import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Workspaces } from "../../gen/database.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import { restorableMs } from "../model/workspace-end.ts";
import { tellRestoration, tellRevocation, tellWorkspaceChange } from "./channels.ts";
import { type Db, inTransaction } from "./open.ts";

/** Queues the mails of a deletion: a job for each row of `rows`. */
export type QueueMails = (
  task: "send-mail",
  payload: { readonly [Field in keyof QueuedJobs["send-mail"]]: string | RawBuilder<unknown> },
  place: { readonly rows: RawBuilder<unknown>; readonly priority: number },
) => RawBuilder<unknown>;

export interface WorkspaceEnd {
  readonly workspaceId: string;
  readonly at: Date;
  readonly jobCalls: QueueMails;
}

/**
 * Deletes a workspace with its sandboxes, in one transaction: their tokens, sessions, links and public views end on every
 * process within seconds, their domains are released, and the administrators get a mail. All rows and files stay
 * for the purge. Returns the ids of the ended workspaces; none when there is no such living workspace.
 */
export function deleteWorkspace(db: Db, end: WorkspaceEnd): Promise<string[]> {
  return inTransaction(db, async (tx) => {
    // The lock is taken in a statement of its own, so that the next statement sees the sandboxes that were being made.
    await sql`select from workspaces where id = ${end.workspaceId} for no key update`.execute(tx);
    return endLocked(tx, end);
  });
}

async function endLocked(tx: Db, { workspaceId, at, jobCalls }: WorkspaceEnd): Promise<string[]> {
  const restorableUntil = new Date(at.getTime() + restorableMs).toISOString();
  const mails = jobCalls(
    "send-mail",
    {
      mailId: sql`gen_random_uuid()`,
      workspaceId: sql.ref("admin.workspace_id"),
      memberId: sql.ref("admin.id"),
      kind: "workspace-deleted",
      to: sql.ref("admin.email"),
      facts: JSON.stringify({ restorableUntil }),
    },
    { rows: sql.raw("admin"), priority: 0 },
  );
  const { rows } = await sql<Pick<Selectable<Workspaces>, "id">>`
    with living as (select id from workspaces where id = ${workspaceId} and deleted_at is null),
      ended as (
        update workspaces w set deleted_at = ${at}, updated_at = ${at} from living
        where (w.id = living.id or w.parent_workspace_id = living.id) and w.deleted_at is null
        returning w.id, w.environment, w.expires_at),
      revoked as (
        -- Tokens of sandboxes expire with them.
        insert into revocations (subject, revoked_at, forget_at) select id, ${at}::timestamptz, expires_at from ended
        on conflict on constraint revocations_pkey do update set revoked_at = excluded.revoked_at, restored = false),
      -- Names that were proved are kept for the workspace; all others are free at once.
      proved as (
        select d.name from ended join custom_domains d on d.workspace_id = ended.id
        where d.verified_at is not null or d.activated_at is not null),
      released as (
        update domain_names n set released_at = ${at}, check_due_at = null from ended
        where n.workspace_id = ended.id and n.released_at is null and n.name in (select name from proved)),
      freed as (
        delete from domain_names n using ended
        where n.workspace_id = ended.id and n.released_at is null and n.name not in (select name from proved)),
      admin as (
        select m.workspace_id, m.id, m.email from ended join members m on m.workspace_id = ended.id
        where ended.environment = 'live' and m.role = 'ADMIN' and m.access_revoked_at is null),
      mail as (select ${mails} as job)
    select id, ${tellRevocation(sql.ref("id"))}, ${tellWorkspaceChange(sql.ref("id"))},
      -- Counted, because PostgreSQL does not run what nothing reads.
      (select count(*) from mail) from ended`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Brings a deleted workspace back as it was, with its tokens and members, but without its sandboxes. Returns the domains
 * that other workspaces have taken in the meantime; undefined when there is no such deleted workspace, or when its purge
 * has begun.
 */
export async function restoreWorkspace(
  db: Db,
  workspaceId: string,
  at: Date,
): Promise<readonly string[] | undefined> {
  const { rows } = await sql<{ lost: string[] }>`
    with restored as (
        update workspaces set deleted_at = null, updated_at = ${at}
        where id = ${workspaceId} and deleted_at is not null and purge_began_at is null and environment = 'live'
        returning id),
      allowed as (
        update revocations r set restored = true, revoked_at = ${at} from restored where r.subject = restored.id),
      regained as (
        insert into domain_names as held (name, workspace_id, custom_domain_id, check_due_at)
        select d.name, d.workspace_id, d.id, ${at}::timestamptz from custom_domains d
        join restored on restored.id = d.workspace_id
        on conflict on constraint domain_names_pkey do update
          set released_at = null, check_due_at = excluded.check_due_at
          where held.custom_domain_id = excluded.custom_domain_id
        returning name),
      -- While the workspace was away, nobody looked after its certificates, and they may be deleted.
      awake as (
        update certificates c set next_at = ${at} from regained where c.name = regained.name and c.next_at is null),
      bare as (
        update custom_domains d set certificate_expires_at = null from restored
        where d.workspace_id = restored.id and d.name in (select name from regained)
          and not exists (select from certificates where name = d.name)),
      -- A domain whose name another workspace has takes no links, and serves none.
      lost as (
        update custom_domains d set status = 'INACTIVE', points_here = false, away_since = null, verified_at = null,
          dns_fault = ${"Another workspace has this name now: delete the domain."}, updated_at = ${at}
        from restored where d.workspace_id = restored.id and d.name not in (select name from regained)
        returning d.name)
    select ${tellRestoration(sql.ref("id"))}, ${tellWorkspaceChange(sql.ref("id"))},
      array(select name from lost order by name) as lost
    from restored`.execute(db);
  return rows[0]?.lost;
}

/** Deletes the revocations that nobody needs any more, because all their tokens have expired. */
export async function forgetRevocations(db: Db, at: Date): Promise<void> {
  await db.deleteFrom("revocations").where("forget_at", "<=", at).execute();
}
