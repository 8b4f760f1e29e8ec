import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MediaType, MediaVisibility } from "../../../gen/database.ts";
import { Media_Type, Media_Visibility } from "../../../gen/signpost/v1/media_pb.js";
import type {
  CreateMediaRequest,
  CreateMediaResponseSchema,
} from "../../../gen/signpost/v1/media_service_pb.js";
import { storeFile } from "../../db/file-checks.ts";
import { invalid } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type Picture, PictureFault, type PictureRules } from "../../lib/images/reencode-image.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toMedia } from "./message.ts";
import { insertMedia } from "./queries.ts";

const uploads: PictureRules = { formats: ["png", "jpeg"], sideMax: 8_000 };

/** The names of files that come without one, except for the extension. */
const defaultNames: Readonly<Record<MediaType, string>> = {
  CENTRAL_QRCODE_IMAGE: "central-qrcode-image",
  BACKGROUND_COVER: "background-cover",
  BADGE: "badge",
};

/**
 * Stores an image as it was re-encoded, and leaves its record to be written. No record is ever written before its file
 * is stored.
 */
export async function prepareMedia(
  deps: Deps,
  request: CreateMediaRequest,
  context: Context,
): Promise<Write<MessageInitShape<typeof CreateMediaResponseSchema>>> {
  const { workspaceId, memberId } = callerOf(context);
  const mediaType = fromMediaType(request.mediaType);
  const visibility: MediaVisibility = request.visibility === Media_Visibility.PUBLIC ? "PUBLIC" : "PRIVATE";
  const { bytes, format } = await readPicture(deps, request.fileData, context.signal);
  const extension = format === "jpeg" ? "jpg" : "png";
  const at = deps.now();
  const id = newId(at);
  const key = `${visibility === "PUBLIC" ? "public/" : ""}media/${workspaceId}/${id}.${extension}`;
  const contentType = `image/${format}`;
  const file = { workspaceId, key, ownerId: id };
  await storeFile(deps.autonomousDb, deps, file, async () => ({ bytes, contentType }));
  const values = {
    workspace_id: workspaceId,
    id,
    media_type: mediaType,
    visibility,
    file_name: request.fileName || `${defaultNames[mediaType]}.${extension}`,
    storage_key: key,
    size_bytes: BigInt(bytes.length),
    sha256: createHash("sha256").update(bytes).digest("hex"),
    uploaded_by: memberId ?? null,
    created_at: at,
    updated_at: at,
  };
  // Pages show copies of badges and covers, which a worker makes.
  const copying =
    mediaType === "CENTRAL_QRCODE_IMAGE"
      ? undefined
      : deps.jobCall("make-page-images", { workspaceId, mediaId: id });
  return async (db) => ({ media: toMedia(deps, await insertMedia(db, values, copying)) });
}

async function readPicture({ pictures }: Deps, bytes: Uint8Array, signal: AbortSignal): Promise<Picture> {
  try {
    return await pictures.read(bytes, uploads, signal);
  } catch (error) {
    if (error instanceof PictureFault) throw invalid([{ field: "fileData", description: error.message }]);
    throw error;
  }
}

function fromMediaType(mediaType: Media_Type): MediaType {
  switch (mediaType) {
    case Media_Type.CENTRAL_QRCODE_IMAGE:
      return "CENTRAL_QRCODE_IMAGE";
    case Media_Type.BACKGROUND_COVER:
      return "BACKGROUND_COVER";
    case Media_Type.BADGE:
      return "BADGE";
    case Media_Type.UNSPECIFIED:
      throw new Error("a file without a media type was let through");
  }
}
