import { sql } from "kysely";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Db } from "../db/open.ts";
import type { SendingCounts } from "./send-loop.ts";

export interface OutboxFigures {
  /** Takes over what the thread of this process has done so far. */
  update(counts: Readonly<SendingCounts>): void;
  /** A new thread counts from zero. */
  restart(): void;
}

/** How long the figures of the database are reused, in milliseconds: to count a million messages takes 0.1 s. */
const reusedMs = 15_000;

/** Waiting messages beyond so many are not counted. */
const countedMax = 1_000_000;

interface Waiting {
  readonly messages: number;
  readonly lateSeconds: number;
}

/**
 * Registers `signpost_outbox_attempts_total` and `signpost_outbox_in_flight` of this process, and of the whole service
 * `signpost_outbox_waiting_messages` and `signpost_outbox_late_seconds`.
 */
export function registerOutboxMetrics(registry: Registry, db: Db, now: () => Date): OutboxFigures {
  const registers = [registry];
  let seen: Pick<SendingCounts, "delivered" | "failed" | "exhausted"> = none;
  let waiting: { readonly atMs: number; readonly read: Promise<Waiting> } | undefined;
  const readWaiting = () => {
    const atMs = now().getTime();
    if (waiting === undefined || Math.abs(atMs - waiting.atMs) > reusedMs)
      waiting = { atMs, read: countWaiting(db, now()) };
    return waiting.read;
  };
  const attempts = new Counter({
    name: "signpost_outbox_attempts_total",
    help: "Attempts to deliver messages, by outcome; exhausted are also failed.",
    labelNames: ["outcome"],
    registers,
  });
  const inFlight = new Gauge({
    name: "signpost_outbox_in_flight",
    help: "Attempts that are under way.",
    registers,
  });
  const gauge = (name: string, help: string, read: (waiting: Waiting) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        // While the database is away the figure stays as it was.
        await readWaiting().then(
          (found) => this.set(read(found)),
          () => {},
        );
      },
    });
  gauge(
    "signpost_outbox_waiting_messages",
    "Messages that wait, up to a million.",
    ({ messages }) => messages,
  );
  gauge(
    "signpost_outbox_late_seconds",
    "How long the most overdue message has been due.",
    (found) => found.lateSeconds,
  );
  return {
    update(counts) {
      for (const outcome of ["delivered", "failed", "exhausted"] as const)
        attempts.inc({ outcome }, Math.max(0, counts[outcome] - seen[outcome]));
      inFlight.set(counts.inFlight);
      seen = { ...counts };
    },
    restart() {
      seen = none;
      inFlight.set(0);
    },
  };
}

const none = { delivered: 0, failed: 0, exhausted: 0 };

async function countWaiting(db: Db, now: Date): Promise<Waiting> {
  const { rows } = await sql<{ messages: number; late: number | null }>`select
    (select count(*) from (select from outbox_messages where next_attempt_at is not null limit ${countedMax}) w)::float8
      as messages,
    (select extract(epoch from ${now}::timestamptz - min(l.due_at)) from outbox_lines l
      join outbox_subscribers s on s.workspace_id = l.workspace_id and s.id = l.subscriber_id and s.status = 'ACTIVE'
    )::float8 as late`.execute(db);
  const [{ messages, late } = { messages: 0, late: 0 }] = rows;
  return { messages, lateSeconds: Math.max(0, late ?? 0) };
}
