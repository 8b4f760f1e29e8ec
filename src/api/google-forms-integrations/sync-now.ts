import { beginRunOf } from "../../integrations/google-forms/runs.ts";
import { type SyncDeps, sync } from "../../integrations/google-forms/sync.ts";
import { fail } from "../../lib/errors.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { findIntegration } from "./queries.ts";
import { disconnected, noAnswer, notConfigured, notConnected, paused, tooManyRequests } from "./refusals.ts";

interface Answer {
  readonly responsesSynced: bigint;
  readonly visitorsEnriched: bigint;
}

/** How long a call fetches, in milliseconds. The job goes on with the rest. */
const fetchMsMax = 20_000;

/** Fetches new responses of the caller's forms, and answers what this run did. */
export async function syncNow(
  deps: Omit<SyncDeps, "db" | "google"> & { readonly google: SyncDeps["google"] | undefined },
  context: Context,
): Promise<Answer> {
  const { workspaceId } = callerOf(context);
  const { db } = context;
  const stored = await findIntegration(db, workspaceId);
  if (stored === undefined) throw notConnected();
  if (stored.status === "PAUSED") throw paused();
  if (stored.status === "DISCONNECTED") throw disconnected();
  const { google, now } = deps;
  if (google === undefined) throw notConfigured();
  const run = await beginRunOf(db, workspaceId, now());
  if (run === undefined)
    throw fail("ABORTED", "ABORTED", "responses are being fetched already; try again in a minute", {
      retryAfterSeconds: 60,
    });
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(fetchMsMax)]);
  const { responses, visitors, fault, hasFetched } = await sync({ ...deps, google, db }, run, signal);
  if (fault?.kind === "grant") throw disconnected();
  // What was fetched is told, and the integration tells what went wrong besides.
  if (fault?.kind === "quota" && !hasFetched) throw tooManyRequests(fault.retryAfterSeconds);
  if (fault !== undefined && !hasFetched) throw noAnswer();
  return { responsesSynced: BigInt(responses), visitorsEnriched: BigInt(visitors) };
}
