import { isDeepStrictEqual } from "node:util";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { Json } from "../../../gen/database.ts";
import type {
  PageThemeWarningSchema,
  UpdatePageThemeRequest,
  UpdatePageThemeResponseSchema,
} from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { invalid } from "../../lib/errors.ts";
import { movedColors } from "../../model/look/moved-colors.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { toPageTheme } from "../resources/page-theme.ts";
import { lockMedia, lockTheme, restyleTheme } from "./queries.ts";
import { changedStyling, chosenMedia, mediaFields, storedRequest } from "./styling.ts";

/** Changes a theme, and says what pages show otherwise. The same look again changes nothing, not even `updated_at`. */
export async function changeTheme(
  { now }: Pick<Deps, "now">,
  asked: UpdatePageThemeRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdatePageThemeResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const theme = await inTransaction(context.db, async (tx) => {
    const before = await lockTheme(tx, workspaceId, asked.id);
    if (before === undefined) throw notFound("page theme", "id", asked.id);
    const request = context.complete(asked, () => storedRequest(before.styling));
    await checkMedia(tx, workspaceId, request);
    const styling = changedStyling(before.styling, request);
    const isSame = isDeepStrictEqual(styling, before.styling);
    return isSame ? before : restyleTheme(tx, before, styling, now());
  });
  return { pageTheme: toPageTheme(theme), warnings: warningsOf(theme.styling) };
}

/** Refuses media files that the workspace lacks, and those of a type that is not for their place. */
async function checkMedia(tx: Db, workspaceId: string, request: UpdatePageThemeRequest): Promise<void> {
  const chosen = chosenMedia(request);
  const ids = chosen.map(({ id }) => id);
  const types = new Map(
    (await lockMedia(tx, workspaceId, ids)).map(({ id, media_type }) => [id, media_type]),
  );
  const wrong = chosen.flatMap(({ field, id }) => {
    const { name, type } = mediaFields[field];
    const found = types.get(id);
    if (found === undefined) throw notFound("media file", `${name}.id`, id);
    const description = `media file ${id} is of the type ${found}; upload one of the type ${type}`;
    return found === type ? [] : [{ field: `${name}.id`, description }];
  });
  if (wrong.length > 0) throw invalid(wrong);
}

function warningsOf(styling: Json): MessageInitShape<typeof PageThemeWarningSchema>[] {
  // The column is only ever written with objects.
  return movedColors(styling as JsonObject).map(({ field, from, to }) => ({
    field,
    from,
    to,
    message: `pages show ${field} as ${to} in place of ${from}, so that everybody can read them`,
  }));
}
