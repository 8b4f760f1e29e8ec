import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Media_Type, Media_Visibility, type MediaSchema } from "../../../gen/signpost/v1/media_pb.js";
import { contentTypeOf } from "../../lib/storage/storage-key.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import type { MediaRow } from "./queries.ts";

export function toMedia(deps: Deps, row: MediaRow): MessageInitShape<typeof MediaSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    mediaType: Media_Type[row.media_type],
    visibility: Media_Visibility[row.visibility],
    fileName: row.file_name,
    mimeType: contentTypeOf(row.storage_key) ?? "",
    size: row.size_bytes,
    signedUrl: urlOf(deps, row),
    uploadedBy: row.uploaded_by ?? "",
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

function urlOf(deps: Deps, { visibility, storage_key }: MediaRow): string {
  return visibility === "PUBLIC" ? deps.publicFileUrl(storage_key) : fileSigner(deps)(storage_key);
}
