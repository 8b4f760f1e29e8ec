import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertWorkspace } from "../../../test/support/start-scan.ts";
import { testDatabase } from "../../../test/support/test-database.ts";
import { newId } from "../../lib/ids.ts";
import { refreshAllPages } from "./refresh-pages.ts";

const { db } = await testDatabase();

async function workspaceWithVisitor(): Promise<{ readonly workspaceId: string; readonly visitorId: string }> {
  const workspaceId = await insertWorkspace(db);
  const at = new Date();
  const visitorId = newId(at);
  await db
    .insertInto("visitors")
    .values({ workspace_id: workspaceId, id: visitorId, created_at: at, updated_at: at })
    .execute();
  return { workspaceId, visitorId };
}

async function noteVisits(workspaceId: string, visitorId: string, notes: number): Promise<void> {
  await sql`insert into visitors_visited (workspace_id, visitor_ids, visitors)
    select ${workspaceId}, array[${visitorId}]::uuid[], 1 from generate_series(1, ${notes}::integer)`.execute(
    db,
  );
}

async function countNotes(table: string, workspaceIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ notes: number }>`select count(*)::integer as notes from ${sql.table(table)}
    where workspace_id = any(${workspaceIds}::uuid[])`.execute(db);
  return rows[0]?.notes ?? Number.NaN;
}

/** Notes come back as fast as the refresh deletes them, until the returned function is called. */
async function keepBusy(table: string, columns: string, workspaceId: string): Promise<() => Promise<void>> {
  await sql
    .raw(
      `create function notes_again() returns trigger language plpgsql as $$ begin
        insert into ${table} (${columns}) select ${columns} from gone where workspace_id = '${workspaceId}';
        return null; end $$;
      create trigger notes_again after delete on ${table} referencing old table as gone
        for each statement execute function notes_again()`,
    )
    .execute(db);
  return async () => {
    await sql.raw("drop function notes_again cascade").execute(db);
    for (const each of ["visitors_changed", "visitors_visited"])
      await sql`delete from ${sql.table(each)} where workspace_id = ${workspaceId}`.execute(db);
  };
}

test("a run ends although visitors of one workspace change all the time, and all other workspaces are refreshed", async () => {
  const busy = await workspaceWithVisitor();
  const quiet = await Promise.all(Array.from({ length: 3 }, workspaceWithVisitor));
  await noteVisits(busy.workspaceId, busy.visitorId, 1);
  const end = await keepBusy("visitors_changed", "workspace_id, visitor_id", busy.workspaceId);
  try {
    await refreshAllPages(db);
    const quietIds = quiet.map(({ workspaceId }) => workspaceId);
    expect(await countNotes("visitors_changed", quietIds)).toBe(0);
    expect(await countNotes("visitors_pages", quietIds)).toBe(3);
    expect(await countNotes("visitors_changed", [busy.workspaceId])).toBe(1);
    expect(await countNotes("visitors_visited", [busy.workspaceId])).toBe(0);
  } finally {
    await end();
  }
});

test("a run ends after its time although more visits come than it counts, and workspaces take turns", async () => {
  const busy = await workspaceWithVisitor();
  const quiet = await Promise.all(Array.from({ length: 3 }, workspaceWithVisitor));
  await noteVisits(busy.workspaceId, busy.visitorId, 250);
  const end = await keepBusy("visitors_visited", "workspace_id, visitor_ids, visitors", busy.workspaceId);
  try {
    await refreshAllPages(db, undefined, { msMax: 1_000 });
    const quietIds = quiet.map(({ workspaceId }) => workspaceId);
    expect(await countNotes("visitors_changed", quietIds)).toBe(0);
    expect(await countNotes("visitors_visited", [busy.workspaceId])).toBe(250);
  } finally {
    await end();
  }
});

test("a workspace whose refresh fails holds up no other, and the run tells its failure", async () => {
  const all = await Promise.all(Array.from({ length: 5 }, workspaceWithVisitor));
  const [broken, ...others] = all.map(({ workspaceId }) => workspaceId);
  await sql
    .raw(
      `create function refuse_page() returns trigger language plpgsql as $$ begin raise 'no page today'; end $$;
      create trigger refuse_page before insert on visitors_pages for each row
        when (new.workspace_id = '${broken}') execute function refuse_page()`,
    )
    .execute(db);
  try {
    await expect(refreshAllPages(db)).rejects.toThrow("no page today");
    expect(await countNotes("visitors_changed", others)).toBe(0);
    expect(await countNotes("visitors_changed", [broken ?? ""])).toBe(1);
  } finally {
    await sql.raw("drop function refuse_page cascade").execute(db);
  }
});
