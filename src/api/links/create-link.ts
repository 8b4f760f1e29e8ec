import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateLinkRequest,
  CreateLinkResponseSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { type Db, inTransaction, violates } from "../../db/open.ts";
import { fail, invalid, refuse } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { destinationName } from "../../model/destination.ts";
import {
  destinationFaults,
  hostsToScreen,
  refuseBlocked,
  type ScreenedUrl,
} from "../../model/screened-url.ts";
import { classifyShortlink, reservationMs } from "../../model/shortlink.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { defaultDesignOptions, originOf, toFirstSteps, toLink } from "./message.ts";
import { awaitImage, signedFor } from "./qrcode-image.ts";
import type { ImageState, LinkRow } from "./queries.ts";
import { notFound, shortlinkFaults, shortlinkTaken, wantedTags } from "./rules.ts";
import { type Insertion, insertLink, lockReferences, type NewLink, type References } from "./writes.ts";

/** How often another random short link is tried; with a billion links, one in 200,000 tries finds its place taken. */
const randomTries = 5;

/** Makes a link: one statement, or two in a transaction when the request refers to other records. */
export async function createLink(
  deps: Deps,
  request: CreateLinkRequest,
  context: Context,
): Promise<MessageInitShape<typeof CreateLinkResponseSchema>> {
  const { workspaceId } = callerOf(context);
  checkRequest(request, deps.shortUrl);
  const refersToOthers =
    request.customDomainId || request.directoryId || request.qrcodeDesignId || request.qrcodeTemplateId;
  const { link, insertion } = refersToOthers
    ? await inTransaction(context.db, async (tx) => {
        const references = await lockReferences(tx, workspaceId, {
          ...request,
          screenedHosts: hostsToScreen(urlsOf(request)),
        });
        checkReferences(request, references, deps.shortUrl);
        return insert(deps, tx, request, { workspaceId, references });
      })
    : await insert(deps, context.db, request, { workspaceId, references: undefined });

  const answer = (image: ImageState | undefined) => ({
    link: toLink(
      { ...rowOf(link, insertion), ...image },
      { shortUrl: deps.shortUrl, signImage: image && signedFor(deps) },
    ),
    workflowSteps: toFirstSteps(link),
  });
  if (request.waitForQrcode) {
    const { signal } = context;
    context.afterCommit(async (db) =>
      answer(await awaitImage(deps, { db, signal }, { workspaceId, linkId: link.id })),
    );
  }
  return answer(undefined);
}

function urlsOf({ destination, fallbackDestination }: CreateLinkRequest): ScreenedUrl[] {
  return [
    { field: "destination", url: destination },
    { field: "fallbackDestination", url: fallbackDestination },
  ];
}

/** Whatever is wrong with a request as such. */
function checkRequest(request: CreateLinkRequest, shortUrl: string): void {
  if (request.destination === "") throw invalid([{ field: "destination", description: "is required" }]);
  refuse([
    ...destinationFaults(urlsOf(request), [shortUrl]),
    ...(request.shortlink === "" ? [] : shortlinkFaults(request.shortlink)),
  ]);
  if (request.qrcodeDesignId !== "" && request.qrcodeTemplateId !== "")
    throw invalid([{ field: "qrcodeTemplateId", description: "must not come together with qrcodeDesignId" }]);
}

/** Whatever is wrong with the records that a request refers to. */
function checkReferences(request: CreateLinkRequest, found: References, shortUrl: string): void {
  refuseBlocked(urlsOf(request), found.blocked_host);
  if (found.domain)
    refuse(destinationFaults(urlsOf(request), [shortUrl, originOf(found.domain.name, shortUrl)]));
  if (request.customDomainId !== "" && found.domain === null)
    throw notFound("custom domain", "customDomainId", request.customDomainId);
  if (request.directoryId !== "" && !found.has_directory)
    throw notFound("directory", "directoryId", request.directoryId);
  if (request.qrcodeDesignId !== "" && found.design === null)
    throw notFound("QR code design", "qrcodeDesignId", request.qrcodeDesignId);
  if (request.qrcodeTemplateId !== "" && found.template === null)
    throw notFound("QR code template", "qrcodeTemplateId", request.qrcodeTemplateId);
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
      `QR code design ${request.qrcodeDesignId} belongs to another record: make a new one`,
    );
}

interface Inserted {
  readonly link: NewLink;
  readonly insertion: Insertion;
}

/** Inserts under the short link asked for, or under random ones until one is free. */
async function insert(
  deps: Deps,
  db: Db,
  request: CreateLinkRequest,
  known: { readonly workspaceId: string; readonly references: References | undefined },
): Promise<Inserted> {
  // Nothing is looked up for it, so that nobody can tell the ids of others' links from unused ones.
  if (classifyShortlink(request.shortlink) === "id") throw shortlinkTaken(request.shortlink);
  const link = newLink(deps, request, known);
  for (let tries = 0; tries < (request.shortlink === "" ? randomTries : 1); tries++) {
    const attempt = request.shortlink === "" ? { ...link, shortlink: deps.newShortlink() } : link;
    const insertion = await insertOrFail(db, attempt);
    refuseBlocked(urlsOf(request), insertion.blocked_host);
    if (insertion.inserted) return { link: attempt, insertion };
  }
  if (request.shortlink !== "") throw shortlinkTaken(request.shortlink);
  throw new Error(`${randomTries} random short links in a row were taken`);
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
  request: CreateLinkRequest,
  { workspaceId, references }: { readonly workspaceId: string; readonly references: References | undefined },
): NewLink {
  const at = now();
  const id = request.id.toLowerCase() || newId(at);
  // Steps are listed by the time they were made and their id, and these two are made at once.
  const [entryStepId = "", redirectStepId = ""] = [newId(at), newId(at)].sort((a, b) => (a < b ? -1 : 1));
  return {
    workspaceId,
    id,
    at,
    host: references?.domain?.name ?? "",
    shortlink: request.shortlink,
    releasedBefore: new Date(at.getTime() - reservationMs),
    name: request.name || destinationName(request.destination),
    customDomainId: request.customDomainId || null,
    directoryId: request.directoryId || null,
    fallbackDestination: request.fallbackDestination,
    purpose: request.purpose,
    metadata: request.metadata,
    design: request.qrcodeDesignId
      ? { id: request.qrcodeDesignId }
      : { id: newId(at), options: references?.template?.options ?? defaultDesignOptions },
    qrcodeTemplateId: request.qrcodeTemplateId || null,
    entryStepId,
    redirectStepId,
    redirectPayload: {
      destination: request.destination,
      conversionTracking: request.conversionTracking,
    },
    tags: wantedTags(request.tags).map((tag) => ({ ...tag, id: newId(at) })),
    screenedHosts: hostsToScreen(urlsOf(request)),
    drawing: jobCall("render-qrcode", { workspaceId, linkId: id }),
  };
}

/** The row that the statement wrote; nothing in it is the database's own. */
function rowOf(link: NewLink, { tags }: Insertion): LinkRow {
  return {
    workspace_id: link.workspaceId,
    id: link.id,
    name: link.name,
    shortlink: link.shortlink,
    custom_domain_id: link.customDomainId,
    directory_id: link.directoryId,
    fallback_destination: link.fallbackDestination,
    purpose: link.purpose,
    metadata: link.metadata,
    page_theme_id: null,
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
