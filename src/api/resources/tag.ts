import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { Tags } from "../../../gen/database.ts";
import type { TagSchema } from "../../../gen/signpost/v1/tag_pb.js";
import type { JsonRow } from "./json-row.ts";

type Shown = "id" | "name" | "name_key" | "created_at" | "updated_at";

/** What the message of a tag needs, from a row of its own or inside JSON. */
export type TagRow = Pick<Selectable<Tags>, Shown> | Pick<JsonRow<Tags>, Shown>;

export function toTag(row: TagRow): MessageInitShape<typeof TagSchema> {
  return {
    id: row.id,
    name: row.name,
    createdAt: timestampFromDate(new Date(row.created_at)),
    updatedAt: timestampFromDate(new Date(row.updated_at)),
  };
}
