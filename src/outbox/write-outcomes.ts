import { type Selectable, sql } from "kysely";
import type { OutboxMessages } from "../../gen/database.ts";
import { plainArray, textArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import { disabledMails } from "./disabled-mails.ts";
import { exhaustedMax, failingMsMax } from "./schedule.ts";
import { type Outcome, responseMax, type SubscriberKey } from "./sender.ts";
import type { ReadMessage } from "./waiting-messages.ts";

/** An attempt that has ended, and what becomes of its message. */
export interface EndedAttempt {
  readonly message: ReadMessage;
  readonly at: Date;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** Undefined when there is no further attempt. */
  readonly nextAt: Date | undefined;
}

/** Writes what became of attempts, in one transaction: of messages, of subscribers, and mails about those it disables. */
export async function writeOutcomes(db: Db, ended: readonly EndedAttempt[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // First: the texts of messages tell whether they were erased.
    await insertAttempts(tx, ended);
    await writeMessages(tx, ended);
    await countOutcomes(tx, ended);
  });
}

function statusOf({ outcome, nextAt }: EndedAttempt): Selectable<OutboxMessages>["status"] {
  if (outcome.isDelivered) return "DELIVERED";
  return nextAt === undefined ? "EXHAUSTED" : "WAITING";
}

async function writeMessages(tx: Db, ended: readonly EndedAttempt[]): Promise<void> {
  const toKeep = ended.filter(({ message, nextAt }) => message.isNew && nextAt !== undefined);
  const keeps = await mayKeep(tx, toKeep);
  const plain = (read: (attempt: EndedAttempt) => string | number) => plainArray(ended.map(read));
  const bodies = ended.map((attempt) => (keeps.has(attempt) ? attempt.message.body : ""));
  // A failure of the schedule before a message was resent, while the attempt was under way.
  const isOld = sql`(given.status <> 'DELIVERED' and m.attempts_before <> given.attempts_before)`;
  await sql`update outbox_messages m set status = case when ${isOld} then m.status else given.status end,
      attempts = greatest(m.attempts, given.attempts),
      -- It is no attempt of the new schedule.
      attempts_before = case when ${isOld} then greatest(m.attempts, given.attempts) else m.attempts_before end,
      next_attempt_at = case when ${isOld} then m.next_attempt_at else given.next_attempt_at end,
      body = case when ${isOld} or given.next_attempt_at is not null then coalesce(m.body, nullif(given.body, '')) end
    from unnest(
      ${plain(({ message }) => message.workspaceId)}::uuid[],
      ${plain(({ message }) => message.subscriberId)}::uuid[],
      ${plain(({ message }) => message.id)}::uuid[],
      ${plain(statusOf)}::message_status[],
      ${plain(({ message }) => message.attempts + 1)}::smallint[],
      ${plain(({ message }) => message.attemptsBefore)}::smallint[],
      ${plain(({ nextAt }) => nextAt?.toISOString() ?? "")}::timestamptz[],
      ${textArray(bodies)}::text[])
      as given (workspace_id, subscriber_id, id, status, attempts, attempts_before, next_attempt_at, body)
    where m.workspace_id = given.workspace_id and m.subscriber_id = given.subscriber_id and m.id = given.id
      and m.status = 'WAITING'`.execute(tx);
}

/**
 * The attempts whose text may be kept: those whose visit still has the visitor of the text. The events are locked until
 * the text is written, so that a deletion of the visitor, which erases kept texts, comes before or after both.
 */
