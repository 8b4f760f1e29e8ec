import { timestampDate } from "@bufbuild/protobuf/wkt";
import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { Export } from "../../../gen/signpost/v1/export_pb.js";
import { ExportsService } from "../../../gen/signpost/v1/exports_service_pb.js";
import { JobStatus } from "../../../gen/signpost/v1/job_pb.js";
import { fail } from "../../lib/errors.ts";
import { findLink, linkFinding } from "../steps/find-link.ts";
import { defineTask, pause, read, type Steps, write } from "../steps/task.ts";
import { counted } from "../steps/words.ts";

const formats: Readonly<Record<string, string>> = {
  json: "EXPORT_FORMAT_NDJSON",
  parquet: "EXPORT_FORMAT_PARQUET",
};

/** How long a file is waited for, in milliseconds between the reads. */
const waits = [250, 500, 1_000];

/** Orders a file of visits and waits a little for it. */
export const exportVisits = defineTask(
  TasksService.method.exportVisits,
  [...linkFinding, ExportsService.method.create, ExportsService.method.get],
  function* ({ link: named, from, to, format }) {
    const link = named === "" ? undefined : yield* findLink(named);
    const ordered = yield* write(
      "order the file",
      ExportsService.method.create,
      {
        format: formats[format] ?? "EXPORT_FORMAT_CSV",
        ...(link && { linkId: link.id }),
        ...(from && { startDate: timestampDate(from).toISOString() }),
        ...(to && { endDate: timestampDate(to).toISOString() }),
      },
      (answer) => `the file is being written (export ${answer.export?.id})`,
    );
    const file = yield* awaitFile(ordered.export?.id ?? "");
    const isReady = file.status === JobStatus.SUCCEEDED;
    const [visits, bytes] = [Number(file.rowCount), Number(file.size)];
    return {
      result: {
        exportId: file.id,
        status: isReady ? "READY" : "RUNNING",
        downloadUrl: file.downloadUrl,
        visits,
        bytes,
      },
      text: isReady
        ? [
            `${counted(visits, "visit")} in a file of ${bytes} bytes: ${file.downloadUrl}`,
            "The address is good for an hour. Whoever has it can read the visits: give it to the person you work for only.",
          ]
        : ["The file is being written. Call again with the same arguments and idempotencyKey in a minute."],
    };
  },
);

function* awaitFile(id: string): Steps<Export> {
  for (const milliseconds of waits) {
    const file = yield* readFile(id);
    if (file.status === JobStatus.SUCCEEDED) return file;
    if (file.status === JobStatus.FAILED)
      throw fail("ABORTED", "ABORTED", file.error?.message || "the file could not be written");
    yield* pause(milliseconds);
  }
  return yield* readFile(id);
}

function* readFile(id: string): Steps<Export> {
  const answer = yield* read("look for the file", ExportsService.method.get, { id });
  if (answer.export === undefined) throw new Error("an answer lacks its export");
  return answer.export;
}
