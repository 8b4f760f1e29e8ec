import type { Selectable } from "kysely";
import type { MemberRole, Members } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";
import { lruCache } from "../lib/lru-cache.ts";
import type { Session } from "./sessions.ts";

/** What the member row says about sessions. */
export interface Standing {
  readonly role: MemberRole;
  readonly isSuspended: boolean;
  readonly epoch: number;
  /** The session that a member kept when a new password ended the others. */
  readonly keptSessionId: string | null;
  readonly endedSessionIds: readonly string[];
}

type Member = Pick<Session, "workspaceId" | "memberId">;

/** What this process knows of the members who call. */
export interface Standings {
  /** The standing of a member, at most 5 s old; undefined for a deleted one. Rejects when the database is away. */
  of(member: Member): Promise<Standing | undefined>;
  /** Makes a change of a member effective in this process at once; call it after the commit. */
  forget(member: Member): void;
}

export interface StandingsDeps {
  readonly db: Db;
  readonly now: () => Date;
}

interface Known {
  readonly askedAtMs: number;
  readonly standing: Promise<Standing | undefined>;
}

/** Changes of a member are effective on every process within 5 s (behaviour 2.1). */
const ageMaxMs = 5_000;

const knownMax = 10_000;

/** Keeps the standing of members for 5 s: one statement for each member in that time, shared by all who ask meanwhile. */
export function createStandings({ db, now }: StandingsDeps): Standings {
  const known = lruCache<Known>(knownMax);

  function ask(member: Member, askedAtMs: number): Known {
    const key = keyOf(member);
    const standing = readStanding(db, member);
    const entry = { askedAtMs, standing };
    known.set(key, entry);
    // A failure is not kept: the next caller asks again.
    standing.catch(() => {
      if (known.peek(key) === entry) known.delete(key);
    });
    return entry;
  }

  return {
    of(member) {
      const nowMs = now().getTime();
      const entry = known.get(keyOf(member));
      const isYoung = entry !== undefined && Math.abs(nowMs - entry.askedAtMs) < ageMaxMs;
      return (isYoung ? entry : ask(member, nowMs)).standing;
    },
    forget: (member) => known.delete(keyOf(member)),
  };
}

function keyOf({ workspaceId, memberId }: Member): string {
  return `${workspaceId} ${memberId}`;
}

/** Reads the standing of a member from the database. */
export async function readStanding(db: Db, { workspaceId, memberId }: Member): Promise<Standing | undefined> {
  const row = await db
    .selectFrom("members")
    .select(["role", "access_revoked_at", "session_epoch", "kept_session_id", "ended_session_ids"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", memberId)
    .executeTakeFirst();
  return row && standingOf(row);
}

type StandingRow = Pick<
  Selectable<Members>,
  "role" | "access_revoked_at" | "session_epoch" | "kept_session_id" | "ended_session_ids"
>;

/** The standing that a member's row tells. */
export function standingOf(row: StandingRow): Standing {
  return {
    role: row.role,
    isSuspended: row.access_revoked_at !== null,
    epoch: row.session_epoch,
    keptSessionId: row.kept_session_id,
    endedSessionIds: row.ended_session_ids,
  };
}

/** Whether a session goes on, as far as its member is concerned. */
export function isOpen(
  session: Pick<Session, "sessionId" | "epoch">,
  standing: Standing | undefined,
): standing is Standing {
  if (standing === undefined || standing.isSuspended) return false;
  if (standing.endedSessionIds.includes(session.sessionId)) return false;
  return session.epoch === standing.epoch || session.sessionId === standing.keptSessionId;
}
