import type { QrcodeTemplatesService } from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { createTemplate, importTemplate } from "./create-template.ts";
import { listPublicTemplates, listWorkspaceTemplates } from "./list-templates.ts";
import { imageUrlOf, toPublicTemplate, toQrcodeTemplate } from "./message.ts";
import { countUsage, findInGallery, findTemplate, findThumbnails } from "./queries.ts";
import { checkPublishable, checkTemplateChangeable, noSuchTemplate } from "./rules.ts";
import { updateTemplate } from "./update-template.ts";
import { deleteTemplate, lockTemplate, publishTemplate } from "./writes.ts";

export function qrcodeTemplatesService(deps: Deps): Handlers<typeof QrcodeTemplatesService> {
  return {
    listQrcodeTemplates: (request, context) => listWorkspaceTemplates(deps, request, context),
    publicListQrcodeTemplates: (request, context) => listPublicTemplates(deps, request, context),
    createQrcodeTemplate: (request, context) => createTemplate(deps, request, context),
    importQrcodeTemplate: (request, context) => importTemplate(deps, request, context),
    updateQrcodeTemplate: (request, context) => updateTemplate(deps, request, context),

    async getQrcodeTemplate({ id, include }, context) {
      const { workspaceId } = callerOf(context);
      const withDesign = include.includes("qrcodeDesign");
      const row = await findTemplate(context.db, workspaceId, id, { withDesign });
      if (row === undefined) throw noSuchTemplate(id);
      return { qrcodeTemplate: toQrcodeTemplate(fileSigner(deps), row, workspaceId) };
    },

    async publicGetQrcodeTemplate({ slug, include }, context) {
      const row = await findInGallery(context.db, slug);
      if (row === undefined)
        throw fail("NOT_FOUND", "NOT_FOUND", `there is no public QR code template ${slug}`);
      return {
        qrcodeTemplate: toPublicTemplate(fileSigner(deps), row, {
          withWorkspace: include.includes("workspace"),
        }),
      };
    },

    async publishQrcodeTemplate({ id }, context) {
      const { workspaceId } = callerOf(context);
      return inTransaction(context.db, async (tx) => {
        const template = await lockTemplate(tx, workspaceId, id);
        checkTemplateChangeable(template, id);
        const isPublished = template.published_at !== null;
        if (!isPublished) checkPublishable(template);
        const row = isPublished ? template : await publishTemplate(tx, template, deps.now());
        const usage_count = await countUsage(tx, row);
        return { qrcodeTemplate: toQrcodeTemplate(fileSigner(deps), { ...row, usage_count }, workspaceId) };
      });
    },

    async resolveQrcodeTemplateImages({ templateIds }, context) {
      const rows = await findThumbnails(context.db, callerOf(context).workspaceId, templateIds);
      const drawn = rows.filter(({ thumbnail_key }) => thumbnail_key !== null);
      const signFile = fileSigner(deps);
      const addresses = drawn.map(({ id, thumbnail_key }) => [id, imageUrlOf(signFile, thumbnail_key)]);
      return { thumbnailSignedUrls: Object.fromEntries(addresses) };
    },

    async deleteQrcodeTemplate({ id }, context) {
      const { workspaceId } = callerOf(context);
      await inTransaction(context.db, async (tx) => {
        const template = await lockTemplate(tx, workspaceId, id);
        checkTemplateChangeable(template, id);
        await deleteTemplate(tx, template, deps.now());
      });
      return {};
    },
  };
}
