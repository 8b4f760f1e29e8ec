import { type RawBuilder, type Selectable, sql } from "kysely";
import type { AssistantMessages } from "../../../gen/database.ts";
import type { Record, Subject } from "../../assistant/sub-assistants.ts";
import type { Db } from "../../db/open.ts";

export type MessageRow = Pick<
  Selectable<AssistantMessages>,
  | "id"
  | "is_from_user"
  | "text"
  | "attachments"
  | "ui_actions"
  | "is_tainted"
  | "caller_id"
  | "read_at"
  | "created_at"
>;

/** A conversation of a workspace. */
export interface Place {
  readonly workspaceId: string;
  readonly subject: Subject;
  readonly recordId: string;
}

/** How many messages of a conversation are kept. */
export const messagesMax = 200;

export function isOf({ workspaceId, subject, recordId }: Place): RawBuilder<unknown> {
  return sql`workspace_id = ${workspaceId} and context_type = ${subject}::assistant_context
    and context_id = ${recordId}`;
}

/** The last messages of a conversation, oldest first. */
export async function listMessages(db: Db, place: Place, limit: number): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select id, is_from_user, text, attachments, ui_actions, is_tainted, caller_id, read_at, created_at
    from assistant_messages where ${isOf(place)} order by place desc limit ${limit}`.execute(db);
  return rows.reverse();
}

/** The record that a conversation is about, if the workspace has it. */
export async function findRecord(
  db: Db,
  workspaceId: string,
  { subject, id }: { readonly subject: Subject; readonly id: string },
): Promise<Record | undefined> {
  const from = records[subject];
  const { rows } = await sql<{ id: string; link_id: string | null }>`
    select id, link_id from (${from(workspaceId)}) as record where id = ${id}`.execute(db);
  return rows[0] && { id: rows[0].id, linkId: rows[0].link_id ?? "" };
}

const ofLink = (workspaceId: string) =>
  sql`select id, id as link_id from living_links where workspace_id = ${workspaceId}`;

/** The records of a workspace that a subject can name. */
const records: { readonly [Name in Subject]: (workspaceId: string) => RawBuilder<unknown> } = {
  LINK: ofLink,
  WORKFLOW: ofLink,
  LINK_ANALYTICS: ofLink,
  LEAD_SCORE: (workspaceId) =>
    sql`select id, link_id from events where workspace_id = ${workspaceId} and locked_number is null`,
  ANALYTICS_DASHBOARD: (workspaceId) =>
    sql`select id, link_id from dashboards where workspace_id = ${workspaceId}`,
  QRCODE_DESIGN: (workspaceId) =>
    sql`select id, link_id from qrcode_designs where workspace_id = ${workspaceId}`,
  PAGE_THEME: (workspaceId) =>
    sql`select id, null::uuid as link_id from page_themes where workspace_id = ${workspaceId}`,
  WORKSPACE: (workspaceId) => sql`select id, null::uuid as link_id from workspaces where id = ${workspaceId}`,
};

/** What the assistant is told of a workspace. */
export async function findSurroundings(
  db: Db,
  workspaceId: string,
): Promise<{ readonly timezone: string; readonly purpose: string }> {
  const { rows } = await sql<{ timezone: string; purpose: string }>`
    select timezone, origin_purpose as purpose from workspaces where id = ${workspaceId}`.execute(db);
  return rows[0] ?? { timezone: "UTC", purpose: "" };
}

export type UploadRow = {
  readonly id: string;
  readonly name: string;
  readonly mime_type: string;
  readonly content: Buffer;
};

/** Whose uploads a message takes. */
export interface Sender {
  readonly workspaceId: string;
  readonly callerId: string;
}

/** How many files go with one message, and how many bytes they have together. */
export const waitingMax = { files: 5, bytes: 20 * 1024 * 1024 } as const;

/**
 * The files that wait for the sender's next message, oldest first. Files that came at the same moment may be too many, so that
 * the limits count here, too: the message after the next takes the rest.
 */
export async function listUploads(db: Db, { workspaceId, callerId }: Sender, at: Date): Promise<UploadRow[]> {
  const { rows } = await sql<UploadRow>`
    select id, name, mime_type, content from assistant_uploads join (
      select id, sum(octet_length(content)) over (order by id) as bytes from assistant_uploads
      where workspace_id = ${workspaceId} and caller_id = ${callerId} and expires_at > ${at}
      order by id limit ${waitingMax.files}) as waiting using (id)
    where workspace_id = ${workspaceId} and caller_id = ${callerId} and bytes <= ${waitingMax.bytes}
    order by id`.execute(db);
  return rows;
}
