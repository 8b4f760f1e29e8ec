import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type pg from "pg";

/** The same visits in DuckDB, read from one Parquet file. */
export interface DuckDb {
  readonly bytes: number;
  /** Runs a statement over the view `visits`, and returns how long that took, in milliseconds. */
  ask(text: string): Promise<number>;
  close(): Promise<void>;
}

/** Exports what segments hold of all counted visits to files that last until the end. */
export async function exportToDuckDb(client: pg.Client): Promise<DuckDb> {
  const folder = await mkdtemp(join(tmpdir(), "signpost-duckdb-"));
  // The server writes the rows, perhaps as another user.
  await chmod(folder, 0o777);
  const [csv, parquet] = [join(folder, "visits.csv"), join(folder, "visits.parquet")];
  await client.query(`copy (
    select e.workspace_id, e.created_at at time zone 'UTC' as visited_at, e.link_id, coalesce(e.visitor_id, e.device_id) as person,
      e.visit_type, d.device_type, d.country, d.city, d.browser_name as browser, d.platform_name as platform
    from events e left join devices d on d.workspace_id = e.workspace_id and d.id = e.device_id
    where e.counted and e.locked_number is null order by e.workspace_id, e.id) to '${csv}' (format csv, header)`);
  const instance = await DuckDBInstance.create(":memory:", { threads: "2", memory_limit: "1GB" });
  const connection = await instance.connect();
  await connection.run(
    `copy (select * from read_csv('${csv}')) to '${parquet}' (format parquet, compression zstd)`,
  );
  await connection.run(`create view visits as select * from read_parquet('${parquet}')`);
  return {
    bytes: (await stat(parquet)).size,
    async ask(text) {
      const startedAt = performance.now();
      await connection.runAndReadAll(text);
      return performance.now() - startedAt;
    },
    async close() {
      connection.closeSync();
      await rm(folder, { recursive: true });
    },
  };
}
