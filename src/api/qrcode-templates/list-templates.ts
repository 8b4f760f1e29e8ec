import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  PublicQrcodeTemplateSchema,
  QrcodeTemplateSchema,
} from "../../../gen/signpost/v1/qrcode_template_pb.js";
import {
  type ListQrcodeTemplatesRequest,
  type ListQrcodeTemplatesResponseSchema,
  type PublicListQrcodeTemplatesRequest,
  type PublicListQrcodeTemplatesResponseSchema,
  QrcodeTemplateScope,
} from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { invalid } from "../../lib/errors.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { type PageEdge, readPage } from "../../lib/paging/page.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { type AvailablePlace, countAvailable, listAvailable } from "./available-queries.ts";
import { toPublicTemplate, toQrcodeTemplate } from "./message.ts";
import { countTemplates, listGallery, listTemplates, type PublicRow, type TemplateRow } from "./queries.ts";

const edgeOf = (row: TemplateRow | PublicRow) => ({ key: row.created_at, id: row.id });

/** Lists the workspace's own templates, or all that it can use. */
export function listWorkspaceTemplates(
  deps: Deps,
  request: ListQrcodeTemplatesRequest,
  context: Context,
): Promise<MessageInitShape<typeof ListQrcodeTemplatesResponseSchema>> {
  const list = request.scope === QrcodeTemplateScope.AVAILABLE ? listAvailableTemplates : listOwnTemplates;
  return list(deps, request, context);
}

async function listAvailableTemplates(
  deps: Deps,
  request: ListQrcodeTemplatesRequest,
  context: Context,
): Promise<MessageInitShape<typeof ListQrcodeTemplatesResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const signFile = fileSigner(deps);
  const { search, include } = request;
  const filters = { workspaceId, search };
  const page = readPage(request, { key: "text", sort: "available qrcode templates", filters });
  const after = page.after && placeOf(page.after);
  const withDesign = include.includes("qrcodeDesign");
  const [rows, totalCount] = await Promise.all([
    listAvailable(context.db, { ...filters, withDesign }, { size: page.size, after }),
    countAvailable(context.db, filters),
  ]);
  const { records, ...rest } = await fillPage(page, {
    rows,
    edgeOf: ({ rank, created_at, id }) => ({ key: `${rank}/${created_at.getTime()}`, id }),
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(QrcodeTemplateSchema, toQrcodeTemplate(signFile, row, workspaceId)),
    write: (template) => context.writeRecord(QrcodeTemplateSchema, template),
  });
  return { qrcodeTemplates: records, ...rest, totalCount };
}

/** Reads where a page begins. Throws INVALID_PAGE_TOKEN for a text that is no token of ours. */
function placeOf({ key, id }: PageEdge<"text">): AvailablePlace {
  const [, rank, ms] = /^(\d{1,18})\/(\d{1,14})$/.exec(key) ?? [];
  if (rank === undefined || ms === undefined)
    throw invalid(
      [{ field: "pageToken", description: "is damaged: pass `nextPageToken` on unchanged" }],
      "INVALID_PAGE_TOKEN",
    );
  return { rank: BigInt(rank), created_at: new Date(Number(ms)), id };
}

async function listOwnTemplates(
  deps: Deps,
  request: ListQrcodeTemplatesRequest,
  context: Context,
): Promise<MessageInitShape<typeof ListQrcodeTemplatesResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const signFile = fileSigner(deps);
  const { search, include } = request;
  const filters = { workspaceId, search };
  const page = readPage(request, { key: "time", sort: "qrcode templates newest first", filters });
  const withDesign = include.includes("qrcodeDesign");
  const [rows, totalCount] = await Promise.all([
    listTemplates(context.db, { ...filters, withDesign }, page),
    countTemplates(context.db, filters),
  ]);
  const { records, ...rest } = await fillPage(page, {
    rows,
    edgeOf,
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(QrcodeTemplateSchema, toQrcodeTemplate(signFile, row, workspaceId)),
    write: (template) => context.writeRecord(QrcodeTemplateSchema, template),
  });
  return { qrcodeTemplates: records, ...rest, totalCount };
}

/** Lists built-in templates and those that public workspaces have published. */
export async function listPublicTemplates(
  deps: Deps,
  request: PublicListQrcodeTemplatesRequest,
  context: Context,
): Promise<MessageInitShape<typeof PublicListQrcodeTemplatesResponseSchema>> {
  const { search, workspaceId, include } = request;
  const signFile = fileSigner(deps);
  const filters = { search, workspaceId };
  const sort = "public qrcode templates newest first";
  const page = readPage(request, { key: "time", sort, filters, default: 20, max: 100 });
  const withWorkspace = include.includes("workspace");
  const rows = await listGallery(context.db, { ...filters, withWorkspace }, page);
  const { records, ...rest } = await fillPage(page, {
    rows,
    edgeOf,
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(PublicQrcodeTemplateSchema, toPublicTemplate(signFile, row, { withWorkspace })),
    write: (template) => context.writeRecord(PublicQrcodeTemplateSchema, template),
  });
  return { qrcodeTemplates: records, ...rest };
}
