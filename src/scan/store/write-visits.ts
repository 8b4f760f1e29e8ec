import { type Selectable, sql } from "kysely";
import pg from "pg";
import type { Workspaces } from "../../../gen/database.ts";
import { plainArray } from "../../db/array-literal.ts";
import { isLostRace, untilUndisturbed } from "../../db/lost-races.ts";
import type { Db } from "../../db/open.ts";
import { type Entitlement, entitlementOf, type WorkspaceFacts } from "../../model/plans/entitlement.ts";
import type { PlanTable } from "../../model/plans/plan-table.ts";
import { type Listener, listenersOfWorkspace, queueSteps } from "../../outbox/queue-steps.ts";
import { shareRollUps } from "../../visitors/roll-ups.ts";
import { markVisits, type SealedVisit } from "../../visitors/segment-marks.ts";
import { type AttributeToSave, saveVisitorAttributes } from "../../visitors/visitor-attributes.ts";
import { foldLinks, foldVisitors } from "./fold-visits.ts";
import { numberVisits } from "./number-visits.ts";
import { resolveDevices } from "./resolve-devices.ts";
import type { ResolvedVisit } from "./resolved-visit.ts";
import { scoreVisits } from "./score-visits.ts";
import type { VisitFacts } from "./visit-facts.ts";
import { visitTypes } from "./visit-types.ts";
import { BatchRace, writeDevices } from "./write-devices.ts";
import { insertEvents, insertVisitsUnderWay } from "./write-events.ts";
import { completedAtFirst, insertTraces, savedOn } from "./write-traces.ts";

/** Where visits are stored, by which plans and when. */
export interface VisitStore {
  readonly db: Db;
  readonly plans: PlanTable;
  readonly now: Date;
}

/** What became of a batch. */
export interface Written {
  readonly written: number;
  /** Visits of workspaces that do not exist any more. */
  readonly dropped: number;
}

/**
 * Writes a batch of visits in one transaction: devices, visitors, events, traces, roll-ups and who is told of them. Visits beyond the limit
 * of a plan are locked. Each visit is written once, however often and by however many drains it is given. Rejects when
 * the database is away, or when a visit cannot be stored as it is.
 */
export async function writeVisits(
  { db, plans, now }: VisitStore,
  batch: readonly VisitFacts[],
): Promise<Written> {
  // In order of arrival, each once.
  const visits = [...new Map(batch.map((facts) => [placeOf(facts), facts])).values()].sort((a, b) =>
    a.visit.id < b.visit.id ? -1 : 1,
  );
  return untilUndisturbed(
    (attempt) => db.transaction().execute((tx) => writeOnce({ db: tx, plans, now }, visits, attempt > 1)),
    isRace,
  );
}

function placeOf({ visit }: VisitFacts): string {
  return `${visit.workspaceId}/${visit.id}`;
}

function isRace(error: unknown): boolean {
  return error instanceof BatchRace || isLostRace(error) || isWrittenAlready(error);
}

/**
 * Whether the key of an event, a trace (in any partition) or a cookie is taken. Then nothing is wrong with the visit.
 */
function isWrittenAlready(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  const { code, constraint = "" } = error;
  return code === "23505" && /^(?:(?:events|traces)_\w+|device_cookies)_pkey$/.test(constraint);
}

/**
 * The sealer finds workspaces with many open visits by marks, which visits with such an id leave. The ends of ids are
 * random, so that is one in 4,096.
 */
const markedEnd = "000";

/** The visits whose segments are sealed already, and sometimes another one. */
function toMark(
  counted: readonly ResolvedVisit[],
  living: ReadonlyMap<string, LivingWorkspace>,
): SealedVisit[] {
  return counted.flatMap(({ facts: { visit } }) => {
    const { workspaceId, id, atMs } = visit;
    const sealedThrough = living.get(workspaceId)?.sealedThrough;
    const isLate = sealedThrough !== undefined && atMs < sealedThrough.getTime();
    return isLate || id.endsWith(markedEnd) ? [{ workspaceId, at: new Date(atMs) }] : [];
  });
}

