import { type RawBuilder, sql } from "kysely";

/**
 * The time in which bots or agents with one look count as the same device, in milliseconds. A look also holds for one
 * UTC day only.
 */
export const matchMs = 24 * 60 * 60_000;

/** The number of newest devices with one look that are candidates. While one of them is in use, no new one is made. */
const alikeMax = 32;

/** Visits of one workspace that look alike. */
interface Look {
  readonly workspaceId: string | RawBuilder<unknown>;
  readonly fingerprint: RawBuilder<unknown>;
  /** When the first and the last of the visits were made. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Selects the device of a bot's or agent's visits: of those with the same look, the one used last at about that time.
 */
export function deviceAlike({ workspaceId, fingerprint, fromMs, toMs }: Look): RawBuilder<unknown> {
  return sql`select * from (
      select * from devices
      where workspace_id = ${workspaceId} and fingerprint = ${fingerprint}
      order by id desc limit ${alikeMax}) as alike
    where last_used_at between to_timestamp(${(fromMs - matchMs) / 1_000}::float8)
      and to_timestamp(${(toMs + matchMs) / 1_000}::float8)
    order by last_used_at desc limit 1`;
}
