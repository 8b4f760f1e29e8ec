import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LinkSchema } from "../../../gen/signpost/v1/link_pb.js";
import type { WorkflowStepSchema } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { type Db, inTransaction, violates } from "../../db/open.ts";
import { fail, refuse } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { linkOrigin } from "../../model/links/entrypoint.ts";
import { destinationFaults, hostsToScreen, refuseBlocked } from "../../model/links/screened-url.ts";
import { classifyShortlink, reservationMs } from "../../model/links/shortlink.ts";
import { defaultDesignOptions } from "../../model/look/design-options.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { toFirstSteps, toLink } from "./message.ts";
import { awaitImage, messageOptions } from "./qrcode-image.ts";
import type { ImageState, LinkWithParts } from "./queries.ts";
import { readTime, type WantedLink, wantedTags } from "./wanted-link.ts";
import { type Insertion, insertLink, lockReferences, type NewLink, type References } from "./writes.ts";

/** How many random short links are tried. With a billion links, one in 200,000 random short links is taken. */
const randomTries = 5;

/** What every way to create a link answers. */
export interface CreatedLink {
  readonly link: MessageInitShape<typeof LinkSchema>;
  readonly workflowSteps: MessageInitShape<typeof WorkflowStepSchema>[];
}

/**
 * Makes a link that `rules.ts` has accepted. Takes one statement, or two in a transaction when the link refers to
 * other records.
 */
export async function createLink(deps: Deps, wanted: WantedLink, context: Context): Promise<CreatedLink> {
  const { workspaceId } = callerOf(context);
  const refersToOthers =
    wanted.customDomainId || wanted.directoryId || wanted.qrcodeDesignId || wanted.qrcodeTemplateId;
  const { link, insertion } = refersToOthers
    ? await inTransaction(context.db, async (tx) => {
        const references = await lockReferences(tx, workspaceId, {
          ...wanted,
          screenedHosts: hostsToScreen(wanted.urls),
        });
        checkReferences(wanted, references, deps.shortUrl);
        return insert(deps, tx, wanted, { workspaceId, references });
      })
    : await insert(deps, context.db, wanted, { workspaceId, references: undefined });

  const answer = (image: ImageState | undefined) => ({
    link: toLink(
      { ...rowOf(link, insertion), ...image },
      { ...messageOptions(deps), showsImage: image !== undefined },
    ),
    workflowSteps: toFirstSteps(link),
  });
  if (wanted.waitForQrcode) {
    const { signal } = context;
    context.afterCommit(async (db) =>
      answer(await awaitImage(deps, { db, signal }, { workspaceId, linkId: link.id })),
    );
  }
  return answer(undefined);
}

/** Throws for everything that is wrong with the records that a wanted link refers to. */
function checkReferences(wanted: WantedLink, found: References, shortUrl: string): void {
  refuseBlocked(wanted.urls, found.blocked_host);
  if (found.domain)
    refuse(destinationFaults(wanted.urls, [shortUrl, linkOrigin(found.domain.name, shortUrl)]));
  if (wanted.customDomainId !== "" && found.domain === null)
    throw notFound("custom domain", "customDomainId", wanted.customDomainId);
  if (wanted.directoryId !== "" && !found.has_directory)
    throw notFound("directory", "directoryId", wanted.directoryId);
  if (wanted.qrcodeDesignId !== "" && found.design === null)
    throw notFound("QR code design", "qrcodeDesignId", wanted.qrcodeDesignId);
  if (wanted.qrcodeTemplateId !== "" && found.template === null)
    throw notFound("QR code template", "qrcodeTemplateId", wanted.qrcodeTemplateId);
  const status = found.domain?.status;
  if (status !== undefined && status !== "ACTIVE" && status !== "RENEWAL_PENDING")
    throw fail(
      "FAILED_PRECONDITION",
      "DOMAIN_NOT_ACTIVE",
      `custom domain ${found.domain?.name} has status ${status}: only ACTIVE and RENEWAL_PENDING ones take links`,
      { metadata: { status } },
    );
  if (found.design?.used)
    throw fail(
      "FAILED_PRECONDITION",
      "DESIGN_IN_USE",
      `QR code design ${wanted.qrcodeDesignId} is already used by a link or template: make a new one`,
    );
}

interface Inserted {
  readonly link: NewLink;
  readonly insertion: Insertion;
}

