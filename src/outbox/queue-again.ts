import { sql } from "kysely";
import { tellOutbox } from "../db/channels.ts";
import type { Db } from "../db/open.ts";
import { newId, uuidFromTime } from "../lib/ids.ts";
import { bumpLines } from "./expand-intake.ts";
import { insertIntake } from "./queue-steps.ts";
import { attemptsMax } from "./schedule.ts";
import type { SubscriberKey } from "./sender.ts";

/** Queues a test message. Returns its id. */
export async function queueTest(tx: Db, key: SubscriberKey, at: Date): Promise<string> {
  const id = newId(at);
  const { workspaceId, subscriberId } = key;
  await sql`insert into outbox_messages (workspace_id, subscriber_id, id, next_attempt_at, created_at)
    values (${workspaceId}, ${subscriberId}, ${id}, ${at}, ${at})`.execute(tx);
  await wake(tx, key, at);
  return id;
}

/**
 * Sends a message again, at once and with a whole schedule, whatever became of it; the id stays. False when there is no
 * such message, or when it had too many attempts.
 */
export async function resend(tx: Db, key: SubscriberKey, messageId: string, at: Date): Promise<boolean> {
  const { rows } = await sql`update outbox_messages set ${again(at)}
    where ${of(key)} and id = ${messageId} and attempts < ${attemptsMax} returning id`.execute(tx);
  if (rows.length === 0) return false;
  await wake(tx, key, at);
  return true;
}

export interface Replay {
  /** Both inclusive. The times of the visits' steps. */
  readonly since: Date;
  readonly until: Date;
  /** Whether delivered messages are sent again as well. */
  readonly includesDelivered: boolean;
}

/** How far a replay has come: the next part begins after it. */
export interface ReplayPlace {
  readonly part: "messages" | "steps";
  readonly after: string;
}

/** How many messages or visits one part of a replay takes. */
const partMax = 1_000;

/**
 * Does the part of a replay that begins at `from`: first the messages that were exhausted, missed or, if wanted,
 * delivered; then the steps that were completed while nothing was queued. Returns where the next part begins, and
 * undefined after the last one. Doing a part twice sends nothing more, unless what it queued was delivered in between.
 */
export async function replayPart(
  tx: Db,
  key: SubscriberKey,
  replay: Replay,
  { from, at }: { readonly from: ReplayPlace | undefined; readonly at: Date },
): Promise<{ readonly queued: number; readonly next: ReplayPlace | undefined }> {
  const part = from?.part ?? "messages";
  const after = from?.after ?? uuidFromTime(replay.since);
  const found =
    part === "messages"
      ? await messagesAgain(tx, key, replay, { after, at })
      : await stepsAgain(tx, key, replay, { after, at });
  if (found.queued > 0) await wake(tx, key, at);
  const { queued, last } = found;
  if (last !== undefined) return { queued, next: { part, after: last } };
  if (part === "steps") return { queued, next: undefined };
  return { queued, next: { part: "steps", after: uuidFromTime(replay.since) } };
}

interface Found {
  readonly queued: number;
  /** The last one looked at; undefined when there are no more. */
  readonly last: string | undefined;
}

interface Place {
  readonly after: string;
  readonly at: Date;
}

async function messagesAgain(
  tx: Db,
  key: SubscriberKey,
  replay: Replay,
  { after, at }: Place,
): Promise<Found> {
  const wanted = replay.includesDelivered ? sql`status <> 'WAITING'` : sql`status in ('EXHAUSTED', 'MISSED')`;
  const { rows } = await sql<{ queued: number; last: string | null; seen: number }>`
    with seen as (select id from outbox_messages where ${of(key)} and id > ${after} and id < ${endOf(replay)}
        and event_id is not null and ${wanted} and attempts < ${attemptsMax} order by id limit ${partMax} for no key update),
    again as (update outbox_messages set ${again(at)} where ${of(key)} and id in (select id from seen) returning id)
    select (select count(*) from again)::int as queued, (select count(*) from seen)::int as seen,
      (select id from seen order by id desc limit 1) as last`.execute(tx);
  const [{ queued, last, seen } = { queued: 0, last: null, seen: 0 }] = rows;
  return { queued, last: seen < partMax ? undefined : (last ?? undefined) };
}

/** Queues the steps of visits, as the storing of visits does. Those that have messages already get no others. */
async function stepsAgain(tx: Db, key: SubscriberKey, replay: Replay, { after, at }: Place): Promise<Found> {
  const { workspaceId, subscriberId } = key;
  const { rows: visits } = await sql<{ id: string; steps: string[] }>`
    select e.id, array(select t.step_id from visit_traces t where t.workspace_id = e.workspace_id and t.event_id = e.id
        and t.completed_at is not null and t.step_action is not null and not exists (
          select from outbox_messages m where m.workspace_id = t.workspace_id and m.subscriber_id = ${subscriberId}
            and m.id = t.id)) as steps
    from (select workspace_id, id from events where workspace_id = ${workspaceId} and id > ${after}
      and id < ${endOf(replay)} and counted and locked_number is null order by id limit ${partMax}) e
    order by e.id`.execute(tx);
  const pairs = visits.flatMap(({ id, steps }) => steps.map((step) => ({ id, step })));
  for (let start = 0; start < pairs.length; start += partMax) {
    const some = pairs.slice(start, start + partMax);
    const events = some.map(({ id }) => id);
    const steps = some.map(({ step }) => step);
    await insertIntake(
      tx,
      { workspaceId, subscribers: [subscriberId], events, steps, messages: some.length },
      at,
    );
  }
  return { queued: pairs.length, last: visits.length < partMax ? undefined : visits.at(-1)?.id };
}

function again(at: Date) {
  return sql`status = 'WAITING', next_attempt_at = ${at}, attempts_before = attempts, created_at = ${at}`;
}

function of({ workspaceId, subscriberId }: SubscriberKey) {
  return sql`workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}`;
}

function endOf({ until }: Replay): string {
  return uuidFromTime(new Date(until.getTime() + 1));
}

async function wake(tx: Db, { workspaceId, subscriberId }: SubscriberKey, at: Date): Promise<void> {
  const rows = sql`(values (${workspaceId}::uuid, ${subscriberId}::uuid))`;
  await bumpLines(sql`(select * from ${rows} as v (workspace_id, subscriber_id))`, at).execute(tx);
  await sql`select ${tellOutbox()}`.execute(tx);
}
