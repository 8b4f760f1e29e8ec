import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/open.ts";
import type { QueuedJobs } from "../model/jobs.ts";

export interface EnqueueOptions {
  /** Replaces a waiting job with the same key. A running job with the key ends first, and this one runs after it. */
  readonly key?: string;
  /** The earliest time of the job; at once when absent. */
  readonly runAt?: Date;
}

/**
 * The SQL call that queues a job when its statement commits, and only then. The job runs at least once. When it throws,
 * it runs again with growing delays, 25 times at most.
 */
export function jobCall<Task extends keyof QueuedJobs>(
  task: Task,
  payload: QueuedJobs[Task],
  { key, runAt }: EnqueueOptions = {},
): RawBuilder<unknown> {
  return sql`graphile_worker.add_job(${task}, payload => ${JSON.stringify(payload)}::json,
    run_at => ${runAt ?? null}::timestamptz, job_key => ${key ?? null}::text)`;
}

/** Queues a job in the caller's transaction, as `jobCall` does. */
export async function enqueue<Task extends keyof QueuedJobs>(
  db: Db,
  task: Task,
  payload: QueuedJobs[Task],
  options: EnqueueOptions = {},
): Promise<void> {
  await sql`select from ${jobCall(task, payload, options)}`.execute(db);
}
