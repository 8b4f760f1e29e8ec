import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ExportFormat, type ExportSchema } from "../../../gen/signpost/v1/export_pb.js";
import { JobStatus } from "../../../gen/signpost/v1/job_pb.js";
import type { SignFile } from "../resources/file-address.ts";
import type { ExportRow } from "./queries.ts";

export function toExport(row: ExportRow, signFile: SignFile): MessageInitShape<typeof ExportSchema> {
  return {
    id: row.id,
    format: ExportFormat[row.format],
    status: JobStatus[row.status],
    statusUrl: `/v1/exports/${row.id}`,
    linkId: row.link_id ?? "",
    startsAt: timestampFromDate(row.starts_at),
    endsAt: timestampFromDate(row.ends_at),
    rowCount: row.row_count,
    size: row.size_bytes,
    sha256: row.sha256,
    ...(row.storage_key !== null && { downloadUrl: signFile(row.storage_key) }),
    ...(row.status === "FAILED" && { error: { codeType: row.error_code, message: row.error_message } }),
    createdAt: timestampFromDate(row.created_at),
    ...(row.completed_at && { completedAt: timestampFromDate(row.completed_at) }),
    ...(row.expires_at && { expiresAt: timestampFromDate(row.expires_at) }),
  };
}
