import { setTimeout as sleep } from "node:timers/promises";
import { Logger as QueueLogger, type Runner, run, type TaskList } from "graphile-worker";
import pg from "pg";
import type { Logger } from "pino";
import { withoutValues } from "../db/describe-failure.ts";
import { connectionConfig } from "../db/open.ts";
import type { PeriodicJob, QueuedJobs } from "../model/jobs.ts";
import { announce, recoverJobs } from "./presence.ts";

/**
 * Runs one job. A job may run more than once, so repeating it must be harmless. The signal asks it to end early when
 * the service stops.
 */
export type Task<Payload> = (payload: Payload, signal: AbortSignal) => Promise<void>;

/** The task of every job, whether a call or the clock queues it. */
export type Tasks = { readonly [Name in keyof QueuedJobs]: Task<QueuedJobs[Name]> } & {
  readonly [Name in PeriodicJob]: Task<unknown>;
};

export interface JobsOptions {
  readonly connection: string | pg.ConnectionConfig;
  /** Tasks by name. Payloads come out of the queue as `enqueue` wrote them. */
  readonly tasks: Readonly<Record<string, Task<never>>>;
  /** Periodic tasks, one per line, in UTC: `0 3 * * * task-name`. Only one process queues each occurrence. */
  readonly crontab?: string;
  /** The number of jobs that run at the same time. The runner needs three connections more. */
  readonly concurrency: number;
  /** How long running jobs may go on after `stop` before they are told to end, in milliseconds. */
  readonly stopTimeoutMs: number;
  /** How often the jobs of dead processes are released, in milliseconds; 30,000 when absent. */
  readonly recoveryIntervalMs?: number;
  readonly log: Logger;
}

export interface Jobs {
  /** Takes no more jobs and waits for the running ones. The next process repeats jobs that were cut short. */
  stop(): Promise<void>;
}

const restartDelayMs = 1_000;

/** Starts taking jobs off the queue, and starts over whenever the database fails. */
export function startJobs(options: JobsOptions): Jobs {
  const stopping = new AbortController();
  const stopped = superviseUntil(stopping.signal, options);
  return {
    async stop() {
      stopping.abort();
      await stopped;
    },
  };
}

async function superviseUntil(stop: AbortSignal, options: JobsOptions): Promise<void> {
  while (!stop.aborted) {
    try {
      await runUntil(stop, options);
    } catch (error) {
      options.log.error({ err: error }, "the job runner failed and will start again");
    }
    await sleep(restartDelayMs, undefined, { signal: stop }).catch(() => {});
  }
}

/** Runs the queue until `stop` aborts; fails when one of its connections fails. */
async function runUntil(stop: AbortSignal, options: JobsOptions): Promise<void> {
  const { connection, concurrency } = options;
  const end = Promise.withResolvers<void>();
  end.promise.catch(() => {});
  stop.addEventListener("abort", () => end.resolve(), { once: true });
  const presence = new pg.Client(connectionConfig(connection));
  presence.on("error", end.reject);
  // A pool of its own: the queue expects numbers in the driver's own types, and no statement timeout.
  const pool = new pg.Pool({ ...connectionConfig(connection), max: concurrency + 2 });
  pool.on("error", end.reject);
  pool.on("connect", (client) => client.on("error", end.reject));
  try {
    await presence.connect();
    await runJobs(presence, pool, end, options);
  } finally {
    await presence.end().catch(() => {});
    await pool.end();
  }
}

async function runJobs(
  presence: pg.Client,
  pool: pg.Pool,
  end: PromiseWithResolvers<void>,
  options: JobsOptions,
): Promise<void> {
  const runner = await startRunner(presence, pool, options);
  const recover = (): void => void recoverJobs(presence).catch(end.reject);
  const timer = setInterval(recover, options.recoveryIntervalMs ?? 30_000);
  try {
    recover();
    await Promise.race([end.promise, runner.promise]);
  } finally {
    clearInterval(timer);
    // The queue's runner throws when it is stopped twice, and it stops itself when its workers fail.
    await runner.stop().catch(() => runner.promise.catch(() => {}));
  }
}

function startRunner(presence: pg.Client, pool: pg.Pool, options: JobsOptions): Promise<Runner> {
  const taskList: TaskList = {};
  for (const [name, task] of Object.entries(options.tasks)) {
    // The queue types payloads as unknown JSON; `enqueue` ties them to their task's type.
    taskList[name] = async (payload, { abortSignal }) => {
      try {
        await task(payload as never, abortSignal ?? new AbortController().signal);
      } catch (error) {
        // The queue stores and logs the message of a thrown error.
        throw withoutValues(error);
      }
    };
  }
  let announced: Promise<void> | undefined;
  const plugin = {
    name: "presence",
    version: "1",
    worker: {
      hooks: {
        async startWorker(
          _: unknown,
          { worker }: { readonly worker: { readonly workerPool: { id: string } } },
        ) {
          announced ??= announce(presence, worker.workerPool.id);
          await announced;
        },
      },
    },
  };
  return run({
    pgPool: pool,
    taskList,
    crontab: options.crontab ?? "",
    concurrency: options.concurrency,
    noHandleSignals: true,
    gracefulShutdownAbortTimeout: options.stopTimeoutMs,
    logger: queueLogger(options.log),
    // Without batches, the queue leaves a failed report of a job's end unhandled, which ends the process when the
    // database dies under a job. With batches the runner ends instead, and starts again.
    preset: { plugins: [plugin], worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
}

/** Logs the queue's messages without the payloads attached to them. A finished job is logged at debug level only. */
function queueLogger(log: Logger): QueueLogger {
  const levels = { error: "error", warning: "warn", info: "debug", debug: "trace" } as const;
  return new QueueLogger(() => (level, message, meta) => {
    const error = meta?.error;
    log[levels[level]](error === undefined ? {} : { err: error }, message);
  });
}
