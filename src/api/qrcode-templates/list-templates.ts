import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  PublicQrcodeTemplateSchema,
  QrcodeTemplateSchema,
} from "../../../gen/signpost/v1/qrcode_template_pb.js";
import type {
  ListQrcodeTemplatesRequest,
  ListQrcodeTemplatesResponseSchema,
  PublicListQrcodeTemplatesRequest,
  PublicListQrcodeTemplatesResponseSchema,
} from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { fillPage } from "../../lib/fill-page.ts";
import { readPage } from "../../lib/page.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toPublicTemplate, toQrcodeTemplate } from "./message.ts";
import { listGallery, listTemplates, type PublicRow, type TemplateRow } from "./queries.ts";

const edgeOf = (row: TemplateRow | PublicRow) => ({ key: row.created_at, id: row.id });

/** Lists the workspace's own templates. */
export async function listOwnTemplates(
  deps: Deps,
  request: ListQrcodeTemplatesRequest,
  context: Context,
): Promise<MessageInitShape<typeof ListQrcodeTemplatesResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const { search, include } = request;
  const filters = { workspaceId, search };
  const page = readPage(request, { key: "time", sort: "qrcode templates newest first", filters });
  const withDesign = include.includes("qrcodeDesign");
  const rows = await listTemplates(context.db, { ...filters, withDesign }, page);
  const { records, ...rest } = await fillPage(page, {
    rows,
    edgeOf,
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(QrcodeTemplateSchema, toQrcodeTemplate(deps, row)),
    write: (template) => context.writeRecord(QrcodeTemplateSchema, template),
  });
  return { qrcodeTemplates: records, ...rest };
}

/** Lists built-in templates and what public workspaces have published. */
export async function listPublicTemplates(
  deps: Deps,
  request: PublicListQrcodeTemplatesRequest,
  context: Context,
): Promise<MessageInitShape<typeof PublicListQrcodeTemplatesResponseSchema>> {
  const { search, workspaceId, include } = request;
  const filters = { search, workspaceId };
  const sort = "public qrcode templates newest first";
  const page = readPage(request, { key: "time", sort, filters, default: 20, max: 100 });
  const withWorkspace = include.includes("workspace");
  const rows = await listGallery(context.db, { ...filters, withWorkspace }, page);
  const { records, ...rest } = await fillPage(page, {
    rows,
    edgeOf,
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(PublicQrcodeTemplateSchema, toPublicTemplate(deps, row, { withWorkspace })),
    write: (template) => context.writeRecord(PublicQrcodeTemplateSchema, template),
  });
  return { qrcodeTemplates: records, ...rest };
}
