import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { uuidFromTime } from "../lib/ids.ts";
import { type Session, sessionLifeMs } from "./sessions.ts";

/** The most sign-outs of single sessions that a member row remembers; one more ends all sessions of the member. */
const endedMax = 50;

/** Ends all sessions of a member, or all but one, within 5 s on every process. Call `Standings.forget` after the commit. */
export async function endSessions(
  db: Db,
  { workspaceId, memberId }: Pick<Session, "workspaceId" | "memberId">,
  keptSessionId: string | null = null,
): Promise<void> {
  await db
    .updateTable("members")
    .set((eb) => ({
      session_epoch: eb("session_epoch", "+", 1),
      kept_session_id: keptSessionId,
      ended_session_ids: [],
    }))
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", memberId)
    .execute();
}

/** Ends one session. The row forgets the ended sessions that have expired since; the ids tell their time. */
export async function endSession(
  db: Db,
  { workspaceId, memberId, sessionId }: Pick<Session, "workspaceId" | "memberId" | "sessionId">,
  at: Date,
): Promise<void> {
  const oldest = uuidFromTime(new Date(at.getTime() - sessionLifeMs));
  await sql`
    update members m set (session_epoch, kept_session_id, ended_session_ids) = (
      select m.session_epoch + is_full::int, case when not is_full then nullif(m.kept_session_id, ${sessionId}) end,
        case when is_full then '{}' else ids end
      from (select ids, cardinality(ids) > ${endedMax} as is_full from (
        select array(select id from unnest(m.ended_session_ids) as id where id >= ${oldest} and id <> ${sessionId})
          || ${sessionId}::uuid as ids) as ended) as judged)
    where workspace_id = ${workspaceId} and id = ${memberId}`.execute(db);
}
