import { sql } from "kysely";
import pg from "pg";
import type { Db } from "../db/open.ts";
import { shareRollUps } from "../db/roll-ups.ts";
import { plainArray, textArray } from "./array-literal.ts";
import { foldVisits } from "./fold-visits.ts";
import { type BatchDevice, resolveDevices } from "./resolve-devices.ts";
import type { VisitFacts } from "./visit-facts.ts";
import { type VisitType, visitTypes } from "./visit-types.ts";
import { BatchRace, writeDevices } from "./write-devices.ts";

/** What became of a batch. */
export interface Written {
  readonly written: number;
  /** Visits of workspaces that do not exist any more. */
  readonly dropped: number;
}

/** Each time around somebody else got further, so more than a few mean a bug. */
const attemptsMax = 8;

/**
 * Writes a batch of visits in one transaction, each once, however often and by however many it is written: devices,
 * visitors, events, traces and roll-ups. Rejects when the database is away, or a visit cannot be stored as it is.
 */
export async function writeVisits(db: Db, batch: readonly VisitFacts[]): Promise<Written> {
  // In order of arrival, each once.
  const visits = [...new Map(batch.map((facts) => [facts.visit.id, facts])).values()].sort((a, b) =>
    a.visit.id < b.visit.id ? -1 : 1,
  );
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute((tx) => writeOnce(tx, visits, attempt > 1));
    } catch (error) {
      if (!isRace(error) || attempt === attemptsMax) throw error;
    }
  }
}

function isRace(error: unknown): boolean {
  // Deadlock, and a serialization failure of a server that is set to it.
  if (error instanceof BatchRace) return true;
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === "40P01" || error.code === "40001" || isWrittenAlready(error);
}

/** A key of events, traces (in whichever partition) or cookies that is taken: nothing is wrong with the visit. */
function isWrittenAlready({ code, constraint = "" }: pg.DatabaseError): boolean {
  return code === "23505" && /^(?:(?:events|traces)_\w+|device_cookies)_pkey$/.test(constraint);
}

/** Whether some are written already is only looked at when that has turned out to be so, which is after a crash. */
async function writeOnce(tx: Db, batch: readonly VisitFacts[], looksFirst: boolean): Promise<Written> {
  // Plans must not depend on statistics, which are those of empty tables when the first visits arrive.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`.execute(
    tx,
  );
  const workspaceIds = [...new Set(batch.map(({ visit }) => visit.workspaceId))];
  await shareRollUps(workspaceIds).execute(tx);
  const living = await livingWorkspaces(tx, workspaceIds);
  const known = batch.filter(({ visit }) => living.has(visit.workspaceId));
  const written = looksFirst ? await writtenEvents(tx, known) : new Set<string>();
  const visits = known.filter(({ visit }) => !written.has(visit.id));
  const result = { written: visits.length, dropped: batch.length - known.length };
  if (visits.length === 0) return result;

  const devices = await resolveDevices(tx, visits, { looksForNewCookies: looksFirst });
  await writeDevices(tx, devices);
  const types = await visitTypes(tx, visits, devices.of);
  await insertEvents(tx, visits, devices.of, types);
  await insertTraces(tx, visits, types, looksFirst);
  await foldVisits(
    tx,
    visits.flatMap((facts, index) => {
      const device = devices.of[index];
      if (device === undefined || !facts.counted) return [];
      const { workspaceId, linkId, atMs } = facts.visit;
      const visitorId = visitorOf(facts, device);
      return {
        workspaceId,
        linkId,
        visitorId,
        atMs,
        visitType: types[index] ?? "FIRST",
        device: device.dimensions,
      };
    }),
  );
  return result;
}

async function livingWorkspaces(tx: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string; is_inactive: boolean }>`
    select id, inactive_since is not null as is_inactive from workspaces
    where id = any(${plainArray(ids)}::uuid[])`.execute(tx);
  const inactive = rows.filter((row) => row.is_inactive).map(({ id }) => id);
  if (inactive.length > 0) {
    await sql`update workspaces set inactive_since = null where id in
      (select id from workspaces where id = any(${plainArray(inactive)}::uuid[]) order by id for no key update)`.execute(
      tx,
    );
  }
  return new Set(rows.map(({ id }) => id));
}

