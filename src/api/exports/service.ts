import { create } from "@bufbuild/protobuf";
import { ExportFormat, ExportSchema } from "../../../gen/signpost/v1/export_pb.js";
import type { CreateExportRequest, ExportsService } from "../../../gen/signpost/v1/exports_service_pb.js";
import { violates } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { exportsMax } from "../../model/exports.ts";
import { type Context, callerOf, type Handlers } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { later, shownSince } from "../resources/history.ts";
import { notFound } from "../resources/not-found.ts";
import { wholeMs } from "../resources/scope.ts";
import { findScope } from "../resources/scope-queries.ts";
import { toExport } from "./message.ts";
import { type ExportRow, findExport, listExports } from "./queries.ts";
import { endExport, insertExport } from "./writes.ts";

export function exportsService(
  deps: Pick<Deps, "entitlements" | "jobCall" | "now" | "signFileUrl">,
): Handlers<typeof ExportsService> {
  return {
    async create(request, context) {
      const row = await makeExport(deps, request, context);
      return { export: toExport(row, fileSigner(deps)) };
    },

    async get({ id }, context) {
      const row = await findExport(context.db, callerOf(context).workspaceId, id, deps.now());
      if (row === undefined) throw notFound("export", "id", id);
      return { export: toExport(row, fileSigner(deps)) };
    },

    async list(request, context) {
      const { workspaceId } = callerOf(context);
      const page = readPage(request, { key: "none", sort: "exports newest first", filters: { workspaceId } });
      const rows = await listExports(context.db, workspaceId, page, deps.now());
      const signFile = fileSigner(deps);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: ({ id }) => ({ key: undefined, id }),
        recordOf: (row) => create(ExportSchema, toExport(row, signFile)),
        write: (each) => context.writeRecord(ExportSchema, each),
      });
      return { exports: records, nextPageToken };
    },

    async delete({ id }, context) {
      const { workspaceId } = callerOf(context);
      if (!(await endExport(context.db, deps.jobCall, { workspaceId, id, at: deps.now() })))
        throw notFound("export", "id", id);
      return {};
    },
  };
}

async function makeExport(
  deps: Pick<Deps, "entitlements" | "jobCall" | "now">,
  { format, linkId, startDate, endDate }: CreateExportRequest,
  context: Context,
): Promise<ExportRow> {
  const { workspaceId } = callerOf(context);
  const { db } = context;
  if (linkId !== "" && !(await findScope(db, workspaceId, linkId)).hasLink)
    throw notFound("link", "linkId", linkId);
  const at = deps.now();
  const asked = startDate && wholeMs(startDate, Math.ceil);
  const end = endDate === undefined ? at : wholeMs(endDate, Math.floor);
  const order = {
    workspaceId,
    id: newId(at),
    // The rules let no other number through.
    format: ExportFormat[format] as ExportRow["format"],
    linkId: linkId || undefined,
    from: later(later(asked, await shownSince(deps, workspaceId, db)), new Date(0)) ?? at,
    to: end < at ? end : at,
    at,
    max: exportsMax,
  };
  try {
    const row = await insertExport(db, deps.jobCall, order);
    if (row !== undefined) return row;
  } catch (error) {
    if (!violates(error, "exports_running_key")) throw error;
    throw fail(
      "FAILED_PRECONDITION",
      "FAILED_PRECONDITION",
      "another export of this workspace is not finished: wait for it, or delete it",
    );
  }
  throw fail(
    "RESOURCE_EXHAUSTED",
    "LIMIT_REACHED",
    `this workspace has ${exportsMax} exports: delete one, or wait until one expires`,
  );
}
