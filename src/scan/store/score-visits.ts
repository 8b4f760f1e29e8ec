import { sql } from "kysely";
import { plainArray } from "../../db/array-literal.ts";
import type { Db } from "../../db/open.ts";
import type { Entitlement } from "../../model/plans/entitlement.ts";
import { type LeadScore, leadScoreOf } from "../../model/visitors/lead-score.ts";
import { takeLeadScores } from "../../visitors/lead-score-quota.ts";
import type { ResolvedVisit } from "./resolved-visit.ts";

/**
 * Scores counted visits that ended with their first request, as far as the plans allow it; those under way are scored
 * when they end. Visits of sandboxes get no score.
 */
export async function scoreVisits(
  tx: Db,
  visits: readonly ResolvedVisit[],
  entitlements: ReadonlyMap<string, Entitlement>,
): Promise<void> {
  const scorable = visits.flatMap((resolved) => {
    const { workspaceId, outcome, atMs } = resolved.facts.visit;
    const entitlement = entitlements.get(workspaceId);
    if (entitlement === undefined || entitlement.isSandbox || outcome === "IN_PROGRESS") return [];
    return [{ resolved, workspaceId, entitlement, endedAt: new Date(atMs) }];
  });
  const scored = await takeLeadScores(tx, scorable, (one) => one);
  const ended = scored.map(({ resolved }) => resolved);
  const purposes = await findPurposes(tx, ended);
  for (const visit of ended) visit.score = scoreOf(visit, purposes.get(placeOf(visit)) ?? "");
}

function scoreOf({ facts, device, previousVisits }: ResolvedVisit, purpose: string): LeadScore {
  const { atMs, stepsReached, stepsTotal, level } = facts.visit;
  // A score must follow from what the level keeps.
  const { platformName, platformVersion, browserName, browserVersion } =
    level === "NONE" ? nothingKept : facts.classification;
  return leadScoreOf({
    at: new Date(atMs),
    // Every step that was reached without an answer is complete.
    stepsCompleted: stepsReached,
    stepsTotal,
    secondsOnPages: 0,
    platformName,
    platformVersion,
    browserName,
    browserVersion,
    country: device.country,
    previousVisits,
    ratings: [],
    purpose,
  });
}

const nothingKept = { platformName: "", platformVersion: "", browserName: "", browserVersion: "" };

/** The key of a link among those of all workspaces. Clients choose the ids of links, so an id alone is not enough. */
function placeOf({ facts: { visit } }: ResolvedVisit): string {
  return `${visit.workspaceId}/${visit.linkId}`;
}

/** What the links are for, by `placeOf`, where their owners say so. */
async function findPurposes(tx: Db, visits: readonly ResolvedVisit[]): Promise<ReadonlyMap<string, string>> {
  const links = [...new Map(visits.map((visit) => [placeOf(visit), visit.facts.visit])).values()];
  if (links.length === 0) return new Map();
  const { rows } = await sql<{ place: string; purpose: string }>`
    select l.workspace_id || '/' || l.id as place, l.purpose
    from unnest(${plainArray(links.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(links.map(({ linkId }) => linkId))}::uuid[])
        as given (workspace_id, id)
      join links l on l.workspace_id = given.workspace_id and l.id = given.id
    where l.purpose <> ''`.execute(tx);
  return new Map(rows.map(({ place, purpose }) => [place, purpose]));
}
