import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DataCollection, type LinkSettingSchema } from "../../../gen/signpost/v1/link_setting_pb.js";
import type { LinkSettingsService } from "../../../gen/signpost/v1/link_settings_service_pb.js";
import { type CallError, fail } from "../../lib/errors.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { findLinkSetting, type LinkSettingRow, updateLinkSetting } from "./queries.ts";

export function linkSettingsService({ now }: Deps): Handlers<typeof LinkSettingsService> {
  return {
    async getLinkSetting({ id }, context) {
      const row = await findLinkSetting(context.db, callerOf(context).workspaceId, id);
      if (row === undefined) throw noSuchSetting(id);
      return { linkSetting: toLinkSetting(row) };
    },

    async updateLinkSetting(request, context) {
      const { id } = request;
      const { workspaceId } = callerOf(context);
      const dataCollection = fromDataCollection(request.dataCollection);
      const row = await updateLinkSetting(context.db, { workspaceId, id, dataCollection, now: now() });
      if (row === undefined) throw noSuchSetting(id);
      return { linkSetting: toLinkSetting(row) };
    },
  };
}

function toLinkSetting(row: LinkSettingRow): MessageInitShape<typeof LinkSettingSchema> {
  return {
    id: row.id,
    dataCollection: DataCollection[row.data_collection],
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

function fromDataCollection(level: DataCollection): LinkSettingRow["data_collection"] {
  switch (level) {
    case DataCollection.NONE:
      return "NONE";
    case DataCollection.BASIC:
      return "BASIC";
    case DataCollection.ADVANCED:
      return "ADVANCED";
    default:
      throw new Error("a change without a level was let through");
  }
}

function noSuchSetting(id: string): CallError {
  return fail(
    "NOT_FOUND",
    "NOT_FOUND",
    `id: this workspace has no link setting ${id}: give its linkSettingId`,
  );
}
