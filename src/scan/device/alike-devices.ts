import { type RawBuilder, sql } from "kysely";

/** Bots and agents that look the same within this time are the same device; what they look like is of one day, too. */
export const matchMs = 24 * 60 * 60_000;

/** So many of the newest devices that look alike are candidates. While one of them is in use no other is made. */
const alikeMax = 32;

/** Visits of one workspace that look alike. */
interface Look {
  readonly workspaceId: string | RawBuilder<unknown>;
  readonly fingerprint: RawBuilder<unknown>;
  /** When the first and the last of the visits were made. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The device that visits of a bot or agent were made with: of those that look alike, the one last used at about that time. */
export function deviceAlike({ workspaceId, fingerprint, fromMs, toMs }: Look): RawBuilder<unknown> {
  return sql`select * from (
      select * from devices
      where workspace_id = ${workspaceId} and fingerprint = ${fingerprint}
      order by id desc limit ${alikeMax}) as alike
    where last_used_at between to_timestamp(${(fromMs - matchMs) / 1_000}::float8)
      and to_timestamp(${(toMs + matchMs) / 1_000}::float8)
    order by last_used_at desc limit 1`;
}
