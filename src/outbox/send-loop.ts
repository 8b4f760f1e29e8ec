import { setTimeout as pause } from "node:timers/promises";
import { isAboutData } from "../db/open.ts";
import { leaveLines } from "./lines.ts";
import { pauseAfter } from "./schedule.ts";
import { createTurn, lineKey, type TurnDeps } from "./send-turn.ts";
import type { Failed, Outcome } from "./sender.ts";
import { dropReady, holdUp, mayBegin, noteOutcome, type SendingLine } from "./sending-line.ts";
import type { ReadMessage } from "./waiting-messages.ts";
import { type EndedAttempt, writeOutcomes } from "./write-outcomes.ts";

export interface SendingDeps extends TurnDeps {
  /** Gives numbers of at least 0 and below 1, for the jitter of pauses. */
  readonly random: () => number;
  /** Called with the first of failures that follow each other. Sending goes on by itself. */
  readonly onTrouble: (error: unknown) => void;
  /** How often it looks for work that nobody has told it of, in milliseconds; 1,000 when absent. */
  readonly tickMs?: number;
}

/** What sending has done so far. */
export interface SendingCounts {
  delivered: number;
  failed: number;
  exhausted: number;
  /** Turns or writes that failed and are tried again. */
  troubles: number;
  inFlight: number;
  lines: number;
}

export interface Sending {
  readonly counts: Readonly<SendingCounts>;
  /** Says that messages may be waiting. */
  wake(): void;
  /** Begins nothing more, and waits for attempts under way, which are ended after `timeoutMs` and are made again later. */
  stop(timeoutMs: number): Promise<void>;
}

/** How many attempts are under way at the same time, and how many of them for one workspace, and for failing receivers. */
const inFlightMax = 512;
const inFlightOfWorkspaceMax = 64;
const inFlightFailingMax = 256;

/** How many outcomes are written together, and how long the first of them waits for others, in milliseconds. */
const writtenMax = 500;
const gatheredMs = 20;

const backOffMs = { first: 100, last: 5_000 };

