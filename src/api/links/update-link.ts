import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateLinkRequest,
  UpdateLinkResponseSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { refuse } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { linkOrigin } from "../../model/links/entrypoint.ts";
import { blockedFaults, destinationFaults, hostsToScreen, urlsAt } from "../../model/links/screened-url.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { toLink } from "./message.ts";
import { messageOptions } from "./qrcode-image.ts";
import { type LinkUpdate, readLinkUpdate } from "./rules.ts";
import { ownDestinations, readTime, wantedTags } from "./wanted-link.ts";
import { type LinkChange, type LockedLink, lockLink, updateLink } from "./writes.ts";

/** Changes a link: one statement locks, one reads, and one writes when something changes. */
export async function changeLink(
  deps: Deps,
  request: UpdateLinkRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdateLinkResponseSchema>> {
  const { workspaceId } = callerOf(context);
  const wanted = readLinkUpdate(request);
  const screened = urlsAt(ownDestinations, wanted);
  return inTransaction(context.db, async (tx) => {
    const before = await lockLink(tx, workspaceId, request.id, {
      directoryIds: listOf(wanted.directoryId),
      pageThemeIds: listOf(wanted.pageThemeId),
      qrcodeTemplateIds: listOf(wanted.qrcodeTemplateId),
      screenedHosts: hostsToScreen(screened),
    });
    if (before === undefined) throw notFound("link", "id", request.id);
    refuse(blockedFaults(screened, new Set(before.blocked_hosts)));
    if (before.domain_name !== null)
      refuse(destinationFaults(screened, [linkOrigin(before.domain_name, deps.shortUrl)]));
    checkReferences(wanted, before);
    const change = changeOf(deps, wanted, before);
    if (change === undefined) return { link: toLink(before, messageOptions(deps)) };
    const tags = await updateLink(tx, change);
    const after = {
      ...before,
      ...change.after,
      updated_at: change.at,
      tags: change.tags === undefined ? before.tags : tags,
    };
    return { link: toLink(after, messageOptions(deps)) };
  });
}

function listOf(id: string | null | undefined): readonly string[] {
  return id ? [id] : [];
}

function checkReferences(
  { directoryId, pageThemeId, qrcodeTemplateId }: LinkUpdate,
  { directories, themes, templates }: LockedLink,
): void {
  if (directoryId && directories.length === 0) throw notFound("directory", "directoryId", directoryId);
  if (pageThemeId && themes.length === 0) throw notFound("page theme", "pageThemeId", pageThemeId);
  if (qrcodeTemplateId && templates.length === 0)
    throw notFound("QR code template", "qrcodeTemplateId", qrcodeTemplateId);
}

/** The change to write. Undefined when the link already has the wanted values. */
function changeOf({ now, jobCall }: Deps, wanted: LinkUpdate, before: LockedLink): LinkChange | undefined {
  const at = now();
  const [template] = before.templates;
  const restyled = template !== undefined && !isDeepStrictEqual(template.options, before.design_options);
  const pageThemeId = changed(wanted.pageThemeId, before.page_theme_id);
  const after: LinkChange["after"] = {
    workspace_id: before.workspace_id,
    id: before.id,
    shortlink: before.shortlink,
    domain_name: before.domain_name,
    qrcode_design_id: before.qrcode_design_id,
    name: wanted.name ?? before.name,
    purpose: wanted.purpose ?? before.purpose,
    fallback_destination: wanted.fallbackDestination ?? before.fallback_destination,
    expires_at: wanted.expiresAt === undefined ? before.expires_at : readTime(wanted.expiresAt ?? undefined),
    expired_destination: wanted.expiredDestination ?? before.expired_destination,
    directory_id: changed(wanted.directoryId, before.directory_id),
    page_theme_id: pageThemeId,
    // Another page theme has not been copied from the template of the former one.
    page_theme_template_id: pageThemeId === before.page_theme_id ? before.page_theme_template_id : null,
    qrcode_template_id: changed(wanted.qrcodeTemplateId, before.qrcode_template_id),
    qrcode_pending_update_since: restyled ? at : before.qrcode_pending_update_since,
  };
  const tags = wanted.tags && wantedTags(wanted.tags);
  const retagged =
    tags &&
    !isDeepStrictEqual(
      tags.map(({ key }) => key),
      before.tags.map((tag) => tag.name_key),
    );
  // The columns of the new values are columns of the row before, too.
  const columns = Object.keys(after) as (keyof typeof after)[];
  if (!retagged && !restyled && columns.every((column) => isDeepStrictEqual(after[column], before[column])))
    return undefined;
  return {
    at,
    after,
    tags: retagged ? tags.map((tag) => ({ ...tag, id: newId(at), linkId: before.id })) : undefined,
    restyling: restyled
      ? {
          options: template.options,
          drawing: jobCall("render-qrcode", { workspaceId: before.workspace_id, linkId: before.id }),
        }
      : undefined,
  };
}

function changed(wanted: string | null | undefined, before: string | null): string | null {
  return wanted === undefined ? before : wanted === null ? null : wanted.toLowerCase();
}
