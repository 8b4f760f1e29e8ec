import { createHash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { networkOf } from "../lib/client-address.ts";
import type { Db } from "./open.ts";

/** Who tries the password of which step: a visit, from one address. */
export interface Trier {
  readonly workspaceId: string;
  readonly linkId: string;
  readonly stepId: string;
  readonly eventId: string;
  readonly address: string;
}

/** The most wrong tries of one visit and address, and of one network over all visits of a step. */
export const ofVisit = { max: 5, windowMs: 15 * 60_000 };
export const ofNetwork = { max: 20, windowMs: 60 * 60_000 };

/**
 * After this many wrong tries in an hour, a step pauses after each try: a second, doubled with every further `step`
 * tries.
 */
export const pauses = { from: 100, step: 50, doublingsMax: 6, secondsMax: 60 };

/** Which tries a row of tries lets through. */
export interface AttemptLimits {
  readonly ofVisit: { readonly max: number; readonly windowMs: number };
  readonly ofNetwork: { readonly max: number; readonly windowMs: number };
  readonly pauses: {
    readonly from: number;
    readonly step: number;
    readonly doublingsMax: number;
    readonly secondsMax: number;
  };
}

const ofSteps: AttemptLimits = { ofVisit, ofNetwork, pauses };

/** The longest window. With the pauses it holds about 410 tries, which limits a step's row to 10 kB. */
export const windowMs = 60 * 60_000;
const window = `${windowMs} milliseconds`;

/** Longer than the window, so that disagreeing clocks of several machines give nobody tries back early. */
const keptFor = "2 hours";

/**
 * Takes one password try before the comparison, and counts it as wrong. Returns 0, or the seconds until the next try;
 * then nothing was counted. It is one statement that locks one row, so of simultaneous tries in all processes each sees
 * the earlier ones. A refused try takes no lock.
 */
export async function takePasswordAttempt(
  db: Db,
  trier: Trier,
  now: Date,
  limits: AttemptLimits = ofSteps,
): Promise<number> {
  const { workspaceId, linkId, stepId } = trier;
  const [visit, network] = numbersOf(trier);
  const freeAt = freeAtOf(visit, network, now, limits);
  const { rows } = await sql<{ is_taken: boolean; seconds: number | null }>`
    with known as (
      select ${freeAt} as free_at from password_attempts p
      where workspace_id = ${workspaceId} and link_id = ${linkId} and step_id = ${stepId}),
    taken as (
      insert into password_attempts as p (workspace_id, link_id, step_id, tried_at, visits, networks)
      select ${workspaceId}, ${linkId}, ${stepId}, array[${now}]::timestamptz(3)[], array[${visit}]::bigint[],
        array[${network}]::bigint[]
      where coalesce((select free_at from known) <= ${now}, true)
      on conflict (workspace_id, link_id, step_id) do update set (tried_at, visits, networks) = (
        select array_agg(at) || excluded.tried_at, array_agg(visit) || excluded.visits,
          array_agg(network) || excluded.networks
        from unnest(p.tried_at, p.visits, p.networks) as tries (at, visit, network)
        where at > ${now}::timestamptz - ${window}::interval)
      where coalesce(${freeAt} <= ${now}, true)
      returning 1)
    select exists (select from taken) as is_taken,
      (select ceil(extract(epoch from free_at - ${now}::timestamptz))::int from known) as seconds`.execute(
    db,
  );
  const [row] = rows;
  if (row?.is_taken === true) return 0;
  const seconds = row?.seconds ?? 0;
  // Another try came first, after this statement's snapshot: the next statement sees the wait that it causes.
  return seconds > 0 ? seconds : takePasswordAttempt(db, trier, now, limits);
}

/** The time of the next allowed try; NULL when a try is allowed now. */
function freeAtOf(visit: string, network: string, now: Date, limits: AttemptLimits): RawBuilder<unknown> {
  const { ofVisit, ofNetwork, pauses } = limits;
  const { from, step, doublingsMax, secondsMax } = pauses;
  return sql`greatest(
    (select at + ${`${ofVisit.windowMs} milliseconds`}::interval from unnest(p.tried_at, p.visits) as tries (at, visit)
      where visit = ${visit} order by at desc offset ${ofVisit.max - 1} limit 1),
    (select at + ${`${ofNetwork.windowMs} milliseconds`}::interval from unnest(p.tried_at, p.networks) as tries (at, network)
      where network = ${network} order by at desc offset ${ofNetwork.max - 1} limit 1),
    (select max(at) + make_interval(
        secs => least(${secondsMax}, 2 ^ least(${doublingsMax}, (count(*) - ${from}) / ${step})))
      from unnest(p.tried_at) as tries (at) where at > ${now}::timestamptz - ${window}::interval
      having count(*) >= ${from}))`;
}

/** Takes back a try that was right or was never compared; wrong tries stay counted. */
export async function returnPasswordAttempt(db: Db, trier: Trier, now: Date): Promise<void> {
  const { workspaceId, linkId, stepId } = trier;
  const [visit] = numbersOf(trier);
  await sql`
    update password_attempts p set (tried_at, visits, networks) = (
      select coalesce(array_agg(at), '{}'), coalesce(array_agg(visit), '{}'), coalesce(array_agg(network), '{}')
      from unnest(p.tried_at, p.visits, p.networks) as tries (at, visit, network)
      where at <> ${now} or visit <> ${visit})
    where workspace_id = ${workspaceId} and link_id = ${linkId} and step_id = ${stepId}`.execute(db);
}

/**
 * Deletes the rows of steps whose tries are long over, 10,000 at most. Returns how many. It reads the whole table,
 * which holds only the steps of the last hour or two; an index would make each try slower.
 */
export async function deleteOldPasswordAttempts(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from password_attempts where (workspace_id, link_id, step_id) in (
      select workspace_id, link_id, step_id from password_attempts
      where not exists (select from unnest(tried_at) as tries (at)
        where at > ${now}::timestamptz - ${keptFor}::interval)
      limit 10000 for update skip locked)`.execute(db);
  return Number(numAffectedRows);
}

/** Numbers of 64 bits for a visit with an address, and for a network, which keep rows small. */
function numbersOf({ eventId, address }: Trier): [visit: string, network: string] {
  return [numberOf(`${eventId} ${address}`), numberOf(networkOf(address))];
}

function numberOf(text: string): string {
  return createHash("sha256").update(text).digest().readBigInt64BE().toString();
}
