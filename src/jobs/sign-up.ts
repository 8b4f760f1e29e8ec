import { type Db, inTransaction } from "../db/open.ts";
import { CallError } from "../lib/errors.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import { mailReset } from "../people/asked-mails.ts";
import type { QueueMail } from "../people/sign-in-code.ts";

export interface SignUpDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly queueMail: QueueMail;
  /** Makes a workspace whose first member has no password yet. Throws EMAIL_ALREADY_REGISTERED. */
  readonly createWorkspace: (db: Db, order: QueuedJobs["sign-up"]) => Promise<unknown>;
}

/**
 * Makes the workspace that somebody asked for. Its administrator has no password: the mailed link sets it and so
 * confirms the address. When the address has an account, it gets a link to that one instead.
 */
export function signUp({
  createWorkspace,
  ...deps
}: SignUpDeps): (order: QueuedJobs["sign-up"]) => Promise<void> {
  return async (order) => {
    try {
      await inTransaction(deps.db, (tx) => createWorkspace(tx, order));
    } catch (error) {
      const isKnown = error instanceof CallError && error.reason === "EMAIL_ALREADY_REGISTERED";
      if (!isKnown) throw error;
    }
    await mailReset(deps, order.email);
  };
}
