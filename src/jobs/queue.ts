import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/open.ts";
import type { QueuedJobs } from "../model/jobs.ts";

export interface EnqueueOptions {
  /** A job that waits under the same key is replaced; one that already runs ends, and this one runs after. */
  readonly key?: string;
  /** Not before this time; at once when absent. */
  readonly runAt?: Date;
}

/**
 * The call that queues a job once the statement it stands in commits, and never otherwise. The job runs at least once,
 * and again with growing delays when it throws, 25 times at most.
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