async function mayKeep(tx: Db, attempts: readonly EndedAttempt[]): Promise<ReadonlySet<EndedAttempt>> {
  if (attempts.length === 0) return new Set();
  const { rows } = await sql<{ place: string; visitor_id: string | null }>`
    select e.workspace_id || '/' || e.id as place, e.visitor_id from events e
    where (e.workspace_id, e.id) in (select * from unnest(
      ${plainArray(attempts.map(({ message }) => message.workspaceId))}::uuid[],
      ${plainArray(attempts.map(({ message }) => message.eventId ?? ""))}::uuid[]))
    order by e.workspace_id, e.id for share`.execute(tx);
  const visitors = new Map(rows.map(({ place, visitor_id }) => [place, visitor_id]));
  return new Set(
    attempts.filter(({ message: { workspaceId, eventId, visitorId } }) => {
      if (eventId === null) return true;
      return visitors.get(`${workspaceId}/${eventId}`) === visitorId;
    }),
  );
}

async function insertAttempts(tx: Db, ended: readonly EndedAttempt[]): Promise<void> {
  const plain = (read: (attempt: EndedAttempt) => string | number | boolean) => plainArray(ended.map(read));
  await sql`insert into outbox_attempts (workspace_id, subscriber_id, message_id, number, at, duration_ms, status,
      is_delivered, reason, response)
    select given.workspace_id, given.subscriber_id, given.message_id, given.number, given.at, given.duration_ms,
      given.status, given.is_delivered, given.reason,
      -- The answer may repeat a visitor who was deleted while the attempt was under way.
      case when given.is_new and (given.visitor_id is null or e.visitor_id is not null) or not given.is_new
        and m.body is not null then given.response else '' end
    from unnest(
      ${plain(({ message }) => message.workspaceId)}::uuid[],
      ${plain(({ message }) => message.subscriberId)}::uuid[],
      ${plain(({ message }) => message.id)}::uuid[],
      ${plain(({ message }) => message.attempts + 1)}::smallint[],
      ${plain(({ at }) => at.toISOString())}::timestamptz[],
      ${plain(({ durationMs }) => Math.round(durationMs))}::integer[],
      ${plain(({ outcome }) => outcome.status ?? "")}::smallint[],
      ${plain(({ outcome }) => outcome.isDelivered)}::boolean[],
      ${textArray(ended.map(({ outcome }) => reasonOf(outcome)))}::text[],
      ${textArray(ended.map(({ outcome }) => storable(outcome.response)))}::text[],
      ${plain(({ message }) => message.isNew)}::boolean[],
      ${plain(({ message }) => message.eventId ?? "")}::uuid[],
      ${plain(({ message }) => message.visitorId ?? "")}::uuid[])
      as given (workspace_id, subscriber_id, message_id, number, at, duration_ms, status, is_delivered, reason,
        response, is_new, event_id, visitor_id)
    -- The message may have been deleted while it was sent, with its attempts.
    join outbox_messages m on m.workspace_id = given.workspace_id and m.subscriber_id = given.subscriber_id
      and m.id = given.message_id
    left join events e on given.visitor_id is not null and e.workspace_id = given.workspace_id
      and e.id = given.event_id
    -- Two processes may have sent the same message, when one of them stood still for long.
    on conflict on constraint outbox_attempts_pkey do nothing`.execute(tx);
}

function reasonOf(outcome: Outcome): string {
  return outcome.isDelivered ? "" : storable(outcome.reason);
}

/** PostgreSQL stores neither NUL nor halves of surrogate pairs. */
function storable(text: string): string {
  return text.slice(0, responseMax).replaceAll("\0", "").toWellFormed();
}

/** What a batch means for a subscriber. */
interface Tally {
  readonly key: SubscriberKey;
  successes: number;
  failures: number;
  lastSentMs: number;
  lastDeliveredMs: number | undefined;
  /** The first failure since the last success of the batch, and how many messages were exhausted since then. */
  failingMs: number | undefined;
  exhausted: number;
  isFinal: boolean;
  lastError: string;
}

