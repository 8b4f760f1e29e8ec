import { type Selectable, sql } from "kysely";
import type { Exports } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import type { Page } from "../../lib/paging/page.ts";

export type ExportRow = Omit<Selectable<Exports>, "run" | "runs">;

/** An export that has not expired. */
export async function findExport(
  db: Db,
  workspaceId: string,
  id: string,
  at: Date,
): Promise<ExportRow | undefined> {
  const { rows } = await sql<ExportRow>`select * from exports
    where workspace_id = ${workspaceId} and id = ${id} and (expires_at is null or expires_at > ${at})`.execute(
    db,
  );
  return rows[0];
}

/** Exports that have not expired, newest first, one more row than the page. There are few of them. */
export async function listExports(
  db: Db,
  workspaceId: string,
  { size, after }: Page<"none">,
  at: Date,
): Promise<ExportRow[]> {
  const beyond = after === undefined ? sql.raw("") : sql`and id < ${after.id}::uuid`;
  const { rows } = await sql<ExportRow>`select * from exports
    where workspace_id = ${workspaceId} and (expires_at is null or expires_at > ${at}) ${beyond}
    order by id desc limit ${size + 1}`.execute(db);
  return rows;
}
