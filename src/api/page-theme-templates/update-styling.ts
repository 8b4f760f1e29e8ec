import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdatePageThemeTemplateStylingRequest,
  UpdatePageThemeTemplateStylingResponseSchema,
} from "../../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { restyle } from "../resources/page-themes/restyle.ts";
import { pageThemeTemplates as kind } from "../resources/page-themes/template-kind.ts";
import { lockTheme } from "../resources/page-themes/theme-queries.ts";
import { changedTemplate } from "../resources/templates/operations.ts";
import { checkTemplateChangeable, noSuchTemplate } from "../resources/templates/rules.ts";
import { lockTemplate } from "../resources/templates/writes.ts";

/** Changes the look of a template. The same look again changes nothing, and queues nothing. */
export async function changeStyling(
  deps: Deps,
  request: UpdatePageThemeTemplateStylingRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdatePageThemeTemplateStylingResponseSchema>> {
  const { workspaceId } = callerOf(context);
  return inTransaction(context.db, async (tx) => {
    const template = await lockTemplate(tx, kind.tables, workspaceId, request.id);
    checkTemplateChangeable(kind, template, request.id);
    const theme = await lockTheme(tx, workspaceId, template.look_id);
    if (theme === undefined) throw noSuchTemplate(kind, request.id);
    await restyle(deps, tx, theme, request, context);
    return { pageThemeTemplate: await changedTemplate(kind, deps, tx, template) };
  });
}
