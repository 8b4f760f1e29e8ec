import {
  QrcodeTemplateScope,
  type QrcodeTemplatesService,
} from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { updateTemplate } from "../resources/templates/describe.ts";
import { listPublicTemplates, listWorkspaceTemplates } from "../resources/templates/lists.ts";
import { imageUrlOf } from "../resources/templates/message.ts";
import { getPublicTemplate, getTemplate, publish, remove } from "../resources/templates/operations.ts";
import { findImages } from "../resources/templates/queries.ts";
import { createTemplate, importTemplate } from "./create-template.ts";
import { qrcodeTemplates as kind } from "./kind.ts";

const includesDesign = (include: readonly string[]) => include.includes("qrcodeDesign");

export function qrcodeTemplatesService(deps: Deps): Handlers<typeof QrcodeTemplatesService> {
  return {
    createQrcodeTemplate: (request, context) => createTemplate(deps, request, context),
    importQrcodeTemplate: (request, context) => importTemplate(deps, request, context),

    async listQrcodeTemplates(request, context) {
      const all = request.scope === QrcodeTemplateScope.AVAILABLE;
      const list = { ...request, all, withLook: includesDesign(request.include) };
      const { records, ...rest } = await listWorkspaceTemplates(kind, deps, list, context);
      return { qrcodeTemplates: records, ...rest };
    },

    async publicListQrcodeTemplates(request, context) {
      const { records, ...rest } = await listPublicTemplates(kind, deps, request, context);
      return { qrcodeTemplates: records, ...rest };
    },

    async getQrcodeTemplate({ id, include }, context) {
      const wanted = { id, withLook: includesDesign(include) };
      return { qrcodeTemplate: await getTemplate(kind, deps, wanted, context) };
    },

    async publicGetQrcodeTemplate(request, context) {
      return { qrcodeTemplate: await getPublicTemplate(kind, deps, request, context) };
    },

    async publishQrcodeTemplate({ id }, context) {
      return { qrcodeTemplate: await publish(kind, deps, id, context) };
    },

    async updateQrcodeTemplate(request, context) {
      return { qrcodeTemplate: await updateTemplate(kind, deps, request, context) };
    },

    async resolveQrcodeTemplateImages({ templateIds }, context) {
      const reading = { ...kind, withLook: false };
      const rows = await findImages(context.db, reading, callerOf(context).workspaceId, templateIds);
      const drawn = rows.filter(({ thumbnail_key }) => thumbnail_key !== null);
      const signFile = fileSigner(deps);
      const addresses = drawn.map(({ id, thumbnail_key }) => [id, imageUrlOf(signFile, thumbnail_key)]);
      return { thumbnailSignedUrls: Object.fromEntries(addresses) };
    },

    async deleteQrcodeTemplate({ id }, context) {
      await remove(kind, deps, id, context);
      return {};
    },
  };
}
