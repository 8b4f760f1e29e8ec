import { sql } from "kysely";
import { plainArray } from "../db/array-literal.ts";
import type { Db } from "../db/open.ts";
import { type Content, contentsOf, testContent } from "./message-body.ts";
import type { SubscriberKey } from "./sender.ts";

/** A message whose time has come, without what it says. */
export interface DueMessage extends SubscriberKey {
  readonly id: string;
  /** Null for a test message. */
  readonly eventId: string | null;
  readonly stepId: string | null;
  readonly attempts: number;
  /** The attempts before its schedule began. */
  readonly attemptsBefore: number;
  readonly createdAt: Date;
  /** Whether an earlier attempt has kept what it said. */
  readonly hasBody: boolean;
}

/** Whose messages are wanted, and how many. */
export interface Wanted extends SubscriberKey {
  readonly most: number;
}

/** The messages of subscribers that are due, in the order of their times. */
export async function readDue(db: Db, wanted: readonly Wanted[], now: Date): Promise<readonly DueMessage[]> {
  const { rows } = await sql<DueMessage>`
    select m.* from unnest(${plainArray(wanted.map(({ workspaceId }) => workspaceId))}::uuid[],
        ${plainArray(wanted.map(({ subscriberId }) => subscriberId))}::uuid[],
        ${plainArray(wanted.map(({ most }) => most))}::int[]) as given (workspace_id, subscriber_id, most)
    cross join lateral (
      select workspace_id as "workspaceId", subscriber_id as "subscriberId", id, event_id as "eventId",
        step_id as "stepId", attempts, attempts_before as "attemptsBefore", created_at as "createdAt",
        body is not null as "hasBody", next_attempt_at
      from outbox_messages where workspace_id = given.workspace_id and subscriber_id = given.subscriber_id
        and next_attempt_at <= ${now} order by next_attempt_at, id limit given.most) m
    order by m.next_attempt_at, m.id`.execute(db);
  return rows;
}

/** How many bytes of texts are read at a time, about, and how many new texts are made together. */
const bytesMax = 8 * 1024 * 1024;
const newMax = 128;

/** A message with what it says. */
export interface ReadMessage extends DueMessage, Content {
  /** Whether this is the first text of the message, so that a failed attempt must keep it. */
  readonly isNew: boolean;
}

export interface ReadMessages {
  readonly ready: readonly ReadMessage[];
  /** Messages about visits that are gone. */
  readonly pointless: readonly DueMessage[];
}

/** Reads what messages say, or makes it. Some of many long messages are left for the next time. */
export async function readContents(
  db: Db,
  due: readonly DueMessage[],
  shortUrl: string,
): Promise<ReadMessages> {
  const kept = await readKept(
    db,
    due.filter(({ hasBody }) => hasBody),
  );
  const ready: ReadMessage[] = due.flatMap((message): ReadMessage | [] => {
    const body = kept.get(placeOf(message));
    if (body !== undefined) return { ...message, body, visitorId: null, isNew: false };
    if (message.hasBody || message.eventId !== null) return [];
    return { ...message, ...testContent(message.createdAt), isNew: true };
  });
  const pointless: DueMessage[] = [];
  const fresh = due.flatMap(({ ...message }) =>
    message.hasBody || message.eventId === null || message.stepId === null
      ? []
      : {
          message,
          step: { workspaceId: message.workspaceId, eventId: message.eventId, stepId: message.stepId },
        },
  );
  let bytes = 0;
  for (let start = 0; start < fresh.length && bytes < bytesMax; start += newMax) {
    const some = fresh.slice(start, start + newMax);
    const contents = await contentsOf(
      db,
      some.map(({ step }) => step),
      shortUrl,
    );
    for (const [index, { message }] of some.entries()) {
      const content = contents[index];
      if (content === undefined) pointless.push(message);
      else ready.push({ ...message, ...content, isNew: true });
      bytes += content?.body.length ?? 0;
    }
  }
  return { ready, pointless };
}

/** The kept texts, by place. An erased text is missing. */
async function readKept(db: Db, due: readonly DueMessage[]): Promise<ReadonlyMap<string, string>> {
  if (due.length === 0) return new Map();
  const { rows } = await sql<{ place: string; body: string }>`
    select place, body from (
      select m.workspace_id || '/' || m.subscriber_id || '/' || m.id as place, m.body,
        sum(octet_length(m.body)) over (order by m.next_attempt_at, m.id) - octet_length(m.body) as before
      from ${givenMessages(due)} join outbox_messages m on m.workspace_id = given.workspace_id
        and m.subscriber_id = given.subscriber_id and m.id = given.id
      where m.body is not null) kept
    where before < ${bytesMax}`.execute(db);
  return new Map(rows.map(({ place, body }) => [place, body]));
}

/** How many messages are given up in one statement. */
const givenUpMax = 1_000;

/** Gives up waiting messages. */
export async function missMessages(db: Db, messages: readonly DueMessage[]): Promise<void> {
  if (messages.length === 0) return;
  await sql`update outbox_messages m set ${missed} from ${givenMessages(messages)}
    where m.workspace_id = given.workspace_id and m.subscriber_id = given.subscriber_id and m.id = given.id
      and m.status = 'WAITING'`.execute(db);
}

/** Gives up waiting messages of a disabled subscriber. Returns whether there may be more. */
export async function missWaiting(db: Db, { workspaceId, subscriberId }: SubscriberKey): Promise<boolean> {
  const { rows } = await sql`update outbox_messages set ${missed}
    where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId} and id in (
      select id from outbox_messages where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}
        and next_attempt_at is not null order by next_attempt_at, id limit ${givenUpMax})
    returning id`.execute(db);
  return rows.length === givenUpMax;
}

/** Gives up the oldest waiting messages of a subscriber that has more than `most`. */
export async function missOldest(db: Db, { workspaceId, subscriberId, most }: Wanted): Promise<void> {
  // The visits' order: ids begin with the time of the step.
  await sql`update outbox_messages set ${missed}
    where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId} and id in (
      select id from outbox_messages where workspace_id = ${workspaceId} and subscriber_id = ${subscriberId}
        and next_attempt_at is not null order by id desc offset ${most})`.execute(db);
}

const missed = sql`status = 'MISSED', next_attempt_at = null, body = null`;

export function placeOf({ workspaceId, subscriberId, id }: SubscriberKey & { readonly id: string }): string {
  return `${workspaceId}/${subscriberId}/${id}`;
}

function givenMessages(messages: readonly DueMessage[]) {
  return sql`unnest(${plainArray(messages.map(({ workspaceId }) => workspaceId))}::uuid[],
    ${plainArray(messages.map(({ subscriberId }) => subscriberId))}::uuid[],
    ${plainArray(messages.map(({ id }) => id))}::uuid[]) as given (workspace_id, subscriber_id, id)`;
}
