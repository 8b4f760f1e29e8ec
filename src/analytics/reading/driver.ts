import type pg from "pg";
import type { Db } from "../../db/open.ts";
import { type CallError, fail } from "../../lib/errors.ts";
import { createTurnstile } from "../../lib/limits/turnstile.ts";
import type { Analytics, Answered } from "../driver.ts";
import type { Kind, QuestionOf } from "../question.ts";
import { referenceAnalytics } from "../reference/driver.ts";
import { NotSealed, usualOpenMax } from "./read-state.ts";
import { startReaderThread } from "./reader-thread.ts";

export interface SegmentAnalyticsOptions {
  readonly connection: pg.ConnectionConfig;
  readonly now: () => Date;
  /** How much the reading thread keeps in memory, in bytes: columns, and once more what it knows of workspaces. */
  readonly cacheBytes: number;
  /** How long a question may take, waiting included, in milliseconds. */
  readonly timeoutMs: number;
  /** How old may be what is not in segments, in milliseconds. 0 makes every answer as new as its question. */
  readonly maxAgeMs?: number;
  /** How many questions of one workspace are answered at a time. Those of the same moment share what they read. */
  readonly share?: number;
  /** How many visits may be in no segment, or in segments that lack changes, before the reference answers. */
  readonly openMax?: number;
  /** Told of what an operator should know. */
  readonly onFault: (fault: string) => void;
}

export interface SegmentAnalytics {
  readonly ask: Analytics;
  /** Questions that are not answered yet fail. */
  close(): Promise<void>;
}

/** Answers are at most 60 seconds old; some of these seconds pass while they are computed. */
const usualMaxAgeMs = 30_000;

/** How many questions are answered at a time, and how many of one workspace. */
const [places, usualShare] = [16, 2];

/** How many questions of one workspace wait at most, and how many of all. */
const [lineMax, linesMax] = [64, 1_024];

/**
 * Answers from segments of columns, in a thread of its own. Workspaces take turns, so that the many questions of one do not
 * hold up those of another. What is in no segment yet is read from events; if that is too much, the reference answers.
 */
export function segmentAnalytics(options: SegmentAnalyticsOptions): SegmentAnalytics {
  const { connection, now, cacheBytes, timeoutMs, onFault } = options;
  const { maxAgeMs = usualMaxAgeMs, share = usualShare, openMax = usualOpenMax } = options;
  const thread = startReaderThread({ connection, cacheBytes, timeoutMs, openMax }, onFault);
  const turnstile = createTurnstile({ places, share, longPlaces: places, longShare: share });
  const reference = referenceAnalytics(now);

  async function answer<K extends Kind>(db: Db, kind: K, question: QuestionOf<K>): Promise<Answered<K>> {
    try {
      const read = await thread.ask(kind, question, { nowMs: now().getTime(), maxAgeMs });
      return { answer: read.answer, through: new Date(read.throughMs) };
    } catch (error) {
      if (error instanceof NotSealed) return reference(db, kind, question);
      throw error;
    }
  }

  return {
    async ask(db, kind, question) {
      const comer = { owner: question.scope.workspaceId, isLong: false };
      if (turnstile.waiting(comer.owner) >= lineMax) throw tooMany("this workspace");
      if (turnstile.waitingInAll() >= linesMax) throw tooMany("all workspaces");
      await turnstile.enter(comer, () => patience(timeoutMs));
      try {
        return await answer(db, kind, question);
      } finally {
        turnstile.leave(comer);
      }
    },
    close: thread.close,
  };
}

function tooMany(whose: string): CallError {
  const message = `too many questions of ${whose} are waiting for an answer; ask fewer at once`;
  return fail("RESOURCE_EXHAUSTED", "RATE_LIMITED", message, { retryAfterSeconds: 1 });
}

function patience(timeoutMs: number): AbortSignal {
  const controller = new AbortController();
  const late = fail("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", "the call took too long");
  setTimeout(() => controller.abort(late), timeoutMs).unref();
  return controller.signal;
}
