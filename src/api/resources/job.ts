import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { Jobs } from "../../../gen/database.ts";
import { type JobSchema, JobStatus, JobType } from "../../../gen/signpost/v1/job_pb.js";

export type JobRow = Omit<Selectable<Jobs>, "workspace_id" | "request" | "runs">;

export function toJob(row: JobRow): MessageInitShape<typeof JobSchema> {
  const isDone = row.status === "SUCCEEDED";
  return {
    id: row.id,
    type: JobType[row.type],
    status: JobStatus[row.status],
    itemCount: row.item_count,
    statusUrl: `/v1/jobs/${row.id}`,
    ...(isDone && row.type === "LINKS_BULK_CREATE" && { linksBulkCreate: { linkIds: row.link_ids } }),
    ...(isDone && row.type === "WEBHOOK_REPLAY" && { webhookReplay: { messageCount: row.item_count } }),
    ...(row.status === "FAILED" && { error: { codeType: row.error_code, message: row.error_message } }),
    createdAt: timestampFromDate(row.created_at),
    ...(row.completed_at && { completedAt: timestampFromDate(row.completed_at) }),
  };
}
