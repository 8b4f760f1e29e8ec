import { sql } from "kysely";
import { plainArray } from "../db/array-literal.ts";
import { tellOutbox } from "../db/channels.ts";
import type { Db } from "../db/open.ts";
import { newId } from "../lib/ids.ts";

/** An active subscriber, and the link that it is told of; null for all. */
export interface Listener {
  readonly id: string;
  readonly linkId: string | null;
}

/** The active subscribers of the workspace `workspaces.id`, as JSON; null when there are none. */
export const listenersOfWorkspace = sql`(
  select json_agg(json_build_object('id', s.id, 'linkId', s.link_id)) from outbox_subscribers s
  where s.workspace_id = workspaces.id and s.status = 'ACTIVE')`;

/** The active subscribers of workspaces, by workspace. */
export async function findListeners(
  tx: Db,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Listener[]>> {
  const { rows } = await sql<{ id: string; listeners: readonly Listener[] | null }>`
    select id, ${listenersOfWorkspace} as listeners from unnest(${plainArray(workspaceIds)}::uuid[])
      as workspaces (id)`.execute(tx);
  return new Map(rows.map(({ id, listeners }) => [id, listeners ?? []]));
}

/** Steps that a visit has completed: all those of its first request, or some by their ids. */
export interface CompletedSteps {
  readonly workspaceId: string;
  readonly linkId: string;
  readonly eventId: string;
  readonly steps: "first" | readonly string[];
  /** How many steps these are at most. */
  readonly stepsMax: number;
}

export interface QueuePlace {
  readonly listenersOf: (workspaceId: string) => readonly Listener[];
  readonly at: Date;
}

/** How many messages are made of one row of the intake, about. Their transaction is that long. */
const messagesMax = 5_000;

/** Completed steps of which messages are made together. */
export interface Intake {
  readonly workspaceId: string;
  readonly subscribers: readonly string[];
  readonly events: readonly string[];
  /** The step of each event; undefined for all steps of first requests. */
  readonly steps: readonly string[] | undefined;
  /** How many messages they make at most. */
  readonly messages: number;
}

interface OpenIntake extends Intake {
  readonly events: string[];
  readonly steps: string[] | undefined;
  messages: number;
}

/**
 * Queues messages about completed steps in the transaction that stores them: one for each trace and subscriber that
 * wants it. The caller leaves out visits that nobody is told of. A step that is queued twice is told once.
 */
export async function queueSteps(
  tx: Db,
  completed: readonly CompletedSteps[],
  { listenersOf, at }: QueuePlace,
): Promise<void> {
  const rows = intakesOf(completed, listenersOf);
  if (rows.length === 0) return;
  for (const row of rows) await insertIntake(tx, row, at);
  await sql`select ${tellOutbox()}`.execute(tx);
}

/** Queues steps for some subscribers. The caller tells the outbox. */
export async function insertIntake(tx: Db, row: Intake, at: Date): Promise<void> {
  const { workspaceId, subscribers, events, steps, messages } = row;
  await sql`insert into outbox_intake (workspace_id, id, subscriber_ids, event_ids, step_ids, messages, created_at)
    values (${workspaceId}, ${newId(at)}, ${plainArray(subscribers)}, ${plainArray(events)},
      ${steps === undefined ? null : plainArray(steps)}, ${messages}, ${at})`.execute(tx);
}

function intakesOf(
  completed: readonly CompletedSteps[],
  listenersOf: QueuePlace["listenersOf"],
): readonly Intake[] {
  const full: Intake[] = [];
  const open = new Map<string, OpenIntake>();
  for (const { workspaceId, linkId, eventId, steps, stepsMax } of completed) {
    const listeners = listenersOf(workspaceId);
    if (!listeners.some((listener) => hears(listener, linkId))) continue;
    const isFirst = steps === "first";
    const place = `${workspaceId} ${isFirst}`;
    const row: OpenIntake = open.get(place) ?? {
      workspaceId,
      subscribers: listeners.map(({ id }) => id),
      events: [],
      steps: isFirst ? undefined : [],
      messages: 0,
    };
    open.set(place, row);
    for (const stepId of isFirst ? [] : steps) row.steps?.push(stepId);
    for (const _ of isFirst ? [eventId] : steps) row.events.push(eventId);
    row.messages += stepsMax * listeners.length;
    if (row.messages < messagesMax) continue;
    full.push(row);
    open.delete(place);
  }
  return [...full, ...open.values()];
}

function hears({ linkId }: Listener, visited: string): boolean {
  return linkId === null || linkId === visited;
}
