import type { Analytics } from "../../analytics/driver.ts";
import type { Db } from "../../db/open.ts";
import { historyStart } from "../../model/plans/entitlement.ts";
import type { Deps } from "../deps.ts";

type HistoryDeps = Pick<Deps, "entitlements" | "now">;

/** The time before which the plan of a workspace shows no events, if there is one. */
export async function shownSince(
  { entitlements, now }: HistoryDeps,
  workspaceId: string,
  db: Db,
): Promise<Date | undefined> {
  return historyStart(await entitlements.of(workspaceId, db), now());
}

/**
 * Analytics that count no visit from before the history of the plan. Intervals stay those that were asked for: the early
 * ones have no visits.
 */
export function shownAnalytics({
  analytics,
  ...deps
}: HistoryDeps & { readonly analytics: Analytics }): Analytics {
  return async (db, kind, question) => {
    const { scope } = question;
    const since = await shownSince(deps, scope.workspaceId, db);
    if (since === undefined) return analytics(db, kind, question);
    return analytics(db, kind, { ...question, scope: { ...scope, from: later(scope.from, since) } });
  };
}

/** The later of two beginnings, of which either may be open. */
export function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  return one !== undefined && (other === undefined || one > other) ? one : other;
}
