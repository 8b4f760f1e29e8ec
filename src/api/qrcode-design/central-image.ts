import { createHash } from "node:crypto";
import { storeFile } from "../../db/file-checks.ts";
import { invalid } from "../../lib/errors.ts";
import { type Picture, PictureFault, type PictureRules } from "../../lib/images/reencode-image.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { Context } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";

const rules: PictureRules = { formats: ["png", "jpeg", "webp", "svg"], sideMax: 8_000, pngWithin: 1_024 };

/**
 * Stores a picture for the middle of codes as a PNG, named by its content, so that designs and their copies share it.
 * Gives the storage key. Throws INVALID_ARGUMENT that names `centralImageData`.
 */
export async function storeCentralImage(
  deps: Deps,
  { signal }: Pick<Context, "signal">,
  bytes: Uint8Array,
): Promise<string> {
  const picture = await read(deps, bytes, signal);
  const key = `centers/${createHash("sha256").update(picture.bytes).digest("hex")}.png`;
  await storeFile(deps.autonomousDb, deps, { workspaceId: noWorkspace, key, ownerId: null }, async () => ({
    bytes: picture.bytes,
    contentType: "image/png",
  }));
  return key;
}

async function read({ pictures }: Deps, bytes: Uint8Array, signal: AbortSignal): Promise<Picture> {
  try {
    return await pictures.read(bytes, rules, signal);
  } catch (error) {
    if (error instanceof PictureFault)
      throw invalid([{ field: "centralImageData", description: error.message }]);
    throw error;
  }
}