/** Sends what waits in the outbox, for as long as the process lives. Any number of processes may do so at once. */
export function startSending(deps: SendingDeps): Sending {
  const { db, now, random, owner, onTrouble, tickMs = 1_000 } = deps;
  const lines = new Map<string, SendingLine>();
  const turn = createTurn(deps, lines);
  const counts: SendingCounts = { delivered: 0, failed: 0, exhausted: 0, troubles: 0, inFlight: 0, lines: 0 };
  const inFlightOf = new Map<string, number>();
  let failingInFlight = 0;
  const ended: EndedAttempt[] = [];
  const stopping = new AbortController();
  const turns = createBell();
  const writes = createBell();
  let isClosed = false;
  let isPassing = false;

  function begin(line: SendingLine, message: ReadMessage): void {
    const { workspaceId, deliver } = line;
    if (deliver === undefined) return;
    const at = now();
    const isSuspect = line.isFailing;
    line.inFlight += 1;
    line.notBeforeMs = Math.max(line.notBeforeMs, at.getTime() + (line.pace.intervalMs ?? 0));
    counts.inFlight += 1;
    if (isSuspect) failingInFlight += 1;
    inFlightOf.set(workspaceId, (inFlightOf.get(workspaceId) ?? 0) + 1);
    const began = performance.now();
    void deliver(message, stopping.signal)
      .catch(unexpected)
      .then((outcome) => {
        line.inFlight -= 1;
        counts.inFlight -= 1;
        if (isSuspect) failingInFlight -= 1;
        const left = (inFlightOf.get(workspaceId) ?? 1) - 1;
        if (left > 0) inFlightOf.set(workspaceId, left);
        else inFlightOf.delete(workspaceId);
        end(line, message, { at, durationMs: performance.now() - began, outcome });
      });
  }

  function end(
    line: SendingLine,
    message: ReadMessage,
    { at, durationMs, outcome }: Pick<EndedAttempt, "at" | "durationMs" | "outcome">,
  ): void {
    if (stopping.signal.aborted && !outcome.isDelivered) {
      line.held.delete(message.id);
      return;
    }
    const nextAt = outcome.isDelivered
      ? undefined
      : nextAttempt(message, outcome, { at: now(), random: random() });
    counts[outcome.isDelivered ? "delivered" : "failed"] += 1;
    if (!outcome.isDelivered && nextAt === undefined) counts.exhausted += 1;
    noteOutcome(line, outcome, now().getTime());
    // What was decided on an older answer may be wrong now; the next turn reads it again.
    if (!outcome.isDelivered && outcome.isFinal === true) dropReady(line);
    ended.push({ message, at, durationMs, outcome, nextAt });
    writes.ring();
    pass();
    if (needsTurn(line)) turns.ring();
  }

  /** Begins attempts, one of each line by turns, once the present work of the event loop is done. */
  function pass(): void {
    if (isPassing) return;
    isPassing = true;
    setImmediate(() => {
      isPassing = false;
      beginAll();
    });
  }

  function beginAll(): void {
    const nowMs = now().getTime();
    // A line that began one comes again at the end of the same iteration.
    for (const [place, line] of lines) {
      if (isClosed || counts.inFlight >= inFlightMax) return;
      if (!mayBegin(line, nowMs) || isCrowded(line)) continue;
      const message = line.ready.shift();
      if (message === undefined) continue;
      begin(line, message);
      lines.delete(place);
      lines.set(place, line);
    }
  }

  function isCrowded({ workspaceId, isFailing }: SendingLine): boolean {
    if (isFailing && failingInFlight >= inFlightFailingMax) return true;
    return (inFlightOf.get(workspaceId) ?? 0) >= inFlightOfWorkspaceMax;
  }

  async function takeTurns(): Promise<void> {
    while (!isClosed) {
      const goesOn = await turn();
      counts.lines = lines.size;
      pass();
      if (!goesOn) await turns.rung(untilPaced());
    }
  }

  /** How long nothing has to be done, in milliseconds: a tick, or less when a line that goes slowly is next. */
  function untilPaced(): number {
    const nowMs = now().getTime();
    const paced = [...lines.values()].filter(
      ({ ready, notBeforeMs }) => ready.length > 0 && notBeforeMs > nowMs,
    );
    return Math.min(tickMs, ...paced.map(({ notBeforeMs }) => notBeforeMs - nowMs));
  }

  /** Writes the first outcomes. Returns how many it wrote, or dropped because PostgreSQL refuses what they say. */
  async function writeSome(some: readonly EndedAttempt[]): Promise<number> {
    try {
      await writeOutcomes(db, some);
      return some.length;
    } catch (error) {
      if (!isAboutData(error)) throw error;
      if (some.length > 1) return writeSome(some.slice(0, some.length >> 1));
      counts.troubles += 1;
      onTrouble(error);
      const line = some[0] && lines.get(lineKey(some[0].message));
      // Its message is sent again, like all whose outcome was not written.
      if (line !== undefined) holdUp(line, now().getTime());
      return 1;
    }
  }

  async function writeAll(): Promise<void> {
    while (!isClosed || counts.inFlight > 0 || ended.length > 0) {
      if (ended.length === 0) {
        await writes.rung(tickMs);
        continue;
      }
      // A transaction for each outcome would cost more than its delivery.
      if (ended.length < writtenMax && !isClosed) await pause(gatheredMs);
      const some = ended.splice(0, await writeSome(ended.slice(0, writtenMax)));
      const written = new Set(some.map(({ message }) => lines.get(lineKey(message))));
      for (const { message } of some) lines.get(lineKey(message))?.held.delete(message.id);
      if ([...written].some((line) => line === undefined || needsTurn(line))) turns.ring();
    }
  }

  /** Does it again and again with growing pauses while it fails, as when the database is away. */
  async function persist(work: () => Promise<void>): Promise<void> {
    let waitMs = 0;
    for (;;) {
      const before = counts.delivered + counts.failed;
      try {
        return await work();
      } catch (error) {
        counts.troubles += 1;
        if (waitMs === 0) onTrouble(error);
        if (stopping.signal.aborted) return;
        const hasMoved = counts.delivered + counts.failed > before;
        waitMs = waitMs === 0 || hasMoved ? backOffMs.first : Math.min(2 * waitMs, backOffMs.last);
        await pause(waitMs);
      }
    }
  }

  const turning = persist(takeTurns);
  const writing = persist(writeAll);
  return {
    counts,
    wake: turns.ring,
    async stop(timeoutMs) {
      isClosed = true;
      turns.ring();
      writes.ring();
      const timer = setTimeout(() => stopping.abort(), timeoutMs);
      await Promise.all([turning, writing]);
      clearTimeout(timer);
      stopping.abort();
      await leaveLines(db, { owner }).catch(onTrouble);
    },
  };
}

/** Whether there is something to read for the line, or to give back. */
function needsTurn({ ready, held, allowance }: SendingLine): boolean {
  return held.size === 0 || ready.length <= allowance;
}

function nextAttempt(
  { attempts, attemptsBefore }: ReadMessage,
  { retryAfterMs, isHopeless = false, isFinal = false }: Failed,
  { at, random }: { readonly at: Date; readonly random: number },
): Date | undefined {
  if (isHopeless || isFinal) return undefined;
  const pauseMs = pauseAfter(attempts + 1 - attemptsBefore, { random, askedMs: retryAfterMs });
  return pauseMs === undefined ? undefined : new Date(at.getTime() + pauseMs);
}

function unexpected(error: unknown): Outcome {
  const reason = error instanceof Error ? error.name : "Error";
  return {
    isDelivered: false,
    status: undefined,
    response: "",
    reason: `The service could not send it (${reason}).`,
  };
}

/** Lets one loop wait until somebody rings; a ring while it does not wait counts for its next wait. */
function createBell(): { ring(): void; rung(timeoutMs: number): Promise<void> } {
  let hasRung = false;
  let end = () => {};
  return {
    ring() {
      hasRung = true;
      end();
    },
    rung(timeoutMs) {
      if (hasRung) {
        hasRung = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const timer = setTimeout(() => end(), timeoutMs);
        end = () => {
          clearTimeout(timer);
          end = () => {};
          hasRung = false;
          resolve();
        };
      });
    },
  };
}
