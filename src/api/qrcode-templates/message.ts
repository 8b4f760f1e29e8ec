import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { PublicWorkspaceSchema } from "../../../gen/signpost/v1/public_workspace_pb.js";
import { QrcodeDesignSchema } from "../../../gen/signpost/v1/qrcode_design_pb.js";
import type {
  PublicQrcodeTemplateSchema,
  QrcodeTemplateSchema,
} from "../../../gen/signpost/v1/qrcode_template_pb.js";
import { type DesignOptions, defaultDesignOptions } from "../../model/look/design-options.ts";
import { noWorkspace } from "../../model/no-workspace.ts";
import { centralImageKeyOf } from "../../qr/designs/load-design.ts";
import type { Deps } from "../deps.ts";
import type { DesignRow, PublicRow, TemplateRow, WorkspaceRow } from "./queries.ts";

/** How long the addresses of images are good for, in milliseconds. */
const urlMs = 60 * 60 * 1000;

/** The address of a stored image; empty where there is none. */
export function addressOf({ now, signFileUrl }: Deps, key: string | null | undefined): string {
  return key ? signFileUrl(key, new Date(now().getTime() + urlMs)) : "";
}

/** A template as its caller's workspace sees it. */
export function toQrcodeTemplate(
  deps: Deps,
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
    ...(row.design ? { qrcodeDesign: toQrcodeDesign(deps, row.design) } : {}),
    ...(row.duplicated_from === null ? {} : { duplicatedFrom: row.duplicated_from }),
    ...(row.published_at === null ? {} : { publishedAt: timestampFromDate(row.published_at) }),
    thumbnailSignedUrl: addressOf(deps, row.thumbnail_key),
    ...(row.thumbnail_pending_update_since === null
      ? {}
      : { thumbnailPendingUpdateSince: timestampFromDate(row.thumbnail_pending_update_since) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

export function toPublicTemplate(
  deps: Deps,
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
    thumbnailSignedUrl: addressOf(deps, row.thumbnail_key),
    ...(row.published_at === null ? {} : { publishedAt: timestampFromDate(row.published_at) }),
    ...(withWorkspace && row.workspace ? { workspace: toPublicWorkspace(row.workspace) } : {}),
  };
}

function toPublicWorkspace(row: WorkspaceRow): MessageInitShape<typeof PublicWorkspaceSchema> {
  return {
    name: row.name,
    slug: row.slug ?? "",
    shortDescription: row.short_description,
    description: row.description,
    website: row.website,
    tags: row.tags,
    faq: row.faq,
    publishedAt: timestampFromDate(new Date(row.published_at)),
  };
}

function toQrcodeDesign(deps: Deps, row: DesignRow): MessageInitShape<typeof QrcodeDesignSchema> {
  // The column is only ever written with objects; stored ones may hold what later versions add.
  const options = { ...defaultDesignOptions, ...(row.options as DesignOptions) };
  return {
    ...fromJson(QrcodeDesignSchema, options, { ignoreUnknownFields: true }),
    id: row.id,
    centralImageSignedUrl: addressOf(deps, centralImageKeyOf(options)),
    createdAt: timestampFromDate(new Date(row.created_at)),
    updatedAt: timestampFromDate(new Date(row.updated_at)),
  };
}
