import type { JsonObject } from "@bufbuild/protobuf";
import type { Insertable } from "kysely";
import type { Json, Media } from "../../../../gen/database.ts";
import { storeFile } from "../../../db/file-checks.ts";
import type { Db } from "../../../db/open.ts";
import { newId } from "../../../lib/ids.ts";
import { lookHash } from "../../../model/look/look-hash.ts";
import type { Deps } from "../../deps.ts";
import { findSame, findSources, insertCopies, type MediaSource } from "./media-copy-queries.ts";
import { mediaOf } from "./styling.ts";
import { lockMedia } from "./theme-queries.ts";

/** A look that is stored somewhere. */
export interface SourceLook {
  readonly workspace_id: string;
  readonly styling: Json;
}

/** A look as a workspace can have it: with media files of its own. */
export interface CopiedLook {
  readonly styling: JsonObject;
  readonly lookHash: string;
  /** Media files whose contents are stored, and whose rows are still to be written. */
  readonly copies: readonly Insertable<Media>[];
  /** Media files that the workspace has already. */
  readonly kept: readonly string[];
}

/**
 * Copies the media files of a look into a workspace, outside of any transaction; `keepCopies` writes their rows. A file
 * that the workspace has already is taken as it is, so that a look which is applied a thousand times is stored once.
 * Undefined when the look changes meanwhile.
 */
export async function copyLook(
  deps: Pick<Deps, "now" | "storage" | "autonomousDb">,
  db: Db,
  workspaceId: string,
  { workspace_id, styling }: SourceLook,
): Promise<CopiedLook | undefined> {
  const wanted = mediaOf(styling);
  const ids = [wanted.cover, wanted.badge].filter((id) => id !== undefined);
  const sources = ids.length === 0 ? [] : await findSources(db, workspace_id, ids);
  const [copies, kept, names]: [Insertable<Media>[], string[], Map<string, string>] = [[], [], new Map()];
  for (const source of sources) {
    const own = workspace_id === workspaceId ? source.id : await findSame(db, workspaceId, source);
    if (own === undefined) {
      const copy = await copyFile(deps, workspaceId, source);
      if (copy === undefined) return undefined;
      copies.push(copy);
      names.set(source.id, copy.id);
    } else {
      kept.push(own);
      names.set(source.id, own);
    }
  }
  if (ids.some((id) => !names.has(id))) return undefined;
  const contentOf = (id: string | undefined) => sources.find((source) => source.id === id)?.sha256 ?? null;
  const named = [
    ["canvasCoverId", wanted.cover],
    ["badgeId", wanted.badge],
  ].flatMap(([field = "", id]) => (id === undefined ? [] : [[field, names.get(id)]]));
  return {
    // The column is only ever written with objects.
    styling: { ...(styling as JsonObject), ...Object.fromEntries(named) },
    lookHash: lookHash(styling as object, {
      cover: contentOf(wanted.cover),
      badge: contentOf(wanted.badge),
    }),
    copies,
    kept,
  };
}

/** Stores a copy of a file for a new record of the workspace. Undefined when the file is gone. */
async function copyFile(
  deps: Pick<Deps, "now" | "storage" | "autonomousDb">,
  workspaceId: string,
  { media_type, file_name, storage_key, size_bytes, sha256 }: MediaSource,
): Promise<(Insertable<Media> & { readonly id: string }) | undefined> {
  const file = await deps.storage.get(storage_key);
  if (file === undefined) return undefined;
  const at = deps.now();
  const id = newId(at);
  const key = `media/${workspaceId}/${id}.${storage_key.slice(storage_key.lastIndexOf(".") + 1)}`;
  await storeFile(deps.autonomousDb, deps, { workspaceId, key, ownerId: id }, async () => file);
  return {
    workspace_id: workspaceId,
    id,
    media_type,
    visibility: "PRIVATE",
    file_name,
    storage_key: key,
    size_bytes,
    sha256,
    uploaded_by: null,
    created_at: at,
    updated_at: at,
  };
}

/** Writes the rows of the copies. False when a file that the workspace had is gone, and nothing is written then. */
export async function keepCopies(
  tx: Db,
  workspaceId: string,
  { copies, kept }: Pick<CopiedLook, "copies" | "kept">,
): Promise<boolean> {
  const locked = await lockMedia(tx, workspaceId, kept);
  if (locked.length < new Set(kept).size) return false;
  await insertCopies(tx, copies);
  return true;
}
