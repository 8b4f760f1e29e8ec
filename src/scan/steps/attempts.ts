import { returnPasswordAttempt, type Trier, takePasswordAttempt } from "../../db/password-attempts.ts";
import type { AskDatabase } from "./ask-database.ts";
import type { LocalAttempts } from "./local-attempts.ts";

/** Counts tries of passwords in the database. While the database does not answer in time, this process counts alone. */
export interface Attempts {
  /** Takes one try, and counts it as a wrong one. Returns 0, or the seconds to wait when no try is left. */
  take(trier: Trier, now: Date): Promise<number>;
  /** Gives back a try that was right, or that was never compared with the password. */
  giveBack(trier: Trier, now: Date): Promise<void>;
}

/**
 * This process counts each of its tries locally too, so that a visitor gets no extra tries when the database goes away.
 */
export function createAttempts(ask: AskDatabase, local: LocalAttempts): Attempts {
  return {
    async take(trier, now) {
      const { workspaceId } = trier;
      const counted = await ask(workspaceId, (db) => takePasswordAttempt(db, trier, now));
      const seconds = counted ?? local.secondsTo(trier, now);
      if (seconds === 0) local.count(trier, now);
      return seconds;
    },
    async giveBack(trier, now) {
      local.giveBack(trier, now);
      await ask(trier.workspaceId, (db) => returnPasswordAttempt(db, trier, now));
    },
  };
}
