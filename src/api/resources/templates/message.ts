import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { noWorkspace } from "../../../model/no-workspace.ts";
import type { SignFile } from "../file-address.ts";
import { toPublicWorkspace } from "../workspace.ts";
import type { PublicRow, StoredTemplate, TemplateRow } from "./queries.ts";

/** The address of a stored image. Empty when there is none. */
export function imageUrlOf(signFile: SignFile, key: string | null | undefined): string {
  return key ? signFile(key) : "";
}

/** What the messages of both kinds say of a template to a workspace that can use it. */
export function ownFields(signFile: SignFile, row: TemplateRow, workspaceId: string) {
  return {
    ...commonFields(signFile, row),
    id: row.id,
    workspaceId: row.workspace_id === noWorkspace ? "" : row.workspace_id,
    owned: row.workspace_id === workspaceId,
    usageCount: row.usage_count,
    ...(row.duplicated_from === null ? {} : { duplicatedFrom: row.duplicated_from }),
    ...timeField("thumbnailPendingUpdateSince", row.thumbnail_pending_update_since),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
  };
}

/** What they say of a template of the gallery to everyone. */
export function publicFields(signFile: SignFile, row: PublicRow) {
  return {
    ...commonFields(signFile, row),
    ...(row.workspace ? { workspace: toPublicWorkspace(row.workspace) } : {}),
  };
}

function commonFields(signFile: SignFile, row: StoredTemplate) {
  return {
    slug: row.slug ?? "",
    name: row.name,
    description: row.description,
    tags: row.tags,
    learnMore: row.learn_more,
    faq: row.faq,
    builtIn: row.workspace_id === noWorkspace,
    thumbnailSignedUrl: imageUrlOf(signFile, row.thumbnail_key),
    ...timeField("publishedAt", row.published_at),
  };
}

function timeField<Name extends string>(name: Name, at: Date | null): { readonly [Key in Name]?: Timestamp } {
  // The name is the only key.
  return (at === null ? {} : { [name]: timestampFromDate(at) }) as { readonly [Key in Name]?: Timestamp };
}
