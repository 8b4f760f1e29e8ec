import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { type Db, inTransaction } from "../../../db/open.ts";
import { type Context, callerOf } from "../../../rpc/handlers.ts";
import type { Deps } from "../../deps.ts";
import { fileSigner } from "../file-address.ts";
import type { TemplateKind } from "./kind.ts";
import { findInGallery, findTemplate, type StoredTemplate } from "./queries.ts";
import { checkPublishable, checkTemplateChangeable, noSuchPublicTemplate, noSuchTemplate } from "./rules.ts";
import { deleteTemplate, lockTemplate, publishTemplate } from "./writes.ts";

export async function getTemplate<Own extends DescMessage>(
  kind: TemplateKind<Own>,
  deps: Deps,
  { id, withLook }: { readonly id: string; readonly withLook: boolean },
  context: Context,
): Promise<MessageInitShape<Own>> {
  const { workspaceId } = callerOf(context);
  const row = await findTemplate(context.db, { ...kind, withLook }, workspaceId, id);
  if (row === undefined) throw noSuchTemplate(kind, id);
  return kind.toOwn(fileSigner(deps), row, workspaceId);
}

export async function getPublicTemplate<Public extends DescMessage>(
  kind: TemplateKind<DescMessage, Public>,
  deps: Deps,
  { slug, include }: { readonly slug: string; readonly include: readonly string[] },
  context: Context,
): Promise<MessageInitShape<Public>> {
  const withWorkspace = include.includes("workspace");
  const row = await findInGallery(context.db, { ...kind, withLook: kind.showsLook }, slug, { withWorkspace });
  if (row === undefined) throw noSuchPublicTemplate(kind, slug);
  return kind.toPublic(fileSigner(deps), row);
}

/** The workspace's template as it is in the caller's transaction, for the answer of a call that changed it. */
export async function changedTemplate<Own extends DescMessage>(
  kind: TemplateKind<Own>,
  deps: Deps,
  db: Db,
  { workspace_id: workspaceId, id }: Pick<StoredTemplate, "workspace_id" | "id">,
): Promise<MessageInitShape<Own>> {
  const row = await findTemplate(db, { ...kind, withLook: false }, workspaceId, id);
  if (row === undefined) throw new Error("a template that a call changed is not there");
  return kind.toOwn(fileSigner(deps), row, workspaceId);
}

/** Publishes a template; one that is published stays as it is. */
export async function publish<Own extends DescMessage>(
  kind: TemplateKind<Own>,
  deps: Deps,
  id: string,
  context: Context,
): Promise<MessageInitShape<Own>> {
  const { workspaceId } = callerOf(context);
  return inTransaction(context.db, async (tx) => {
    const template = await lockTemplate(tx, kind.tables, workspaceId, id);
    checkTemplateChangeable(kind, template, id);
    if (template.published_at === null) {
      checkPublishable(kind, template);
      await publishTemplate(tx, kind.tables, template, deps.now());
    }
    return changedTemplate(kind, deps, tx, template);
  });
}

export async function remove(kind: TemplateKind, deps: Deps, id: string, context: Context): Promise<void> {
  const { workspaceId } = callerOf(context);
  await inTransaction(context.db, async (tx) => {
    const template = await lockTemplate(tx, kind.tables, workspaceId, id);
    checkTemplateChangeable(kind, template, id);
    await deleteTemplate(tx, kind.tables, template, deps.now());
  });
}