/** Inserts under the wanted short link, or under random ones until one is free. */
async function insert(
  deps: Deps,
  db: Db,
  wanted: WantedLink,
  known: { readonly workspaceId: string; readonly references: References | undefined },
): Promise<Inserted> {
  // Nothing is looked up for such a short link, so that nobody can tell ids of others' links from unused ones.
  if (classifyShortlink(wanted.shortlink) === "id") throw shortlinkTaken(wanted.shortlink);
  const link = newLink(deps, wanted, known);
  for (let tries = 0; tries < (wanted.shortlink === "" ? randomTries : 1); tries++) {
    const attempt = wanted.shortlink === "" ? { ...link, shortlink: deps.newShortlink() } : link;
    const insertion = await insertOrFail(db, attempt);
    refuseBlocked(wanted.urls, insertion.blocked_host);
    if (insertion.inserted) return { link: attempt, insertion };
  }
  if (wanted.shortlink !== "") throw shortlinkTaken(wanted.shortlink);
  throw new Error(`${randomTries} random short links in a row were taken`);
}

function shortlinkTaken(shortlink: string): Error {
  return fail(
    "ALREADY_EXISTS",
    "SHORTLINK_TAKEN",
    `shortlink ${shortlink} is in use, or was in use within the last 90 days: choose another`,
    {
      metadata: { shortlink },
    },
  );
}

async function insertOrFail(db: Db, link: NewLink): Promise<Insertion> {
  try {
    return await insertLink(db, link);
  } catch (error) {
    if (violates(error, "links_pkey"))
      throw fail("ALREADY_EXISTS", "ID_TAKEN", `id ${link.id} is in use`, { metadata: { id: link.id } });
    throw error;
  }
}

function newLink(
  { now, jobCall }: Deps,
  wanted: WantedLink,
  { workspaceId, references }: { readonly workspaceId: string; readonly references: References | undefined },
): NewLink {
  const at = now();
  const id = wanted.id.toLowerCase() || newId(at);
  // Steps are listed by their time and then by their id. These two have the same time, so the entry gets the smaller
  // id.
  const [entryStepId = "", exitStepId = ""] = [newId(at), newId(at)].sort((a, b) => (a < b ? -1 : 1));
  return {
    workspaceId,
    id,
    at,
    host: references?.domain?.name ?? "",
    shortlink: wanted.shortlink,
    releasedBefore: new Date(at.getTime() - reservationMs),
    name: wanted.name,
    customDomainId: wanted.customDomainId || null,
    directoryId: wanted.directoryId || null,
    fallbackDestination: wanted.fallbackDestination,
    expiresAt: readTime(wanted.expiresAt),
    expiredDestination: wanted.expiredDestination,
    purpose: wanted.purpose,
    metadata: wanted.metadata,
    design: wanted.qrcodeDesignId
      ? { id: wanted.qrcodeDesignId }
      : { id: newId(at), options: references?.template?.options ?? defaultDesignOptions },
    qrcodeTemplateId: wanted.qrcodeTemplateId || null,
    entryStepId,
    exit: { stepId: exitStepId, ...wanted.exit },
    tags: wantedTags(wanted.tags).map((tag) => ({ ...tag, id: newId(at) })),
    screenedHosts: hostsToScreen(wanted.urls),
    drawing: jobCall("render-qrcode", { workspaceId, linkId: id }),
  };
}

/** The row that the statement wrote. The database fills in nothing of its own. */
function rowOf(link: NewLink, { tags }: Insertion): LinkWithParts {
  return {
    workspace_id: link.workspaceId,
    id: link.id,
    name: link.name,
    shortlink: link.shortlink,
    custom_domain_id: link.customDomainId,
    directory_id: link.directoryId,
    fallback_destination: link.fallbackDestination,
    expires_at: link.expiresAt,
    expired_destination: link.expiredDestination,
    purpose: link.purpose,
    metadata: link.metadata,
    page_theme_id: null,
    page_theme_template_id: null,
    qrcode_design_id: link.design.id,
    qrcode_template_id: link.qrcodeTemplateId,
    qrcode_image_key: null,
    qrcode_pending_update_since: link.at,
    created_at: link.at,
    updated_at: link.at,
    domain_name: link.host === "" ? null : link.host,
    event_count: 0n,
    tags,
  };
}
