import { fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { Json, PageThemes } from "../../../gen/database.ts";
import { PageThemeSchema } from "../../../gen/signpost/v1/page_theme_pb.js";
import { defaultStyling } from "../../model/look/page-theme.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { JsonRow } from "./json-row.ts";

/** A page theme from a row of its own or inside JSON. */
export type PageThemeRow = Selectable<PageThemes> | JsonRow<PageThemes>;

export function toPageTheme(row: PageThemeRow): MessageInitShape<typeof PageThemeSchema> {
  return {
    ...fromJson(PageThemeSchema, shownStyling(row.styling), { ignoreUnknownFields: true }),
    id: row.id,
    workspaceId: row.workspace_id === noWorkspace ? "" : row.workspace_id,
    createdAt: timestampFromDate(new Date(row.created_at)),
    updatedAt: timestampFromDate(new Date(row.updated_at)),
  };
}

/** A stored styling with the values of the built-in look where it has none. It may hold fields of later versions. */
export function shownStyling(styling: Json): JsonObject {
  // The column is only ever written with objects.
  return { ...defaultStyling, ...(styling as JsonObject) };
}
