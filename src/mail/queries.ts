import { sql } from "kysely";
import type { Environment } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";

/** What a mail is written from, beside its facts. */
export interface Recipient {
  readonly workspace: string;
  readonly environment: Environment;
  readonly timezone: string;
  readonly isDeleted: boolean;
  /** Null when the member is gone, like the two below. */
  readonly memberId: string | null;
  readonly firstName: string | null;
  readonly displayLanguage: string | null;
  /** Whether the challenge can still be met; null when there is none. */
  readonly isOpen: boolean | null;
}

/** The recipient of a mail, and its challenge where it has one. Undefined when the workspace is gone. */
export async function findRecipient(
  db: Db,
  { workspaceId, memberId }: { readonly workspaceId: string; readonly memberId: string },
  { challengeId, at }: { readonly challengeId: string | undefined; readonly at: Date },
): Promise<Recipient | undefined> {
  const { rows } = await sql<Recipient>`
    select w.name as workspace, w.environment, w.timezone,
      w.deleted_at is not null as "isDeleted", m.id as "memberId", m.first_name as "firstName",
      m.display_language as "displayLanguage",
      c.used_at is null and c.expires_at > ${at} as "isOpen"
    from workspaces w
    left join members m on m.workspace_id = w.id and m.id = ${memberId}
    left join member_challenges c on c.workspace_id = w.id and c.id = ${challengeId ?? null}
    where w.id = ${workspaceId}`.execute(db);
  return rows[0];
}
