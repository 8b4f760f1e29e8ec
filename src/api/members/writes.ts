import { type Insertable, sql, type Updateable } from "kysely";
import type { Members } from "../../../gen/database.ts";
import { lockClasses } from "../../db/locks.ts";
import type { Db } from "../../db/open.ts";
import type { QueuedJobs } from "../../model/jobs.ts";
import type { Deps } from "../deps.ts";
import { findMember, type MemberRow } from "./queries.ts";

/**
 * Waits until no other transaction changes who administers the workspace. Statements after this one see what the others
 * have written, so that two calls together cannot take the last two administrators away.
 */
export async function lockMembers(tx: Db, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockClasses.members}, hashtext(${workspaceId}))`.execute(tx);
}

/** A member, locked until the transaction ends, so that two changes of an address cannot pass each other. */
export async function lockMember(tx: Db, workspaceId: string, id: string): Promise<MemberRow | undefined> {
  await sql`select from members where workspace_id = ${workspaceId} and id = ${id} for no key update`.execute(
    tx,
  );
  return findMember(tx, workspaceId, id);
}

export function insertMember(tx: Db, values: Insertable<Members>): Promise<MemberRow> {
  return tx.insertInto("members").values(values).returningAll().executeTakeFirstOrThrow();
}

export function writeMember(
  tx: Db,
  { workspace_id, id }: Pick<MemberRow, "workspace_id" | "id">,
  values: Updateable<Members>,
): Promise<MemberRow> {
  return tx
    .updateTable("members")
    .set(values)
    .where("workspace_id", "=", workspace_id)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Reserves an address in the whole service. False when it has an account or a pending invitation. */
export async function takeEmail(
  tx: Db,
  email: string,
  { workspace_id, id }: Pick<MemberRow, "workspace_id" | "id">,
): Promise<boolean> {
  const taken = await tx
    .insertInto("member_emails")
    .values({ email, workspace_id, member_id: id })
    .onConflict((conflict) => conflict.constraint("member_emails_pkey").doNothing())
    .returning("email")
    .executeTakeFirst();
  return taken !== undefined;
}

export async function releaseEmail(tx: Db, { workspace_id, id, email }: MemberRow): Promise<void> {
  await tx
    .deleteFrom("member_emails")
    .where("email", "=", email)
    .where("workspace_id", "=", workspace_id)
    .where("member_id", "=", id)
    .execute();
}

/**
 * Deletes a locked member for good, with passkeys. What the member made stays, without its maker. The challenges stay too,
 * without their address, because they count against what a workspace may mail in a day.
 */
export async function deleteMember(tx: Db, { workspace_id: workspaceId, id }: MemberRow): Promise<void> {
  await sql`
    with files as (update media set uploaded_by = null where workspace_id = ${workspaceId} and uploaded_by = ${id}),
      tokens as (update workspace_tokens set created_by = null
        where workspace_id = ${workspaceId} and created_by = ${id}),
      slack as (update slack_integrations set created_by = null
        where workspace_id = ${workspaceId} and created_by = ${id}),
      passkeys as (delete from member_passkeys where workspace_id = ${workspaceId} and member_id = ${id}),
      challenges as (update member_challenges set email = ''
        where workspace_id = ${workspaceId} and member_id = ${id}),
      notices as (delete from dismissed_notices where workspace_id = ${workspaceId} and member_id = ${id})
    delete from members where workspace_id = ${workspaceId} and id = ${id}`.execute(tx);
}

/** Queues mails; they are sent when the transaction commits, and only then. */
export async function queueMails(
  tx: Db,
  jobCall: Deps["jobCall"],
  orders: readonly QueuedJobs["send-mail"][],
): Promise<void> {
  for (const order of orders) await sql`select ${jobCall("send-mail", order)}`.execute(tx);
}