/** Looks for visits that are already written only after an attempt has failed, as happens after a crash. */
async function writeOnce(
  { db: tx, plans, now }: VisitStore,
  batch: readonly VisitFacts[],
  looksFirst: boolean,
): Promise<Written> {
  const workspaceIds = [...new Set(batch.map(({ visit }) => visit.workspaceId))];
  await shareRollUps(workspaceIds).execute(tx);
  // A visit belongs to the plan of the time when it came.
  const living = await livingWorkspaces(tx, workspaceIds, (facts) =>
    entitlementOf(plans, facts, new Date(batch.at(-1)?.visit.atMs ?? 0)),
  );
  const known = batch.filter(({ visit }) => living.has(visit.workspaceId));
  const written = looksFirst ? await writtenEvents(tx, known) : new Set<string>();
  const unwritten = known.filter((facts) => !written.has(placeOf(facts)));
  const { kept: visits, locks, addOthers } = await numberVisits(tx, unwritten, living);
  const dropped = batch.length - known.length + unwritten.length - visits.length;
  const result = { written: visits.length, dropped };
  if (visits.length === 0) return result;

  const devices = await resolveDevices(tx, visits, { looksForNewCookies: looksFirst });
  await writeDevices(tx, devices);
  const types = await visitTypes(tx, visits, devices.of);
  const resolved = visits.flatMap((facts, index): ResolvedVisit | [] => {
    const device = devices.of[index];
    if (device === undefined) return [];
    return {
      facts,
      device,
      visitorId: facts.hasVisitor ? device.visitorId : "",
      visitType: types[index] ?? "FIRST",
      lock: locks.get(facts),
      previousVisits: undefined,
      score: undefined,
    };
  });
  const counted = resolved.filter(({ facts, lock }) => facts.counted && lock === undefined);
  await foldVisitors(tx, counted);
  await scoreVisits(tx, counted, living);
  await insertEvents(tx, resolved, now);
  await insertTraces(tx, resolved, looksFirst);
  await insertVisitsUnderWay(tx, resolved);
  await saveVisitorAttributes(tx, resolved.flatMap(savedBy));
  await foldLinks(tx, counted);
  await markVisits(tx, toMark(counted, living));
  await queueSteps(tx, counted.map(completedAtFirst), {
    listenersOf: (workspaceId) => living.get(workspaceId)?.listeners ?? [],
    at: now,
  });
  await addOthers();
  return result;
}

function savedBy(resolved: ResolvedVisit): AttributeToSave[] {
  const { facts, visitorId } = resolved;
  const { workspaceId, atMs } = facts.visit;
  return savedOn(resolved).map(({ stepId: _, ...attribute }) => ({
    ...attribute,
    workspaceId,
    visitorId,
    atMs,
  }));
}

interface LivingWorkspace extends Entitlement {
  /** Visits before this time may be in segments. */
  readonly sealedThrough: Date | undefined;
  readonly listeners: readonly Listener[];
}

interface LivingRow
  extends Pick<
    Selectable<Workspaces>,
    "id" | "environment" | "subscription_type" | "trial_ends_at" | "timezone" | "sealed_through"
  > {
  readonly is_inactive: boolean;
  readonly listeners: readonly Listener[] | null;
}

/**
 * The workspaces among these that are not being purged, by id, with their entitlement. A visit reactivates an inactive
 * workspace.
 */
async function livingWorkspaces(
  tx: Db,
  ids: readonly string[],
  entitlement: (facts: WorkspaceFacts) => Entitlement,
): Promise<ReadonlyMap<string, LivingWorkspace>> {
  // The caps of a sandbox do not depend on its parent's plan.
  const { rows } = await sql<LivingRow>`
    select id, environment, subscription_type, trial_ends_at, timezone, sealed_through,
      inactive_since is not null as is_inactive, ${listenersOfWorkspace} as listeners
    from workspaces
    where id = any(${plainArray(ids)}::uuid[]) and purge_began_at is null`.execute(tx);
  const inactive = rows.filter((row) => row.is_inactive).map(({ id }) => id);
  if (inactive.length > 0) {
    await sql`update workspaces set inactive_since = null where id in
      (select id from workspaces where id = any(${plainArray(inactive)}::uuid[]) order by id for no key update)`.execute(
      tx,
    );
  }
  return new Map(
    rows.map(({ id, subscription_type, trial_ends_at, sealed_through, listeners, ...row }) => {
      const facts = { ...row, subscriptionType: subscription_type, trialEndsAt: trial_ends_at };
      const more = { sealedThrough: sealed_through ?? undefined, listeners: listeners ?? [] };
      return [id, { ...entitlement(facts), ...more }];
    }),
  );
}

async function writtenEvents(tx: Db, visits: readonly VisitFacts[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ place: string }>`
    select e.workspace_id || '/' || e.id as place from unnest(${plainArray(visits.map(({ visit }) => visit.workspaceId))}::uuid[],
      ${plainArray(visits.map(({ visit }) => visit.id))}::uuid[]) as given (workspace_id, id)
    join events e on e.workspace_id = given.workspace_id and e.id = given.id`.execute(tx);
  return new Set(rows.map(({ place }) => place));
}
