import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type DetectedGoogleFormSchema,
  type GoogleFormsIntegrationSchema,
  GoogleFormsIntegrationStatus,
} from "../../../gen/signpost/v1/google_forms_integration_pb.js";
import type { FormLink, KnownForm } from "../../integrations/google-forms/find-forms.ts";
import type { IntegrationRow } from "./queries.ts";

export function toIntegration(row: IntegrationRow): MessageInitShape<typeof GoogleFormsIntegrationSchema> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    status: GoogleFormsIntegrationStatus[row.status],
    googleEmail: row.google_email,
    createdBy: row.created_by ?? "",
    ...(row.last_synced_at && { lastSyncedAt: timestampFromDate(row.last_synced_at) }),
    responsesSynced: row.responses_synced,
    visitorsEnriched: row.visitors_enriched,
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
    lastError: row.last_error,
  };
}

/** Every form once for each link. A public address has the form's id as soon as the form was read. */
export function toDetectedForms(
  links: readonly FormLink[],
  known: readonly KnownForm[],
): MessageInitShape<typeof DetectedGoogleFormSchema>[] {
  const byId = new Map(known.map((form) => [form.form_id, form]));
  const byPublishedId = new Map(known.map((form) => [form.published_id, form]));
  const found = new Map<string, MessageInitShape<typeof DetectedGoogleFormSchema>>();
  for (const { address, url, linkId, linkName } of links) {
    const { formId, publishedId } = address;
    const form = byId.get(formId ?? "") ?? (publishedId ? byPublishedId.get(publishedId) : undefined);
    const id = formId ?? form?.form_id ?? "";
    const place = `${linkId} ${id || (publishedId ?? url)}`;
    if (!found.has(place))
      found.set(place, {
        formId: id,
        formUrl: url,
        linkId,
        linkName,
        accessible: form?.accessible ?? false,
      });
  }
  return [...found.values()];
}
