import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  PublicQrcodeTemplateSchema,
  QrcodeTemplateSchema,
} from "../../../gen/signpost/v1/qrcode_template_pb.js";
import { noWorkspace } from "../../model/no-workspace.ts";
import type { SignFile } from "../resources/file-address.ts";
import { toQrcodeDesign } from "../resources/qrcode-design.ts";
import { toPublicWorkspace } from "../resources/workspace.ts";
import type { PublicRow, TemplateRow } from "./queries.ts";

/** The address of a stored image. Empty when there is none. */
export function imageUrlOf(signFile: SignFile, key: string | null | undefined): string {
  return key ? signFile(key) : "";
}

/** A template as its caller's workspace sees it. */
export function toQrcodeTemplate(
  signFile: SignFile,
  row: TemplateRow,
  workspaceId: string,
): MessageInitShape<typeof QrcodeTemplateSchema> {
  const isBuiltIn = row.workspace_id === noWorkspace;
  return {
    id: row.id,
    workspaceId: isBuiltIn ? "" : row.workspace_id,
    name: row.name,
    slug: row.slug ?? "",
    description: row.description,
    tags: row.tags,
    learnMore: row.learn_more,
    faq: row.faq,
    builtIn: isBuiltIn,
    owned: row.workspace_id === workspaceId,
    usageCount: row.usage_count,
    qrcodeDesignId: row.qrcode_design_id,
    ...(row.design ? { qrcodeDesign: toQrcodeDesign(row.design, signFile) } : {}),
    ...(row.duplicated_from === null ? {} : { duplicatedFrom: row.duplicated_from }),
    ...(row.published_at === null ? {} : { publishedAt: timestampFromDate(row.published_at) }),
    thumbnailSignedUrl: imageUrlOf(signFile, row.thumbnail_key),
    ...(row.thumbnail_pending_update_since === null
      ? {}
      : { thumbnailPendingUpdateSince: timestampFromDate(row.thumbnail_pending_update_since) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

export function toPublicTemplate(
  signFile: SignFile,
  row: PublicRow,
  { withWorkspace }: { readonly withWorkspace: boolean },
): MessageInitShape<typeof PublicQrcodeTemplateSchema> {
  return {
    slug: row.slug ?? "",
    name: row.name,
    description: row.description,
    tags: row.tags,
    learnMore: row.learn_more,
    faq: row.faq,
    builtIn: row.workspace_id === noWorkspace,
    thumbnailSignedUrl: imageUrlOf(signFile, row.thumbnail_key),
    ...(row.published_at === null ? {} : { publishedAt: timestampFromDate(row.published_at) }),
    ...(withWorkspace && row.workspace ? { workspace: toPublicWorkspace(row.workspace) } : {}),
  };
}
