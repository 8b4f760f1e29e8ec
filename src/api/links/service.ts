import type { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { refuse } from "../../lib/errors.ts";
import { classifyShortlink, reservationMs } from "../../model/links/shortlink.ts";
import { type Context, callerOf, type Handlers, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { queueBulkJob } from "./bulk-job.ts";
import { createLink, createManyLinks } from "./create-link.ts";
import { getLeadScore } from "./lead-score.ts";
import { listLinksPage } from "./list-links.ts";
import { toLink } from "./message.ts";
import { messageOptions } from "./qrcode-image.ts";
import { findImageKeys, findLink, findShortlinkUse, includeOf } from "./queries.ts";
import { linkChecks, shortlinkFaults } from "./rules.ts";
import { changeLink } from "./update-link.ts";
import { contactLink, redirectLink, thankYouLink } from "./wanted-link.ts";
import { deleteLink } from "./writes.ts";

export function linksService(deps: Deps): Handlers<typeof LinksService> {
  const checks = linkChecks(deps);
  return {
    create: withCheck(checks.redirect, (request, context) =>
      createLink(deps, redirectLink(request), context),
    ),
    createContactLink: withCheck(checks.contact, (request, context) =>
      createLink(deps, contactLink(request), context),
    ),
    createThankYouLink: withCheck(checks.thankYou, (request, context) =>
      createLink(deps, thankYouLink(request), context),
    ),
    createBatch: withCheck(checks.many, ({ links }, context) =>
      createManyLinks(deps, links.map(redirectLink), context),
    ),
    createBulk: withCheck(checks.many, ({ links }, context) =>
      createManyLinks(deps, links.map(redirectLink), context),
    ),
    createBulkJob: withCheck(checks.job, (request, context) => queueBulkJob(deps, request, context)),
    list: (request, context) => listLinksPage(deps, request, context),
    update: withCheck(checks.change, (request, context) => changeLink(deps, request, context)),
    getLeadScore,

    async get({ id, include }, context) {
      const included = includeOf(include);
      const link = await findLink(context.db, callerOf(context).workspaceId, id, included);
      if (link === undefined) throw notFound("link", "id", id);
      return { link: toLink(link, messageOptions(deps, included)) };
    },

    async delete({ id }, context) {
      const { workspaceId } = callerOf(context);
      const isDeleted = await inTransaction(context.db, (tx) => deleteLink(tx, workspaceId, id, deps.now()));
      if (!isDeleted) throw notFound("link", "id", id);
      return {};
    },

    async resolveQrcodeImages({ linkIds }, context) {
      const rows = await findImageKeys(context.db, callerOf(context).workspaceId, linkIds);
      const { signFile } = messageOptions(deps);
      const addresses = rows.map(({ id, qrcode_image_key }) => [id, signFile(qrcode_image_key)]);
      return { qrcodeSignedUrls: Object.fromEntries(addresses) };
    },

    async shortlinkAvailability({ shortlink, customDomainId }, context) {
      const found = classifyShortlink(shortlink);
      if (found === "invalid") refuse(shortlinkFaults(shortlink));
      const taken = await isTaken(deps, context, { shortlink, customDomainId });
      return { available: found === "open" && !taken };
    },

    async shortlinkRandom(_request, context) {
      for (;;) {
        const shortlink = deps.newShortlink();
        if (!(await isTaken(deps, context, { shortlink, customDomainId: "" }))) return { shortlink };
      }
    },
  };
}

/** Whether a short link is in use or reserved. An empty domain is the default one. */
async function isTaken(
  { now }: Deps,
  context: Context,
  { shortlink, customDomainId }: { readonly shortlink: string; readonly customDomainId: string },
): Promise<boolean> {
  const { workspaceId } = callerOf(context);
  const place = { workspaceId, customDomainId: customDomainId || null, shortlink };
  const releasedBefore = new Date(now().getTime() - reservationMs);
  const { taken, domainExists } = await findShortlinkUse(context.db, place, releasedBefore);
  if (customDomainId !== "" && !domainExists)
    throw notFound("custom domain", "customDomainId", customDomainId);
  return taken;
}
