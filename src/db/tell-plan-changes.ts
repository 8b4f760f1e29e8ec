import { sql } from "kysely";
import { plainArray } from "./array-literal.ts";
import { tellWorkspaceChange } from "./channels.ts";
import type { Db } from "./open.ts";

/** Tells of workspaces whose plans have changed, so that their pages and those of their sandboxes follow at once. */
export async function tellPlanChanges(tx: Db, workspaceIds: readonly string[]): Promise<void> {
  if (workspaceIds.length === 0) return;
  const ids = plainArray(workspaceIds);
  await sql`
    select ${tellWorkspaceChange(sql.ref("id"))} from workspaces
    where id = any(${ids}::uuid[]) or parent_workspace_id = any(${ids}::uuid[])`.execute(tx);
}
