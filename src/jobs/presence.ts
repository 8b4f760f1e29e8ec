import type pg from "pg";
import { lockClasses } from "../db/locks.ts";

/** Marks a worker pool as alive while the connection lives; the connection ends with the process, even on kill -9. */
export async function announce(client: pg.ClientBase, poolId: string): Promise<void> {
  await client.query("select pg_advisory_lock($1, hashtext($2))", [lockClasses.workerPool, poolId]);
}

/**
 * Releases the jobs of dead pools, so that they run again; the queue itself does so only after four hours. Pools
 * announce themselves before they take their first job and never reuse an id, so no job of a living pool is released.
 */
export async function recoverJobs(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select graphile_worker.force_unlock_workers(array(
       select pool_id from (
         select locked_by from graphile_worker._private_jobs where locked_by is not null
         union
         select locked_by from graphile_worker._private_job_queues where locked_by is not null
       ) as locked (pool_id)
       where not exists (
         select from pg_locks
         where locktype = 'advisory' and objsubid = 2
           and database = (select oid from pg_database where datname = current_database())
           and classid = $1::bigint::oid and objid = (hashtext(pool_id)::bigint & 4294967295)::oid
       )
     ))`,
    [lockClasses.workerPool],
  );
}
