import { type RawBuilder, sql } from "kysely";

/**
 * The SQL condition of a member who can administer the workspace now: not suspended, and not pending. An invited person who
 * has yet to accept administers nothing.
 */
export const isActiveAdmin: RawBuilder<boolean> = sql<boolean>`(role = 'ADMIN' and access_revoked_at is null
  and (password_hash is not null or email_verified_at is not null))`;
