import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  CreateContactLinkRequest,
  CreateLinkRequest,
  CreateThankYouLinkRequest,
} from "../../../gen/signpost/v1/links_service_pb.js";
import {
  type VCardPayload,
  VCardPayloadSchema,
} from "../../../gen/signpost/v1/workflow_step_payload_page_pb.js";
import { type Fault, invalidArgument } from "../../lib/errors.ts";
import { destinationName } from "../../model/links/destination.ts";
import { platformFaults, withPlatforms } from "../../model/links/platform.ts";
import { type ScreenedUrl, urlsAt } from "../../model/links/screened-url.ts";
import { stepActions } from "../../model/steps/kinds.ts";
import { nameKey } from "../resources/name-key.ts";
import type { ExitStep } from "./create-writes.ts";

/** What any kind of link is made of. Texts and ids that the request leaves out are empty. */
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
  /** Every address that the link may send visitors to. */
  readonly urls: readonly ScreenedUrl[];
}

/** The fields with addresses that a link leads to beside its workflow. */
export const ownDestinations = ["fallbackDestination", "expiredDestination"] as const;

/** How many characters a name has at most. */
const nameLengthMax = 255;

/** A link to a destination. */
export function redirectLink(request: CreateLinkRequest): WantedLink {
  const { destination, conversionTracking } = request;
  return {
    ...request,
    name: request.name || destinationName(destination),
    exit: { action: "CLIENT_REDIRECT", payload: { destination, conversionTracking } },
    urls: redirectUrls(request),
  };
}

export function redirectUrls(request: CreateLinkRequest): ScreenedUrl[] {
  return [...urlsAt(stepActions.CLIENT_REDIRECT.urls, request), ...urlsAt(ownDestinations, request)];
}

/** A link to a contact card. */
export function contactLink(request: CreateContactLinkRequest): WantedLink {
  const { vcardData } = request;
  if (vcardData === undefined) throw new Error("a link without its card was let through");
  const name = request.name || `${vcardData.firstName} ${vcardData.lastName}`;
  return {
    ...request,
    name: [...name].slice(0, nameLengthMax).join(""),
    exit: { action: "CONTACT_CARD", payload: cardPayload(vcardData) },
    urls: contactUrls(request),
  };
}

export function contactUrls(request: CreateContactLinkRequest): ScreenedUrl[] {
  const ofCard = urlsAt(stepActions.CONTACT_CARD.urls, request.vcardData ?? {}, "vcardData.");
  return [...ofCard, ...urlsAt(ownDestinations, request)];
}

/** What is wrong with a contact card: a missing card, and platforms that do not exist. */
export function cardFaults({ vcardData }: CreateContactLinkRequest): Fault[] {
  if (vcardData === undefined) return [invalidArgument("vcardData", "is required")];
  const { list, among } = stepActions.CONTACT_CARD.platforms;
  return platformFaults(vcardData[list], among, `vcardData.${list}`);
}

function cardPayload(card: VCardPayload): JsonObject {
  const { among } = stepActions.CONTACT_CARD.platforms;
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
    urls: thankYouUrls(request),
  };
}

export function thankYouUrls(request: CreateThankYouLinkRequest): ScreenedUrl[] {
  return urlsAt(ownDestinations, request);
}

/** A time to the millisecond, as times are stored. */
export function readTime(time: Timestamp | undefined): Date | null {
  return time === undefined ? null : new Date(Math.floor(timestampMs(time)));
}

/** A tag that a request names. Two tags with the same key are the same tag. */
export interface WantedTag {
  readonly name: string;
  readonly key: string;
}

/** Tags in the order of the request. Names that differ only by case become one tag. */
export function wantedTags(names: readonly string[]): WantedTag[] {
  const wanted = new Map<string, WantedTag>();
  for (const name of names) {
    const key = nameKey(name);
    if (!wanted.has(key)) wanted.set(key, { name, key });
  }
  return [...wanted.values()];
}
