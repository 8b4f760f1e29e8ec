import { returnPasswordAttempt, type Trier, takePasswordAttempt } from "../../db/password-attempts.ts";
import type { AskDatabase } from "./ask-database.ts";
import type { LocalAttempts } from "./local-attempts.ts";

/** Counts tries of passwords: by the database, or by this process alone where that does not answer in time. */
export interface Attempts {
  /** Takes one try, and counts it as a wrong one: 0, or in how many seconds there is another. */
  take(trier: Trier, now: Date): Promise<number>;
  /** Takes a try back that turned out to be right, or was never compared. */
  giveBack(trier: Trier, now: Date): Promise<void>;
}

/** Every try of this process is counted here as well, so that nobody has more tries when the database goes away. */
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
