import { type RawBuilder, sql } from "kysely";

/** Without a cookie, the same address, browser and language within this time are the same device. */
export const matchMs = 30 * 60_000;

/**
 * So many of the newest devices that look alike are candidates. While one of them is in use no other is made for want of
 * a cookie, so more would only be those that came with a cookie of their own.
 */
const alikeMax = 32;

/** Visits of one workspace that look alike. */
interface Look {
  readonly workspaceId: string | RawBuilder<unknown>;
  readonly fingerprint: RawBuilder<unknown>;
  /** When the first and the last of them were made. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The device that visits without a cookie were made with: of those that look alike, the one last used at about that time. */
export function deviceAlike({ workspaceId, fingerprint, fromMs, toMs }: Look): RawBuilder<unknown> {
  return sql`select * from (
      select * from devices
      where workspace_id = ${workspaceId} and fingerprint = ${fingerprint}
      order by id desc limit ${alikeMax}) as alike
    where last_used_at between to_timestamp(${(fromMs - matchMs) / 1_000}::float8)
      and to_timestamp(${(toMs + matchMs) / 1_000}::float8)
    order by last_used_at desc limit 1`;
}
