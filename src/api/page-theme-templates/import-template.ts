import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ImportPageThemeTemplateResponseSchema } from "../../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import type { PageThemeRow } from "../resources/page-theme.ts";
import { copyLook, keepCopies } from "../resources/page-themes/media-copies.ts";
import { pageThemeTemplates as kind } from "../resources/page-themes/template-kind.ts";
import { changedTemplate } from "../resources/templates/operations.ts";
import { findInGallery } from "../resources/templates/queries.ts";
import { noSuchPublicTemplate } from "../resources/templates/rules.ts";
import { newTemplate } from "./create-template.ts";
import { insertTemplate } from "./writes.ts";

/**
 * Reads a template of the gallery and copies its media files, and leaves the private copy to be written. The copy is
 * whole, whatever becomes of the original meanwhile.
 */
export async function prepareImport(
  deps: Deps,
  slug: string,
  context: Context,
): Promise<Write<MessageInitShape<typeof ImportPageThemeTemplateResponseSchema>>> {
  const { workspaceId } = callerOf(context);
  const reading = { ...kind, withLook: true };
  const original = await findInGallery(context.db, reading, slug, { withWorkspace: false });
  if (original === undefined) throw noSuchPublicTemplate(kind, slug, "slug");
  const { workspace_id, id, name, description, tags, learn_more, faq, look } = original;
  // The look is a row of the themes.
  const { styling } = look as unknown as PageThemeRow;
  const copied = await copyLook(deps, context.db, workspaceId, { workspace_id, styling });
  if (copied === undefined) return async () => undefined;
  const texts = { name, description, tags, learn_more, faq };
  const { lookHash } = copied;
  const template = newTemplate(deps, workspaceId, {
    ...texts,
    duplicated_from: id,
    styling: copied.styling,
    lookHash,
  });
  return (db) =>
    inTransaction(db, async (tx) => {
      if (!(await keepCopies(tx, workspaceId, copied))) return undefined;
      await insertTemplate(tx, template);
      return { pageThemeTemplate: await changedTemplate(kind, deps, tx, template) };
    });
}
