import { isDeepStrictEqual } from "node:util";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type {
  ApplyPageThemeTemplateRequest,
  ApplyPageThemeTemplateResponseSchema,
} from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { invalid } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { toPageTheme } from "../resources/page-theme.ts";
import { copyLook, keepCopies } from "../resources/page-themes/media-copies.ts";
import { pageThemeTemplates as kind } from "../resources/page-themes/template-kind.ts";
import { lockTheme, restyleTheme, type ThemeRow } from "../resources/page-themes/theme-queries.ts";
import { noSuchPublicTemplate, noSuchTemplate } from "../resources/templates/rules.ts";
import {
  type DressedLink,
  findWorn,
  isLinkThere,
  lockLink,
  lockWorn,
  type Wanted,
} from "./template-queries.ts";
import { dressInNewTheme, noteTemplate } from "./template-writes.ts";

/** Reads a template and copies its media files, and leaves the look to be given to the link. */
export async function prepareApplication(
  deps: Deps,
  request: ApplyPageThemeTemplateRequest,
  context: Context,
): Promise<Write<MessageInitShape<typeof ApplyPageThemeTemplateResponseSchema>>> {
  const { workspaceId } = callerOf(context);
  const { linkId } = request;
  const wanted = wantedOf(request);
  if (!(await isLinkThere(context.db, workspaceId, linkId))) throw notFound("link", "linkId", linkId);
  const template = await findWorn(context.db, workspaceId, wanted);
  if (template === undefined)
    throw wanted.slug === ""
      ? noSuchTemplate(kind, wanted.templateId, "pageThemeTemplateId")
      : noSuchPublicTemplate(kind, wanted.slug, "slug");
  const copied = await copyLook(deps, context.db, workspaceId, template);
  if (copied === undefined) return async () => undefined;
  return (db) =>
    inTransaction(db, async (tx) => {
      // The link comes first: a call that deletes the template takes it from links before it deletes the row.
      const link = await lockLink(tx, workspaceId, linkId);
      const now = await lockWorn(tx, workspaceId, wanted);
      // What has changed meanwhile is read again.
      if (link === undefined || !isDeepStrictEqual(now, template)) return undefined;
      if (!(await keepCopies(tx, workspaceId, copied))) return undefined;
      const theme = await dress(deps, tx, link, { styling: copied.styling, templateId: template.id });
      return { pageTheme: toPageTheme(theme) };
    });
}

function wantedOf({ pageThemeTemplateId: templateId, slug }: ApplyPageThemeTemplateRequest): Wanted {
  if ((templateId === "") === (slug === ""))
    throw invalid(
      ["pageThemeTemplateId", "slug"].map((field) => ({
        field,
        description: "give exactly one of pageThemeTemplateId and slug",
      })),
      "ONE_OF_REQUIRED",
    );
  return { templateId, slug };
}

interface Look {
  readonly styling: JsonObject;
  readonly templateId: string;
}

/** Writes the look into the link's own theme, or into a new one. The same look of the same template changes nothing. */
async function dress(
  { now }: Pick<Deps, "now">,
  tx: Db,
  link: DressedLink,
  { styling, templateId }: Look,
): Promise<ThemeRow> {
  const at = now();
  const { workspace_id, own_theme_id } = link;
  const theme = own_theme_id === null ? undefined : await lockTheme(tx, workspace_id, own_theme_id);
  if (theme === undefined) return dressInNewTheme(tx, link, { themeId: newId(at), styling, templateId, at });
  if (link.page_theme_template_id !== templateId) await noteTemplate(tx, link, { templateId, at });
  return isDeepStrictEqual(theme.styling, styling) ? theme : restyleTheme(tx, theme, styling, at);
}
