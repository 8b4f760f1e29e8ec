import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { invalid } from "../../../lib/errors.ts";
import { type FilledPage, fillPage } from "../../../lib/paging/fill-page.ts";
import { type PageEdge, type PageRequest, readPage } from "../../../lib/paging/page.ts";
import { type Context, callerOf } from "../../../rpc/handlers.ts";
import type { Deps } from "../../deps.ts";
import { fileSigner } from "../file-address.ts";
import { type AvailablePlace, countAvailable, listAvailable } from "./available-queries.ts";
import type { TemplateKind } from "./kind.ts";
import { countTemplates, listGallery, listTemplates, type StoredTemplate } from "./queries.ts";

/** What the lists of a workspace's templates are asked. */
export interface OwnList extends PageRequest {
  readonly search: string;
  /** Whether it shows all templates that the workspace can use, in place of its own. */
  readonly all: boolean;
  readonly withLook: boolean;
}

type OwnPage<Own extends DescMessage> = FilledPage<MessageShape<Own>> & { readonly totalCount: bigint };

const edgeOf = (row: StoredTemplate) => ({ key: row.created_at, id: row.id });

/** Lists the workspace's own templates, or all that it can use. */
export function listWorkspaceTemplates<Own extends DescMessage>(
  kind: TemplateKind<Own>,
  deps: Deps,
  list: OwnList,
  context: Context,
): Promise<OwnPage<Own>> {
  return (list.all ? listAvailableTemplates : listOwnTemplates)(kind, deps, list, context);
}

async function listAvailableTemplates<Own extends DescMessage>(
  kind: TemplateKind<Own>,
  deps: Deps,
  { withLook, ...list }: OwnList,
  context: Context,
): Promise<OwnPage<Own>> {
  const { workspaceId } = callerOf(context);
  const signFile = fileSigner(deps);
  const filters = { workspaceId, search: list.search };
  const page = readPage(list, { key: "text", sort: `available ${kind.listed}`, filters });
  const after = page.after && placeOf(page.after);
  const [rows, totalCount] = await Promise.all([
    listAvailable(context.db, { ...kind, withLook }, filters, { size: page.size, after }),
    countAvailable(context.db, kind.tables, filters),
  ]);
  const filled = await fillPage(page, {
    rows,
    edgeOf: ({ rank, created_at, id }) => ({ key: `${rank}/${created_at.getTime()}`, id }),
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(kind.own, kind.toOwn(signFile, row, workspaceId)),
    write: (template) => context.writeRecord(kind.own, template),
  });
  return { ...filled, totalCount };
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

async function listOwnTemplates<Own extends DescMessage>(
  kind: TemplateKind<Own>,
  deps: Deps,
  { withLook, ...list }: OwnList,
  context: Context,
): Promise<OwnPage<Own>> {
  const { workspaceId } = callerOf(context);
  const signFile = fileSigner(deps);
  const filters = { workspaceId, search: list.search };
  const page = readPage(list, { key: "time", sort: `${kind.listed} newest first`, filters });
  const [rows, totalCount] = await Promise.all([
    listTemplates(context.db, { ...kind, withLook }, filters, page),
    countTemplates(context.db, kind.tables, filters),
  ]);
  const filled = await fillPage(page, {
    rows,
    edgeOf,
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(kind.own, kind.toOwn(signFile, row, workspaceId)),
    write: (template) => context.writeRecord(kind.own, template),
  });
  return { ...filled, totalCount };
}

/** What the lists of the gallery are asked. */
export interface PublicList extends PageRequest {
  readonly search: string;
  /** Only templates of this workspace; empty for all. */
  readonly workspaceId: string;
  readonly include: readonly string[];
}

/** Lists built-in templates and those that public workspaces have published. */
export async function listPublicTemplates<Public extends DescMessage>(
  kind: TemplateKind<DescMessage, Public>,
  deps: Deps,
  list: PublicList,
  context: Context,
): Promise<FilledPage<MessageShape<Public>>> {
  const { search, workspaceId, include } = list;
  const signFile = fileSigner(deps);
  const filters = { search, workspaceId };
  const sort = `public ${kind.listed} newest first`;
  const page = readPage(list, { key: "time", sort, filters, default: 20, max: 100 });
  const filter = { ...filters, withWorkspace: include.includes("workspace") };
  const rows = await listGallery(context.db, { ...kind, withLook: kind.showsLook }, filter, page);
  return fillPage(page, {
    rows,
    edgeOf,
    bytesOf: ({ bytes }) => bytes,
    recordOf: (row) => create(kind.public, kind.toPublic(signFile, row)),
    write: (template) => context.writeRecord(kind.public, template),
  });
}
