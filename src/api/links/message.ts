import { fromJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Json } from "../../../gen/database.ts";
import { CustomDomain_Status, type CustomDomainSchema } from "../../../gen/signpost/v1/custom_domain_pb.js";
import type { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import { PageThemeSchema } from "../../../gen/signpost/v1/page_theme_pb.js";
import { QrcodeDesignSchema } from "../../../gen/signpost/v1/qrcode_design_pb.js";
import type { TagSchema } from "../../../gen/signpost/v1/tag_pb.js";
import { WorkflowStepPayloadSchema } from "../../../gen/signpost/v1/workflow_step_payload_pb.js";
import {
  EventAction,
  WorkflowStep_Kind,
  WorkflowStep_NodeType,
  type WorkflowStepSchema,
} from "../../../gen/signpost/v1/workflow_step_pb.js";
import { entrypointOf } from "../../model/links/entrypoint.ts";
import { defaultDesignOptions } from "../../model/look/design-options.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { branchesOf, nextBranchId } from "../../model/workflow/workflow.ts";
import { centralImageKeyOf } from "../../qr/designs/load-design.ts";
import type { LinkRow, TagRow } from "./queries.ts";
import type { NewLink } from "./writes.ts";

/** What a link's message needs beside the row. */
export interface LinkMessageOptions {
  readonly shortUrl: string;
  /** Whether the address of the QR image is shown. */
  readonly showsImage: boolean;
  /** Makes addresses of stored files. */
  readonly signFile: (storageKey: string) => string;
}

/** The link and what the row holds to embed. */
export function toLink(
  row: LinkRow,
  { shortUrl, showsImage, signFile }: LinkMessageOptions,
): MessageInitShape<typeof LinkSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    purpose: row.purpose,
    shortlink: row.shortlink,
    entrypoint: entrypointOf({ host: row.domain_name, shortlink: row.shortlink }, shortUrl),
    customDomainId: row.custom_domain_id ?? "",
    fallbackDestination: row.fallback_destination,
    ...defined("expiresAt", row.expires_at, timestampFromDate),
    expiredDestination: row.expired_destination,
    directoryId: row.directory_id ?? "",
    metadata: row.metadata as Record<string, string>, // written from the same map
    qrcodeDesignId: row.qrcode_design_id,
    qrcodeTemplateId: row.qrcode_template_id ?? "",
    pageThemeId: row.page_theme_id ?? "",
    pageThemeTemplateId: row.page_theme_template_id ?? "",
    eventCount: row.event_count ?? 0n,
    ...defined("qrcodePendingUpdateSince", row.qrcode_pending_update_since, timestampFromDate),
    ...defined("qrcodeSignedUrl", showsImage ? row.qrcode_image_key : undefined, signFile),
    tags: row.tags?.map(toTag) ?? [],
    ...defined("customDomain", row.domain, toCustomDomain),
    ...defined("qrcodeDesign", row.design, ({ id, options, created_at, updated_at }) => ({
      ...fromJson(QrcodeDesignSchema, objectOf({ ...defaultDesignOptions, ...objectOf(options) }), lenient),
      id,
      ...defined("centralImageSignedUrl", centralImageKeyOf(options), signFile),
      createdAt: timestamp(created_at),
      updatedAt: timestamp(updated_at),
    })),
    ...defined("pageTheme", row.theme, ({ id, workspace_id, styling, created_at, updated_at }) => ({
      ...fromJson(PageThemeSchema, objectOf(styling), lenient),
      id,
      workspaceId: workspace_id,
      createdAt: timestamp(created_at),
      updatedAt: timestamp(updated_at),
    })),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

function toTag(row: TagRow): MessageInitShape<typeof TagSchema> {
  return {
    id: row.id,
    name: row.name,
    createdAt: timestamp(row.created_at),
    updatedAt: timestamp(row.updated_at),
  };
}

function toCustomDomain(row: NonNullable<LinkRow["domain"]>): MessageInitShape<typeof CustomDomainSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    rootDestination: row.root_destination,
    status: CustomDomain_Status[row.status],
    lastError: row.last_error,
    ...defined("lastCheckedAt", row.last_checked_at, timestamp),
    ...defined("activatedAt", row.activated_at, timestamp),
    ...defined("certificateExpiresAt", row.certificate_expires_at, timestamp),
    createdAt: timestamp(row.created_at),
    updatedAt: timestamp(row.updated_at),
  };
}

/** The two steps that a new link has, entry step first. */
export function toFirstSteps(link: NewLink): MessageInitShape<typeof WorkflowStepSchema>[] {
  const both = {
    linkId: link.id,
    nodeType: WorkflowStep_NodeType[stepActions.LINK_VISIT.nodeType],
    createdAt: timestampFromDate(link.at),
    updatedAt: timestampFromDate(link.at),
  };
  const branches = branchesOf({ action: "LINK_VISIT", payload: {} }).map(({ id, label }) => ({
    branchId: id,
    label,
    nextStepId: id === nextBranchId ? link.exit.stepId : "",
  }));
  return [
    {
      ...both,
      id: link.entryStepId,
      eventAction: EventAction.LINK_VISIT,
      kind: WorkflowStep_Kind[stepActions.LINK_VISIT.kind],
      payload: { variant: { case: "linkVisit", value: {} } },
      branches,
      childStepIds: [link.exit.stepId],
      canvasPosition: entryPosition,
    },
    {
      ...both,
      id: link.exit.stepId,
      eventAction: EventAction[link.exit.action],
      kind: WorkflowStep_Kind[stepActions[link.exit.action].kind],
      payload: fromJson(WorkflowStepPayloadSchema, {
        [stepActions[link.exit.action].payload]: link.exit.payload,
      }),
      parentStepIds: [link.entryStepId],
      canvasPosition: exitPosition,
    },
  ];
}

/** Where the first two steps lie on an editor's canvas. */
export const entryPosition = { x: 0, y: 0 };
export const exitPosition = { x: 320, y: 0 };

// Stored objects may hold what later versions add.
const lenient = { ignoreUnknownFields: true };

function objectOf(json: Json): JsonObject {
  // Both columns are only ever written with objects.
  return json as JsonObject;
}

// Rows inside JSON have their times as text.
function timestamp(time: string): Timestamp {
  return timestampFromDate(new Date(time));
}

/** The field when there is a value for it; unset fields may not be present with `undefined`. */
function defined<Name extends string, Value, Field>(
  name: Name,
  value: Value | null | undefined,
  toField: (value: Value) => Field,
): { readonly [N in Name]?: Field } {
  // A computed name widens to string.
  return value === null || value === undefined
    ? {}
    : ({ [name]: toField(value) } as { readonly [N in Name]: Field });
}
