import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/open.ts";
import { type QueuedJobs, queueOf } from "../model/jobs.ts";

/** What a job is told: values, or expressions of the statement. */
export type Told<Payload> = { readonly [Field in keyof Payload]: string | RawBuilder<unknown> };

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
  payload: Told<QueuedJobs[Task]>,
  { key, runAt }: EnqueueOptions = {},
): RawBuilder<unknown> {
  return sql`graphile_worker.add_job(${task}, payload => ${toldJson(payload)},
    queue_name => ${queueOf[task] ?? null}::text, run_at => ${runAt ?? null}::timestamptz,
    job_key => ${key ?? null}::text)`;
}

/**
 * The SQL call that queues a job for each row of `rows`, with what its columns say. It gives a row for each job. Of the
 * jobs that could run, those with the smallest `priority` run first; others have 0.
 */
export function jobCalls<Task extends keyof QueuedJobs>(
  task: Task,
  payload: Told<QueuedJobs[Task]>,
  { rows, priority }: { readonly rows: RawBuilder<unknown>; readonly priority: number },
): RawBuilder<unknown> {
  return sql`graphile_worker.add_jobs(array(
    select row(${task}::text, ${toldJson(payload)}, null, null, null, null, ${priority}::smallint, null)
      ::graphile_worker.job_spec from ${rows}))`;
}

function toldJson(payload: Readonly<Record<string, string | RawBuilder<unknown>>>): RawBuilder<unknown> {
  const fields = Object.entries(payload);
  return sql`json_build_object(${sql.join(fields.map(([name, value]) => sql`${name}::text, (${value})::text`))})`;
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
