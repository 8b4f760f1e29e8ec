import { type JsonObject, toJson } from "@bufbuild/protobuf";
import type {
  CreateContactLinkRequest,
  CreateLinkRequest,
  CreateThankYouLinkRequest,
} from "../../../gen/signpost/v1/links_service_pb.js";
import {
  type VCardPayload,
  VCardPayloadSchema,
} from "../../../gen/signpost/v1/workflow_step_payload_page_pb.js";
import { invalid, refuse } from "../../lib/errors.ts";
import { destinationName } from "../../model/links/destination.ts";
import { platformFaults, withPlatforms } from "../../model/links/platform.ts";
import { type ScreenedUrl, urlsAt } from "../../model/links/screened-url.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import type { ExitStep } from "./writes.ts";

/** What a link is made of, whatever it leads to; texts and ids are empty where nothing is asked for. */
export interface WantedLink
  extends Pick<
    CreateLinkRequest,
    | "id"
    | "name"
    | "shortlink"
    | "customDomainId"
    | "directoryId"
    | "fallbackDestination"
    | "expiresAt"
    | "expiredDestination"
    | "purpose"
    | "tags"
    | "metadata"
    | "qrcodeDesignId"
    | "qrcodeTemplateId"
    | "waitForQrcode"
  > {
  readonly exit: Omit<ExitStep, "stepId">;
  /** Every address that visitors may be sent to. */
  readonly urls: readonly ScreenedUrl[];
}

/** Where a link leads beside its workflow. */
export const ownDestinations = ["fallbackDestination", "expiredDestination"] as const;

/** Most characters of a name. */
const nameLengthMax = 255;

/** A link to a destination. */
export function redirectLink(request: CreateLinkRequest): WantedLink {
  const { destination, conversionTracking } = request;
  if (destination === "") throw invalid([{ field: "destination", description: "is required" }]);
  return {
    ...request,
    name: request.name || destinationName(destination),
    exit: { action: "CLIENT_REDIRECT", payload: { destination, conversionTracking } },
    urls: [...urlsAt(stepActions.CLIENT_REDIRECT.urls, request), ...urlsAt(ownDestinations, request)],
  };
}

/** A link to a contact card. Throws INVALID_ARGUMENT for platforms that there are not. */
export function contactLink(request: CreateContactLinkRequest): WantedLink {
  const { vcardData } = request;
  if (vcardData === undefined) throw invalid([{ field: "vcardData", description: "is required" }]);
  const name = request.name || `${vcardData.firstName} ${vcardData.lastName}`;
  return {
    ...request,
    name: [...name].slice(0, nameLengthMax).join(""),
    exit: { action: "CONTACT_CARD", payload: cardPayload(vcardData) },
    urls: [
      ...urlsAt(stepActions.CONTACT_CARD.urls, vcardData, "vcardData."),
      ...urlsAt(ownDestinations, request),
    ],
  };
}

function cardPayload(card: VCardPayload): JsonObject {
  const { among } = stepActions.CONTACT_CARD.platforms;
  refuse(platformFaults(card.socialLinks, among, "vcardData.socialLinks"));
  // A message that is no well-known type is written as an object.
  const payload = toJson(VCardPayloadSchema, card, { alwaysEmitImplicit: true }) as JsonObject;
  const links = card.socialLinks.map(({ platform, url }) => ({ platform, url }));
  return { ...payload, socialLinks: withPlatforms(links, among) };
}

/** A link to a thank-you page. */
export function thankYouLink(request: CreateThankYouLinkRequest): WantedLink {
  const { title, description } = request;
  return {
    ...request,
    fallbackDestination: "",
    name: request.name || title,
    exit: { action: "THANK_YOU_PAGE", payload: { title, description } },
    urls: urlsAt(ownDestinations, request),
  };
}
