import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Json } from "../../../gen/database.ts";
import type {
  PageThemeWarningSchema,
  UpdatePageThemeRequest,
  UpdatePageThemeResponseSchema,
} from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { pageTheme } from "../../model/look/page-theme.ts";
import { paletteOf } from "../../model/look/palette.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { toPageTheme } from "../resources/page-theme.ts";
import { restyle } from "../resources/page-themes/restyle.ts";
import { mediaOf } from "../resources/page-themes/styling.ts";
import { lockTheme } from "../resources/page-themes/theme-queries.ts";

/** Changes a theme, and says what pages show otherwise. The same look again changes nothing, not even `updated_at`. */
export async function changeTheme(
  deps: Pick<Deps, "now" | "jobCall">,
  asked: UpdatePageThemeRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdatePageThemeResponseSchema>> {
  const theme = await inTransaction(context.db, async (tx) => {
    const before = await lockTheme(tx, callerOf(context).workspaceId, asked.id);
    if (before === undefined) throw notFound("page theme", "id", asked.id);
    return restyle(deps, tx, before, asked, context);
  });
  return { pageTheme: toPageTheme(theme), warnings: warningsOf(theme.styling) };
}

function warningsOf(styling: Json): MessageInitShape<typeof PageThemeWarningSchema>[] {
  return paletteOf(pageTheme(styling), Boolean(mediaOf(styling).cover)).moved.map(({ field, from, to }) => ({
    field,
    from,
    to,
    message: `pages show ${field} as ${to} in place of ${from}, so that everybody can read them`,
  }));
}
