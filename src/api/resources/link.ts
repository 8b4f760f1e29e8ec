import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { Links } from "../../../gen/database.ts";
import type { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import { entrypointOf } from "../../model/links/entrypoint.ts";

/** A link with everything that its message needs. */
export interface LinkRow extends Omit<Selectable<Links>, "deleted_at"> {
  readonly domain_name: string | null;
  readonly event_count: bigint | null;
}

/** The message of a link without embedded objects, with which all messages of links begin. */
export function toLinkAlone(row: LinkRow, shortUrl: string) {
  const pending = row.qrcode_pending_update_since;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    purpose: row.purpose,
    shortlink: row.shortlink,
    entrypoint: entrypointOf({ host: row.domain_name, shortlink: row.shortlink }, shortUrl),
    customDomainId: row.custom_domain_id ?? "",
    fallbackDestination: row.fallback_destination,
    ...(row.expires_at && { expiresAt: timestampFromDate(row.expires_at) }),
    expiredDestination: row.expired_destination,
    directoryId: row.directory_id ?? "",
    metadata: row.metadata as Record<string, string>, // The column is only ever written with such maps.
    qrcodeDesignId: row.qrcode_design_id,
    qrcodeTemplateId: row.qrcode_template_id ?? "",
    pageThemeId: row.page_theme_id ?? "",
    pageThemeTemplateId: row.page_theme_template_id ?? "",
    eventCount: row.event_count ?? 0n,
    ...(pending && { qrcodePendingUpdateSince: timestampFromDate(pending) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  } satisfies MessageInitShape<typeof LinkSchema>;
}
