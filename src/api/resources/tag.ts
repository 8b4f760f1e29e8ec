import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Tags } from "../../../gen/database.ts";
import type { TagSchema } from "../../../gen/signpost/v1/tag_pb.js";
import type { JsonRow } from "./json-row.ts";

export type TagRow = Pick<JsonRow<Tags>, "id" | "name" | "name_key" | "created_at" | "updated_at">;

export function toTag(row: TagRow): MessageInitShape<typeof TagSchema> {
  return {
    id: row.id,
    name: row.name,
    createdAt: timestampFromDate(new Date(row.created_at)),
    updatedAt: timestampFromDate(new Date(row.updated_at)),
  };
}

/** The key of a tag: its name in lower case. Two tags with the same key are the same tag. */
export function tagKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
