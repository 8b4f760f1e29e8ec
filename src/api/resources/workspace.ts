import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { Workspaces } from "../../../gen/database.ts";
import type { PublicWorkspaceSchema } from "../../../gen/signpost/v1/public_workspace_pb.js";
import {
  DigestFrequency,
  SubscriptionType,
  type WorkspaceSchema,
} from "../../../gen/signpost/v1/workspace_pb.js";
import type { JsonRow } from "./json-row.ts";

export type WorkspaceRow = Omit<
  Selectable<Workspaces>,
  | "awaits_claim"
  | "deleted_at"
  | "enroll_message"
  | "origin_inquiry"
  | "origin_purpose"
  | "parent_workspace_id"
  | "purge_began_at"
  | "sandboxes_made"
  | "sandboxes_made_on"
>;

/** A workspace as its members see it. */
export function toWorkspace(row: WorkspaceRow): MessageInitShape<typeof WorkspaceSchema> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug ?? "",
    shortDescription: row.short_description,
    description: row.description,
    website: row.website,
    tags: row.tags,
    faq: row.faq,
    country: row.country,
    timezone: row.timezone,
    digestFrequency: DigestFrequency[row.digest_frequency],
    enforceMfa: row.enforce_mfa,
    linkSettingId: row.link_setting_id,
    subscriptionType: SubscriptionType[row.subscription_type],
    ...(row.trial_ends_at && { trialEndsAt: timestampFromDate(row.trial_ends_at) }),
    ...(row.verified_at && { verifiedAt: timestampFromDate(row.verified_at) }),
    ...(row.enroll_requested_at && { enrollRequestedAt: timestampFromDate(row.enroll_requested_at) }),
    ...(row.published_at && { publishedAt: timestampFromDate(row.published_at) }),
    ...(row.inactive_since && { inactiveSince: timestampFromDate(row.inactive_since) }),
    isSandbox: row.environment === "test",
    ...(row.expires_at && { sandboxExpiresAt: timestampFromDate(row.expires_at) }),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

const digestFrequencies = {
  [DigestFrequency.UNSPECIFIED]: "UNSPECIFIED",
  [DigestFrequency.NONE]: "NONE",
  [DigestFrequency.WEEKLY]: "WEEKLY",
  [DigestFrequency.MONTHLY]: "MONTHLY",
} as const satisfies Record<DigestFrequency, WorkspaceRow["digest_frequency"]>;

export function digestFrequencyName(frequency: DigestFrequency): WorkspaceRow["digest_frequency"] {
  return digestFrequencies[frequency];
}

/** What everyone may see of a published workspace. */
export type PublicWorkspaceRow = Pick<
  JsonRow<Workspaces>,
  "name" | "slug" | "short_description" | "description" | "website" | "tags" | "faq"
> & { readonly published_at: string };

export function toPublicWorkspace(row: PublicWorkspaceRow): MessageInitShape<typeof PublicWorkspaceSchema> {
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
