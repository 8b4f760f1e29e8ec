import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Json } from "../../../gen/database.ts";
import { PageThemeStylingSchema } from "../../../gen/signpost/v1/page_theme_styling_pb.js";
import type {
  CreatePageThemeTemplateRequest,
  CreatePageThemeTemplateResponseSchema,
} from "../../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { checkMedia, lockedLookHash } from "../resources/page-themes/media-checks.ts";
import { changedStyling } from "../resources/page-themes/styling.ts";
import { pageThemeTemplates as kind } from "../resources/page-themes/template-kind.ts";
import { lockTheme } from "../resources/page-themes/theme-queries.ts";
import { textsOfNew } from "../resources/templates/describe.ts";
import { changedTemplate } from "../resources/templates/operations.ts";
import { insertTemplate, type NewTemplate } from "./writes.ts";

/** Makes a private template with a copy of a theme's look, with the values of the request on top. */
export async function createTemplate(
  deps: Deps,
  request: CreatePageThemeTemplateRequest,
  context: Context,
): Promise<MessageInitShape<typeof CreatePageThemeTemplateResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const texts = textsOfNew(request);
  return inTransaction(context.db, async (tx) => {
    const source = await sourceStyling(tx, workspaceId, request.sourcePageThemeId);
    const change = request.styling ?? create(PageThemeStylingSchema);
    await checkMedia(tx, workspaceId, change, "styling.");
    const styling = changedStyling(source, change);
    const template = newTemplate(deps, workspaceId, {
      ...texts,
      duplicated_from: null,
      styling,
      lookHash: await lockedLookHash(tx, workspaceId, styling),
    });
    await insertTemplate(tx, template);
    return { pageThemeTemplate: await changedTemplate(kind, deps, tx, template) };
  });
}

/** The look of the theme to copy, which does not change until the transaction ends, or the default look. */
async function sourceStyling(tx: Db, workspaceId: string, id: string): Promise<Json> {
  if (id === "") return {};
  const theme = await lockTheme(tx, workspaceId, id);
  if (theme === undefined) throw notFound("page theme", "sourcePageThemeId", id);
  return theme.styling;
}

type Content = Omit<NewTemplate, "workspace_id" | "id" | "look_id" | "at" | "drawing">;

/** A new template of the workspace and its new theme. */
export function newTemplate(
  { now, jobCall }: Pick<Deps, "now" | "jobCall">,
  workspaceId: string,
  content: Content,
): NewTemplate {
  const at = now();
  const id = newId(at);
  return {
    workspace_id: workspaceId,
    id,
    look_id: newId(at),
    at,
    ...content,
    drawing: jobCall("render-page-theme-thumbnail", { workspaceId, templateId: id }),
  };
}