function tallies(ended: readonly EndedAttempt[]): readonly Tally[] {
  const found = new Map<string, Tally>();
  for (const attempt of ended.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
    const { message, at, outcome, nextAt } = attempt;
    const { workspaceId, subscriberId } = message;
    const place = `${workspaceId}/${subscriberId}`;
    const tally = found.get(place) ?? newTally({ workspaceId, subscriberId });
    found.set(place, tally);
    tally.lastSentMs = at.getTime();
    tally.lastError = reasonOf(outcome);
    if (outcome.isDelivered) {
      tally.successes += 1;
      tally.lastDeliveredMs = at.getTime();
      tally.failingMs = undefined;
      tally.exhausted = 0;
      continue;
    }
    tally.failures += 1;
    tally.failingMs ??= at.getTime();
    if (nextAt === undefined) tally.exhausted += 1;
    if (outcome.isFinal === true) tally.isFinal = true;
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tally]) => tally);
}

function newTally(key: SubscriberKey): Tally {
  return {
    key,
    successes: 0,
    failures: 0,
    lastSentMs: 0,
    lastDeliveredMs: undefined,
    failingMs: undefined,
    exhausted: 0,
    isFinal: false,
    lastError: "",
  };
}

/** Counts attempts, and disables webhooks that only fail. Other subscribers are disabled only by a final answer. */
async function countOutcomes(tx: Db, ended: readonly EndedAttempt[]): Promise<void> {
  const all = tallies(ended);
  const plain = (read: (tally: Tally) => string | number | boolean) => plainArray(all.map(read));
  const time = (read: (tally: Tally) => number | undefined) =>
    plainArray(
      all.map((tally) => {
        const ms = read(tally);
        return ms === undefined ? "" : new Date(ms).toISOString();
      }),
    );
  const failing = sql`case when given.successes > 0 then given.failing_at
    else coalesce(s.failing_since, given.failing_at) end`;
  const exhausted = sql`given.exhausted + case when given.successes > 0 then 0 else s.exhausted_in_row end`;
  const isDead = sql`given.is_final or (s.kind = 'WEBHOOK' and (${exhausted} >= ${exhaustedMax}
    or (given.failures > 0 and given.sent_at - (${failing}) >= ${failingMsMax} * interval '1 millisecond')))`;
  await sql`
    with given as (select * from unnest(
        ${plain(({ key }) => key.workspaceId)}::uuid[],
        ${plain(({ key }) => key.subscriberId)}::uuid[],
        ${plain(({ successes }) => successes)}::bigint[],
        ${plain(({ failures }) => failures)}::bigint[],
        ${time(({ lastSentMs }) => lastSentMs)}::timestamptz[],
        ${time(({ lastDeliveredMs }) => lastDeliveredMs)}::timestamptz[],
        ${time(({ failingMs }) => failingMs)}::timestamptz[],
        ${plain((tally) => tally.exhausted)}::int[],
        ${plain(({ isFinal }) => isFinal)}::boolean[],
        ${textArray(all.map(({ lastError }) => lastError))}::text[])
      as given (workspace_id, id, successes, failures, sent_at, delivered_at, failing_at, exhausted, is_final, error)),
    before as (
      select s.workspace_id, s.id, s.status from outbox_subscribers s join given using (workspace_id, id)
      order by 1, 2 for no key update of s),
    counted as (
      update outbox_subscribers s set success_count = s.success_count + given.successes,
        failure_count = s.failure_count + given.failures, last_sent_at = greatest(s.last_sent_at, given.sent_at),
        last_delivered_at = greatest(s.last_delivered_at, given.delivered_at), failing_since = ${failing},
        exhausted_in_row = ${exhausted}, last_error = given.error,
        status = case when ${isDead} then 'DISABLED' else s.status end
      from given join before using (workspace_id, id) where s.workspace_id = given.workspace_id and s.id = given.id
      returning s.workspace_id, s.id, s.kind, s.status, s.last_error, before.status as before),
    disabled as (select * from counted where status = 'DISABLED' and before <> 'DISABLED')
    select count(*) from ${disabledMails(sql.raw("disabled"))} as mails`.execute(tx);
}
