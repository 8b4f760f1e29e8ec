import { type Selectable, sql } from "kysely";
import type { LinkSettings } from "../../../gen/database.ts";
import { tellWorkspaceChange } from "../../db/channels.ts";
import type { Db } from "../../db/open.ts";

export type LinkSettingRow = Selectable<LinkSettings>;

/** The setting of a workspace, if the setting has this id. */
export async function findLinkSetting(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<LinkSettingRow | undefined> {
  const { rows } = await sql<LinkSettingRow>`
    select s.* from link_settings s
    join workspaces w on w.id = s.workspace_id and w.link_setting_id = s.id
    where s.workspace_id = ${workspaceId} and s.id = ${id}`.execute(db);
  return rows[0];
}

/** The new values of a setting. */
export interface LinkSettingChange {
  readonly workspaceId: string;
  readonly id: string;
  readonly dataCollection: LinkSettingRow["data_collection"];
  readonly now: Date;
}

/**
 * Changes the setting of a workspace and tells the scan runtime, in one statement. The same level changes nothing, not
 * even `updated_at`.
 */
export async function updateLinkSetting(
  db: Db,
  { workspaceId, id, dataCollection, now }: LinkSettingChange,
): Promise<LinkSettingRow | undefined> {
  const { rows } = await sql<LinkSettingRow>`
    with changed as (
        update link_settings s set data_collection = ${dataCollection},
          updated_at = case when s.data_collection = ${dataCollection} then s.updated_at else ${now}::timestamptz end
        from workspaces w
        where w.id = s.workspace_id and w.link_setting_id = s.id
          and s.workspace_id = ${workspaceId} and s.id = ${id}
        returning s.*),
      notice as (select ${tellWorkspaceChange(sql.ref("workspace_id"))} from changed)
    select changed.* from changed, notice`.execute(db);
  return rows[0];
}
