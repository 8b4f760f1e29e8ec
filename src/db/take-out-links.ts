import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Links } from "../../gen/database.ts";
import { noWorkspace } from "../model/no-workspace.ts";
import { fileCheckOf } from "./file-checks.ts";
import type { Db } from "./open.ts";

/**
 * Takes expired links out of their workspaces as deleting would, except for their short links: these stay taken and
 * lead to the destination of expired links. Callers have not seen these links since they expired (`living_links`).
 * Links that somebody is changing are left for the next run. Returns how many it took out.
 */
export async function takeOutExpiredLinks(db: Db, at: Date, limit = 100): Promise<number> {
  return db.transaction().execute(async (tx) => {
    // The lock comes first, so that the next statement sees the edits of its former holder.
    const { rows } = await sql<Pick<Selectable<Links>, "workspace_id" | "id">>`
      select workspace_id, id from links where deleted_at is null and expires_at <= ${at}
      order by expires_at limit ${limit} for update skip locked`.execute(tx);
    if (rows.length === 0) return 0;
    await sql`
      with expired as (select * from unnest(${rows.map((row) => row.workspace_id)}::uuid[],
          ${rows.map(({ id }) => id)}::uuid[]) as expired (workspace_id, id)),
        gone as (
          update links l set deleted_at = ${at} from expired
          where l.workspace_id = expired.workspace_id and l.id = expired.id
          returning l.workspace_id, l.id as link_id, l.qrcode_design_id, l.qrcode_image_key),
        ${removePartsOfGone(at)}
      select from gone`.execute(tx);
    return rows.length;
  });
}

/**
 * A part of a statement that removes everything that belongs to the links of `gone`, except visits and visitors. `gone`
 * has the columns workspace_id, link_id, qrcode_design_id and qrcode_image_key.
 */
export function removePartsOfGone(at: Date): RawBuilder<unknown> {
  return sql`
      step as (delete from workflow_steps s using gone
        where s.workspace_id = gone.workspace_id and s.link_id = gone.link_id),
      connection as (delete from workflow_connections s using gone
        where s.workspace_id = gone.workspace_id and s.link_id = gone.link_id),
      design as (delete from qrcode_designs q using gone
        where q.workspace_id = gone.workspace_id and q.id = gone.qrcode_design_id
        returning q.options ->> 'centralImageKey' as picture_key),
      file as (${fileCheckOf(imagesOfGone, at)}),
      tag as (delete from link_tags t using gone
        where t.workspace_id = gone.workspace_id and t.link_id = gone.link_id),
      dashboard as (delete from dashboards d using gone
        where d.workspace_id = gone.workspace_id and d.link_id = gone.link_id
        returning d.workspace_id, d.id),
      summary as (delete from widget_summaries s using dashboard d
        where s.workspace_id = d.workspace_id and s.dashboard_id = d.id),
      conversation as (delete from assistant_messages m using (
          select workspace_id, link_id as id from gone union all select workspace_id, id from dashboard) as subject
        where m.workspace_id = subject.workspace_id and m.context_id = subject.id
          and m.context_type in ('LINK', 'WORKFLOW', 'LINK_ANALYTICS', 'ANALYTICS_DASHBOARD'))`;
}

/** The images of the removed links: their codes, and the pictures in the middle. */
const imagesOfGone = sql`select workspace_id, qrcode_image_key, link_id from gone where qrcode_image_key is not null
  union all select ${noWorkspace}::uuid, picture_key, null::uuid from design where picture_key is not null`;
