import { type Selectable, sql } from "kysely";
import type { Workspaces } from "../../gen/database.ts";
import type { Db } from "../db/open.ts";
import { uuidFromTime } from "../lib/ids.ts";

/** A workspace is inactive after this time without a sign-in, a visit or an API call, in milliseconds. */
const inactiveMs = 90 * 24 * 60 * 60 * 1000;

export interface NoteInactivityDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** How many workspaces one statement looks at; 500 when absent. */
  readonly batchSize?: number;
}

/**
 * Marks the workspaces in which nothing has happened for 90 days. Whoever stores a visit or signs a member in takes the
 * mark off again. The last uses of tokens are exact to the minute, and visits are found by their ids, which are in the
 * order of time.
 */
export async function noteInactivity(
  { db, now, batchSize = 500 }: NoteInactivityDeps,
  signal?: AbortSignal,
): Promise<void> {
  const at = now();
  let after = uuidFromTime(new Date(0));
  while (signal?.aborted !== true) {
    const last = await noteSome(db, { at, after, limit: batchSize });
    if (last === undefined) return;
    after = last;
  }
}

interface Portion {
  readonly at: Date;
  /** The last workspace of the portion before. */
  readonly after: string;
  readonly limit: number;
}

/** Looks at the next workspaces by id. Returns the last one; undefined when there are no more. */
async function noteSome(db: Db, { at, after, limit }: Portion): Promise<string | undefined> {
  const since = new Date(at.getTime() - inactiveMs);
  const { rows } = await sql<Pick<Selectable<Workspaces>, "id">>`
    with portion as (
        select id, created_at, inactive_since, deleted_at from workspaces where id > ${after}
        order by id limit ${limit}),
      noted as (
        update workspaces w set inactive_since = ${at} from portion p
        where w.id = p.id and w.inactive_since is null and p.inactive_since is null and p.deleted_at is null
          and p.created_at <= ${since}
          and not exists (select from workspace_tokens t where t.workspace_id = w.id and t.last_used_at > ${since})
          and not exists (select from members m where m.workspace_id = w.id and m.last_signin_at > ${since})
          and not exists (select from events e where e.workspace_id = w.id and e.id >= ${uuidFromTime(since)}))
    select id from portion order by id desc limit 1`.execute(db);
  return rows[0]?.id;
}
