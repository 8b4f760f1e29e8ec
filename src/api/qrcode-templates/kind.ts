import {
  PublicQrcodeTemplateSchema,
  QrcodeTemplateSchema,
} from "../../../gen/signpost/v1/qrcode_template_pb.js";
import { qrcodeTemplateTables } from "../../db/templates/template-tables.ts";
import { type QrcodeDesignRow, toQrcodeDesign } from "../resources/qrcode-design.ts";
import type { TemplateKind } from "../resources/templates/kind.ts";
import { ownFields, publicFields } from "../resources/templates/message.ts";

export const qrcodeTemplates: TemplateKind<typeof QrcodeTemplateSchema, typeof PublicQrcodeTemplateSchema> = {
  tables: qrcodeTemplateTables,
  noun: "QR code template",
  listed: "qrcode templates",
  hasMedia: false,
  showsLook: false,
  own: QrcodeTemplateSchema,
  toOwn: (signFile, row, workspaceId) => ({
    ...ownFields(signFile, row, workspaceId),
    qrcodeDesignId: row.look_id,
    // The look is a row of the designs.
    ...(row.look ? { qrcodeDesign: toQrcodeDesign(row.look as unknown as QrcodeDesignRow, signFile) } : {}),
  }),
  public: PublicQrcodeTemplateSchema,
  toPublic: publicFields,
};
