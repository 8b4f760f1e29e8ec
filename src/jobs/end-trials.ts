import type { Db } from "../db/open.ts";
import { tellPlanChanges } from "../db/tell-plan-changes.ts";

/** Ends the subscription of workspaces whose trial is over. Their plan has ended with it, to the second. */
export async function endTrials(db: Db, at: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable("workspaces")
      .set({ subscription_type: "UNSPECIFIED", updated_at: at })
      .where("subscription_type", "=", "FREE_TRIAL")
      .where("trial_ends_at", "<=", at)
      .returning("id")
      .execute();
    await tellPlanChanges(
      tx,
      ended.map(({ id }) => id),
    );
  });
}
