import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FindMatchingPageThemeTemplateResponseSchema } from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { lookHash } from "../../model/look/look-hash.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { notFound } from "../resources/not-found.ts";
import { pageThemeTemplates as kind } from "../resources/page-themes/template-kind.ts";
import { findTemplate } from "../resources/templates/queries.ts";
import { findLinkLook, findTwin } from "./template-queries.ts";

/** Finds the template that looks as a link does. */
export async function findMatchingTemplate(
  deps: Deps,
  linkId: string,
  context: Context,
): Promise<MessageInitShape<typeof FindMatchingPageThemeTemplateResponseSchema>> {
  const { db } = context;
  const { workspaceId } = callerOf(context);
  const look = await findLinkLook(db, workspaceId, linkId);
  if (look === undefined) throw notFound("link", "linkId", linkId);
  // The column is only ever written with objects.
  const id = await findTwin(db, workspaceId, lookHash((look.styling ?? {}) as object, look));
  const row = id && (await findTemplate(db, { ...kind, withLook: false }, workspaceId, id));
  // A template that was deleted in between is none.
  if (!row) return { matched: false };
  return { matched: true, pageThemeTemplate: kind.toOwn(fileSigner(deps), row, workspaceId) };
}
