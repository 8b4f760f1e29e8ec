import { beginDueRun } from "../../integrations/google-forms/runs.ts";
import { type SyncDeps, sync } from "../../integrations/google-forms/sync.ts";

/** How many workspaces are fetched at the same time: the job mostly waits for Google. */
const runsMax = 4;

/**
 * Fetches responses for every workspace whose turn it is. A workspace with many of them has a short run at a time, and
 * then the others have theirs. Ended early, it goes on with its next run.
 */
export async function fetchFormResponses(
  deps: Omit<SyncDeps, "google"> & { readonly google: SyncDeps["google"] | undefined },
  signal?: AbortSignal,
): Promise<void> {
  const { google } = deps;
  if (google === undefined) return;
  const failures: unknown[] = [];
  const takeTurns = async () => {
    while (signal?.aborted !== true) {
      const run = await beginDueRun(deps.db, deps.now());
      if (run === undefined) return;
      // One workspace that fails does not hold up the others. Its run ends by itself after a minute.
      await sync({ ...deps, google }, run, signal).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: runsMax }, takeTurns));
  if (failures.length > 0) throw failures[0];
}
