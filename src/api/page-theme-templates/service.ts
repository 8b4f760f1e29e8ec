import {
  PageThemeTemplateScope,
  type PageThemeTemplatesService,
} from "../../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { callerOf, type Handlers, inTwoParts } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { pageThemeTemplates as kind } from "../resources/page-themes/template-kind.ts";
import { updateTemplate } from "../resources/templates/describe.ts";
import { listPublicTemplates, listWorkspaceTemplates } from "../resources/templates/lists.ts";
import { imageUrlOf } from "../resources/templates/message.ts";
import { getPublicTemplate, getTemplate, publish, remove } from "../resources/templates/operations.ts";
import { findImages } from "../resources/templates/queries.ts";
import { createTemplate } from "./create-template.ts";
import { prepareImport } from "./import-template.ts";
import { changeStyling } from "./update-styling.ts";

const includesTheme = (include: readonly string[]) => include.includes("pageTheme");

export function pageThemeTemplatesService(deps: Deps): Handlers<typeof PageThemeTemplatesService> {
  return {
    createPageThemeTemplate: (request, context) => createTemplate(deps, request, context),
    updatePageThemeTemplateStyling: (request, context) => changeStyling(deps, request, context),

    // The files of the original are copied before the transaction.
    importPageThemeTemplate: inTwoParts(({ slug }: { readonly slug: string }, context) =>
      prepareImport(deps, slug, context),
    ),

    async listPageThemeTemplates(request, context) {
      const all = request.scope === PageThemeTemplateScope.AVAILABLE;
      const list = { ...request, all, withLook: includesTheme(request.include) };
      const { records, ...rest } = await listWorkspaceTemplates(kind, deps, list, context);
      return { pageThemeTemplates: records, ...rest };
    },

    async publicListPageThemeTemplates(request, context) {
      const { records, ...rest } = await listPublicTemplates(kind, deps, request, context);
      return { pageThemeTemplates: records, ...rest };
    },

    async getPageThemeTemplate({ id, include }, context) {
      const wanted = { id, withLook: includesTheme(include) };
      return { pageThemeTemplate: await getTemplate(kind, deps, wanted, context) };
    },

    async publicGetPageThemeTemplate(request, context) {
      return { pageThemeTemplate: await getPublicTemplate(kind, deps, request, context) };
    },

    async publishPageThemeTemplate({ id }, context) {
      return { pageThemeTemplate: await publish(kind, deps, id, context) };
    },

    async updatePageThemeTemplate(request, context) {
      return { pageThemeTemplate: await updateTemplate(kind, deps, request, context) };
    },

    async resolvePageThemeTemplateImages({ templateIds }, context) {
      const reading = { ...kind, withLook: false };
      const rows = await findImages(context.db, reading, callerOf(context).workspaceId, templateIds);
      const signFile = fileSigner(deps);
      const images = rows.map(({ id, thumbnail_key, cover_key, badge_key }) => [
        id,
        {
          thumbnailSignedUrl: imageUrlOf(signFile, thumbnail_key),
          coverSignedUrl: imageUrlOf(signFile, cover_key),
          badgeSignedUrl: imageUrlOf(signFile, badge_key),
        },
      ]);
      return { images: Object.fromEntries(images) };
    },

    async deletePageThemeTemplate({ id }, context) {
      await remove(kind, deps, id, context);
      return {};
    },
  };
}
