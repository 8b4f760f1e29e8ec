import type { OwnedLine } from "./lines.ts";
import type { Deliver, Outcome, Pace, SubscriberKey } from "./sender.ts";
import type { ReadMessage } from "./waiting-messages.ts";

/** The messages of one subscriber that this process sends. */
export interface SendingLine extends SubscriberKey {
  /** What the database says; undefined while another process owns the line. */
  look: OwnedLine | undefined;
  pace: Pace;
  /** Undefined while there is nowhere to send to. */
  deliver: Deliver | undefined;
  /** In the order in which they are sent. */
  readonly ready: ReadMessage[];
  /** The messages that are ready, under way, or not written yet. */
  readonly held: Set<string>;
  inFlight: number;
  /** How many attempts may be under way now. */
  allowance: number;
  /** Whether the last attempt failed. */
  isFailing: boolean;
  /** When the last attempt was accepted; 0 when none was, or when one failed since. */
  deliveredMs: number;
  readonly takenMs: number;
  /** Whether the line is to be given back although messages are due. */
  isLeaving: boolean;
  /** No attempt begins before this time. */
  notBeforeMs: number;
}

/** With how many attempts at once a subscriber begins that did not fail last. */
const firstAllowance = 8;

export function newLine(key: SubscriberKey, takenMs: number): SendingLine {
  return {
    workspaceId: key.workspaceId,
    subscriberId: key.subscriberId,
    look: undefined,
    pace: { inFlightMax: 1 },
    deliver: undefined,
    ready: [],
    held: new Set(),
    inFlight: 0,
    allowance: 0,
    isFailing: false,
    deliveredMs: 0,
    takenMs,
    isLeaving: false,
    notBeforeMs: 0,
  };
}

/** Takes over what the database says of the line, and how fast its messages may go. */
export function updateLine(line: SendingLine, look: OwnedLine, pace: Pace): void {
  if (line.allowance === 0) {
    line.isFailing = look.failing_since !== null;
    line.allowance = line.isFailing ? 1 : Math.min(firstAllowance, pace.inFlightMax);
  }
  line.look = look;
  line.pace = pace;
}

/** Drops what is ready: it is read again when the line may send. */
export function dropReady(line: SendingLine): void {
  for (const { id } of line.ready) line.held.delete(id);
  line.ready.length = 0;
}

/** How many attempts' worth of messages are read ahead while the receiver takes them, and for how long without a success. */
const readAhead = 16;
const flowingMs = 1_000;

/** How many more messages the line can take. */
export function wantedBy(line: SendingLine, nowMs: number): number {
  if (line.look?.status !== "ACTIVE" || line.isLeaving || line.ready.length > line.allowance) return 0;
  const ahead = isFlowing(line, nowMs) ? readAhead : 1;
  return ahead * line.allowance - line.ready.length;
}

/** Drops what a receiver that takes nothing now has ready beyond its next attempts: others need the place. */
export function dropSurplus(line: SendingLine, nowMs: number): void {
  if (isFlowing(line, nowMs)) return;
  for (const { id } of line.ready.splice(line.allowance)) line.held.delete(id);
}

function isFlowing({ deliveredMs }: SendingLine, nowMs: number): boolean {
  return nowMs - deliveredMs < flowingMs;
}

export function mayBegin(line: SendingLine, nowMs: number): boolean {
  const { look, ready, deliver, inFlight, allowance, notBeforeMs } = line;
  if (look?.status !== "ACTIVE" || deliver === undefined || ready.length === 0) return false;
  return inFlight < allowance && nowMs >= notBeforeMs;
}

/** The longest that one answer holds up the other messages of its subscriber, in milliseconds. */
const holdMsMax = 60_000;

/** Makes no attempts for a while, because the outcome of the last one could not be written. */
export function holdUp(line: SendingLine, nowMs: number): void {
  line.notBeforeMs = Math.max(line.notBeforeMs, nowMs + holdMsMax);
  dropReady(line);
}

/**
 * Learns from an outcome: one more attempt at once after a success, and half as many after a failure. So a receiver that
 * hangs keeps one connection, and one that recovers soon gets all that it can take.
 */
export function noteOutcome(line: SendingLine, outcome: Outcome, nowMs: number): void {
  line.isFailing = !outcome.isDelivered;
  line.deliveredMs = outcome.isDelivered ? nowMs : 0;
  if (outcome.isDelivered) {
    line.allowance = Math.min(line.pace.inFlightMax, line.allowance + 1);
    return;
  }
  line.allowance = Math.max(1, line.allowance >> 1);
  const { retryAfterMs = 0 } = outcome;
  if (retryAfterMs > 0)
    line.notBeforeMs = Math.max(line.notBeforeMs, nowMs + Math.min(retryAfterMs, holdMsMax));
}
