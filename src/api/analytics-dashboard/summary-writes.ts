import { type Selectable, sql } from "kysely";
import type { WidgetSummaries } from "../../../gen/database.ts";
import type { Db } from "../../db/open.ts";
import { type Charge, chargeFor } from "../resources/credit-queries.ts";

export type SummaryRow = Selectable<WidgetSummaries>;

/** The widget that a summary is about. */
export type SummaryPlace = Pick<SummaryRow, "workspace_id" | "dashboard_id" | "widget_id">;

export async function findSummary(
  db: Db,
  { workspace_id, dashboard_id, widget_id }: SummaryPlace,
): Promise<SummaryRow | undefined> {
  const { rows } = await sql<SummaryRow>`
    select workspace_id, dashboard_id, widget_id, text, source_count, generated_at from widget_summaries
    where workspace_id = ${workspace_id} and dashboard_id = ${dashboard_id} and widget_id = ${widget_id}`.execute(
    db,
  );
  return rows[0];
}

/** Stores a summary in place of the one before, and charges for it. Breaks `coveredCheck` when the credits do not suffice. */
export async function storeSummary(tx: Db, summary: SummaryRow, charge: Charge | undefined): Promise<void> {
  const { workspace_id, dashboard_id, widget_id, text, source_count, generated_at } = summary;
  const charging = charge === undefined ? sql.raw("") : sql`, ${chargeFor(charge)}`;
  await sql`
    with made as (
      insert into widget_summaries (workspace_id, dashboard_id, widget_id, text, source_count, generated_at)
      values (${workspace_id}, ${dashboard_id}, ${widget_id}, ${text}, ${source_count}, ${generated_at})
      on conflict on constraint widget_summaries_pkey do update
        set text = excluded.text, source_count = excluded.source_count, generated_at = excluded.generated_at
      returning workspace_id)
    ${charging}
    select workspace_id ${charge === undefined ? sql.raw("") : sql.raw(", (select count(*) from mail)")} from made`.execute(
    tx,
  );
}

export async function deleteSummary(
  tx: Db,
  { workspace_id, dashboard_id, widget_id }: SummaryPlace,
): Promise<void> {
  await sql`delete from widget_summaries
    where workspace_id = ${workspace_id} and dashboard_id = ${dashboard_id} and widget_id = ${widget_id}`.execute(
    tx,
  );
}
