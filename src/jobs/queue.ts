import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/open.ts";
import type { QueuedJobs } from "../model/jobs.ts";

/** What a job is told: values, or expressions of the statement. */
export type Told<Payload> = { readonly [Field in keyof Payload]: string | RawBuilder<unknown> };

export interface EnqueueOptions {
  /** Replaces a waiting job with the same key. A running job with the key ends first, and this one runs after it. */
  readonly key?: string;
  /** The earliest time of the job; at once when absent. */
  readonly runAt?: Date;
  /** Of the jobs that could run, those with the smallest number run first; 0 when absent. */
  readonly priority?: number;
}

/**
 * The SQL call that queues a job when its statement commits, and only then. The job runs at least once. When it throws,
 * it runs again with growing delays, 25 times at most.
 */
export function jobCall<Task extends keyof QueuedJobs>(
  task: Task,
  payload: Told<QueuedJobs[Task]>,
  { key, runAt, priority = 0 }: EnqueueOptions = {},
): RawBuilder<unknown> {
  const fields = Object.entries<string | RawBuilder<unknown>>(payload);
  const told = fields.map(([name, value]) => sql`${name}::text, (${value})::text`);
  return sql`graphile_worker.add_job(${task}, payload => json_build_object(${sql.join(told)}),
    run_at => ${runAt ?? null}::timestamptz, job_key => ${key ?? null}::text, priority => ${priority}::integer)`;
}

/** Queues a job in the caller's transaction, as `jobCall` does. */
export async function enqueue<Task extends keyof QueuedJobs>(
  db: Db,
  task: Task,
  payload: Told<QueuedJobs[Task]>,
  options: EnqueueOptions = {},
): Promise<void> {
  await sql`select from ${jobCall(task, payload, options)}`.execute(db);
}
