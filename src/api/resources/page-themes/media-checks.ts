import type { Json } from "../../../../gen/database.ts";
import type { Db } from "../../../db/open.ts";
import { invalid } from "../../../lib/errors.ts";
import { lookHash } from "../../../model/look/look-hash.ts";
import { notFound } from "../not-found.ts";
import { chosenMedia, type LookChange, mediaFields, mediaOf } from "./styling.ts";
import { lockMedia } from "./theme-queries.ts";

/**
 * Refuses media files that the workspace lacks, and those of a type that is not for their place. `at` is the field with
 * the look, and a dot.
 */
export async function checkMedia(tx: Db, workspaceId: string, change: LookChange, at = ""): Promise<void> {
  const chosen = chosenMedia(change);
  const ids = chosen.map(({ id }) => id);
  const types = new Map(
    (await lockMedia(tx, workspaceId, ids)).map(({ id, media_type }) => [id, media_type]),
  );
  const wrong = chosen.flatMap(({ field, id }) => {
    const { name, type } = mediaFields[field];
    const found = types.get(id);
    if (found === undefined) throw notFound("media file", `${at}${name}.id`, id);
    const description = `media file ${id} is of the type ${found}; upload one of the type ${type}`;
    return found === type ? [] : [{ field: `${at}${name}.id`, description }];
  });
  if (wrong.length > 0) throw invalid(wrong);
}

/** The hash of a look with media files of the workspace, which it locks. */
export async function lockedLookHash(tx: Db, workspaceId: string, styling: Json): Promise<string> {
  const { cover, badge } = mediaOf(styling);
  const rows = await lockMedia(
    tx,
    workspaceId,
    [cover, badge].filter((id) => id !== undefined),
  );
  const contentOf = (id: string | undefined) => rows.find((row) => row.id === id)?.sha256 ?? null;
  // The column is only ever written with objects.
  return lookHash(styling as object, { cover: contentOf(cover), badge: contentOf(badge) });
}