async function writtenEvents(tx: Db, visits: readonly VisitFacts[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select e.id from unnest(${plainArray(visits.map(({ visit }) => visit.workspaceId))}::uuid[],
      ${plainArray(visits.map(({ visit }) => visit.id))}::uuid[]) as given (workspace_id, id)
    join events e on e.workspace_id = given.workspace_id and e.id = given.id`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

async function insertEvents(
  tx: Db,
  visits: readonly VisitFacts[],
  devices: readonly BatchDevice[],
  types: readonly VisitType[],
): Promise<void> {
  const plain = (read: (facts: VisitFacts) => string | number | boolean) => plainArray(visits.map(read));
  const texts = (read: (facts: VisitFacts) => string) => textArray(visits.map(read));
  const visitorIds = visits.map((facts, index) => visitorOf(facts, devices[index]));
  // Without "on conflict", which costs each visit something: one that is there already fails the batch, and is looked for then.
  await sql`
    insert into events (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, entrypoint,
      destination, destination_action, steps_total, steps_reached, last_step_id, last_step_action, outcome,
      ended_at, created_at, updated_at)
    select workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, entrypoint,
      destination, destination_action, steps_total, steps_reached, last_step_id, last_step_action, outcome,
      to_timestamp(at_ms / 1000), to_timestamp(at_ms / 1000), to_timestamp(at_ms / 1000)
    from unnest(
      ${plain(({ visit }) => visit.workspaceId)}::uuid[],
      ${plain(({ visit }) => visit.id)}::uuid[],
      ${plain(({ visit }) => visit.linkId)}::uuid[],
      ${plainArray(devices.map(({ id }) => id))}::uuid[],
      ${plainArray(visitorIds)}::uuid[],
      ${plain(({ visit }) => visit.action)}::action[],
      ${plainArray(types)}::visit_type[],
      ${plain(({ counted }) => counted)}::boolean[],
      ${texts(({ visit }) => visit.entrypoint)}::text[],
      ${texts(({ visit }) => visit.destination)}::text[],
      ${plain(destinationAction)}::event_action[],
      ${plain(({ visit }) => visit.stepsTotal)}::smallint[],
      ${plain(({ visit }) => visit.stepsReached)}::smallint[],
      ${plain(({ visit }) => visit.lastStepId)}::uuid[],
      ${plain(({ visit }) => visit.lastStepAction)}::event_action[],
      ${plain(({ visit }) => visit.outcome)}::journey_outcome[],
      ${plain(({ visit }) => visit.atMs)}::float8[])
      as given (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, entrypoint,
        destination, destination_action, steps_total, steps_reached, last_step_id, last_step_action, outcome, at_ms)`.execute(
    tx,
  );
}

function visitorOf({ hasVisitor }: VisitFacts, device: BatchDevice | undefined): string {
  return hasVisitor ? (device?.visitorId ?? "") : "";
}

/** A fallback counts as a redirect, also where it leads nowhere. */
function destinationAction({ visit }: VisitFacts): string {
  return visit.outcome === "COMPLETED" ? visit.lastStepAction : "CLIENT_REDIRECT";
}

/** The step of a fallback: none of the link's, because each of them has at most one trace. */
const fallbackStepId = "00000000-0000-0000-0000-000000000000";

type Trace = { facts: VisitFacts; id: string; stepId: string; action: string; data: unknown };

async function insertTraces(
  tx: Db,
  visits: readonly VisitFacts[],
  types: readonly VisitType[],
  looksFirst: boolean,
): Promise<void> {
  const traces = visits.flatMap((facts, index) => tracesOf(facts, types[index] ?? "FIRST"));
  const plain = (read: (trace: Trace) => string | number) => plainArray(traces.map(read));
  await sql`
    insert into traces (workspace_id, event_id, step_id, id, step_action, data, created_at, completed_at, updated_at)
    select workspace_id, event_id, step_id, id, step_action, data,
      to_timestamp(at_ms / 1000), to_timestamp(at_ms / 1000), to_timestamp(at_ms / 1000)
    from unnest(
      ${plain(({ facts }) => facts.visit.workspaceId)}::uuid[],
      ${plain(({ facts }) => facts.visit.id)}::uuid[],
      ${plain(({ stepId }) => stepId)}::uuid[],
      ${plain(({ id }) => id)}::uuid[],
      ${plain(({ action }) => action)}::event_action[],
      ${textArray(traces.map(({ data }) => JSON.stringify(data)))}::jsonb[],
      ${plain(({ facts }) => facts.visit.atMs)}::float8[])
      as given (workspace_id, event_id, step_id, id, step_action, data, at_ms)
    ${looksFirst ? sql`on conflict (workspace_id, event_id, step_id) do nothing` : sql``}`.execute(tx);
}

/** The traces of a visit: that it came, and where it was sent. */
function tracesOf(facts: VisitFacts, visitType: VisitType): Trace[] {
  const { visit } = facts;
  const { action, entrypoint, destination, conversionTracking, entryStepId } = visit;
  const accessedAt = new Date(visit.atMs).toISOString();
  const fallback = visit.outcome === "FALLBACK";
  const sent: Trace = {
    facts,
    id: idBeside(visit.id, 2),
    stepId: fallback ? fallbackStepId : visit.exitStepId,
    action: "CLIENT_REDIRECT",
    data: { redirect: { destination, conversionTracking, fallback } },
  };
  if (entryStepId === "") return [sent];
  const entryAccess = { accessedAt, action, entrypoint, httpMethod: "GET", visitType };
  const came = { facts, id: idBeside(visit.id, 1), stepId: entryStepId, action: "LINK_VISIT" };
  return [{ ...came, data: { entryAccess } }, sent];
}

const digits = "0123456789abcdef";

/** An id beside another one, in its last two bits, so that writing twice makes the same rows in the same order. */
function idBeside(id: string, place: 1 | 2): string {
  return id.slice(0, -1) + digits[(digits.indexOf(id.slice(-1)) & 0b1100) | place];
}
