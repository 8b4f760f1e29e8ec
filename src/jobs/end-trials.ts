import type { Db } from "../db/open.ts";

/** Ends the subscription of workspaces whose trial is over. Their plan has ended with it, to the second. */
export async function endTrials(db: Db, at: Date): Promise<void> {
  await db
    .updateTable("workspaces")
    .set({ subscription_type: "UNSPECIFIED", updated_at: at })
    .where("subscription_type", "=", "FREE_TRIAL")
    .where("trial_ends_at", "<=", at)
    .execute();
}
