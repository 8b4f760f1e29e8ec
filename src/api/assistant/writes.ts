import { sql } from "kysely";
import type { Offer } from "../../assistant/offers.ts";
import { shownRequest } from "../../assistant/offers.ts";
import type { Db } from "../../db/open.ts";
import { type Charge, chargeFor } from "../resources/credit-queries.ts";
import { isOf, type MessageRow, messagesMax, type Place, type Sender, waitingMax } from "./queries.ts";

/** Deletes a conversation, and what it offers. */
export async function deleteConversation(tx: Db, place: Place): Promise<void> {
  await sql`with offer as (delete from assistant_proposals where ${isOf(place)})
    delete from assistant_messages where ${isOf(place)}`.execute(tx);
}

/** Marks the assistant's messages as read, and returns how many they were. */
export async function markRead(db: Db, place: Place, at: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`update assistant_messages set read_at = ${at}
    where ${isOf(place)} and not is_from_user and read_at is null`.execute(db);
  return Number(numAffectedRows);
}

/**
 * Counts a message of a minute. Returns false when the workspace has sent as many as it may. A clock that is behind counts for
 * the minute of the clock that is ahead.
 */
export async function takeFromMinute(
  db: Db,
  workspaceId: string,
  { minute, allowed }: { readonly minute: Date; readonly allowed: number },
): Promise<boolean> {
  const { rows } = await sql`
    insert into assistant_minutes as m (workspace_id, minute, used)
    select ${workspaceId}, ${minute}, 1 where ${allowed}::int > 0
    on conflict (workspace_id) do update set minute = greatest(m.minute, excluded.minute),
      used = case when excluded.minute > m.minute then 1 else m.used + 1 end
      where excluded.minute > m.minute or m.used < ${allowed}
    returning used`.execute(db);
  return rows.length > 0;
}

type NewMessage = Pick<
  MessageRow,
  "id" | "text" | "attachments" | "ui_actions" | "is_tainted" | "caller_id" | "created_at"
>;

/** A message and its answer. */
export interface Exchange {
  readonly question: NewMessage;
  readonly answer: NewMessage;
}

/** Stores a message with its answer, and charges for it. Only the last messages of a conversation are kept. */
export async function storeExchange(
  tx: Db,
  place: Place,
  { question, answer }: Exchange,
  charge: Charge | undefined,
): Promise<void> {
  const { workspaceId, subject, recordId } = place;
  const row = (
    message: NewMessage,
    isFromUser: boolean,
  ) => sql`(${workspaceId}, ${subject}::assistant_context,
    ${recordId}, ${message.id}, ${isFromUser}, ${message.text}, ${message.attachments}, ${message.ui_actions},
    ${message.is_tainted}, ${message.caller_id}, ${message.created_at})`;
  const charging = charge === undefined ? sql.raw("") : sql`, ${chargeFor(charge)}`;
  const counting = sql.raw(charge === undefined ? "" : ", (select count(*) from mail)");
  await sql`
    with made as (
      insert into assistant_messages (workspace_id, context_type, context_id, id, is_from_user, text, attachments,
        ui_actions, is_tainted, caller_id, created_at)
      values ${row(question, true)}, ${row(answer, false)}
      returning workspace_id)
    ${charging}
    select workspace_id ${counting} from made`.execute(tx);
  await sql`delete from assistant_messages where ${isOf(place)} and place <= (
    select place from assistant_messages where ${isOf(place)} order by place desc offset ${messagesMax} limit 1)`.execute(
    tx,
  );
}

/** How long an offer can be confirmed, in milliseconds. */
const offeredMs = 15 * 60 * 1000;

/** Stores offers for the caller who gets the answer with their buttons. */
export async function storeOffers(
  tx: Db,
  place: Place,
  {
    callerId,
    at,
    offers,
  }: {
    readonly callerId: string;
    readonly at: Date;
    readonly offers: readonly (Offer & { readonly id: string })[];
  },
): Promise<void> {
  const { workspaceId, subject, recordId } = place;
  await sql`delete from assistant_proposals where workspace_id = ${workspaceId} and expires_at <= ${at}`.execute(
    tx,
  );
  for (const { id, tool, request } of offers)
    await sql`insert into assistant_proposals
        (workspace_id, id, context_type, context_id, caller_id, tool, request, expires_at)
      values (${workspaceId}, ${id}, ${subject}::assistant_context, ${recordId}, ${callerId}, ${tool},
        ${shownRequest(request)}, ${new Date(at.getTime() + offeredMs)})`.execute(tx);
}

/** Takes an offer out, so that nobody else does. Undefined when this caller has no such offer in this conversation. */
export async function takeOffer(
  db: Db,
  place: Place,
  { id, callerId, at }: { readonly id: string; readonly callerId: string; readonly at: Date },
): Promise<{ readonly tool: string; readonly request: string } | undefined> {
  const { rows } = await sql<{ tool: string; request: string }>`
    delete from assistant_proposals where ${isOf(place)} and id = ${id} and caller_id = ${callerId}
      and expires_at > ${at}
    returning tool, request`.execute(db);
  return rows[0];
}

export interface NewUpload extends Sender {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly content: Uint8Array;
  readonly at: Date;
  readonly expiresAt: Date;
}

/** Stores a file for the sender's next message. Returns false when too much waits already. */
export async function storeUpload(db: Db, upload: NewUpload): Promise<boolean> {
  const { workspaceId, callerId, id, name, mimeType, content, at, expiresAt } = upload;
  const { rows } = await sql`
    with gone as (delete from assistant_uploads where workspace_id = ${workspaceId} and expires_at <= ${at}),
      waiting as (select count(*) as files, coalesce(sum(length(content)), 0) as bytes from assistant_uploads
        where workspace_id = ${workspaceId} and caller_id = ${callerId} and expires_at > ${at})
    insert into assistant_uploads (workspace_id, caller_id, id, name, mime_type, content, expires_at)
    select ${workspaceId}, ${callerId}, ${id}, ${name}, ${mimeType}, ${Buffer.from(content)}::bytea, ${expiresAt}
    from waiting where files < ${waitingMax.files} and bytes + ${content.length}::int <= ${waitingMax.bytes}
    returning id`.execute(db);
  return rows.length > 0;
}

/** Deletes the files that a message has taken. */
export async function deleteUploads(
  tx: Db,
  { workspaceId, callerId }: Sender,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from assistant_uploads
    where workspace_id = ${workspaceId} and caller_id = ${callerId} and id = any(${ids})`.execute(tx);
}
