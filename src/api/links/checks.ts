import type {
  CreateContactLinkRequest,
  CreateLinkRequest,
  CreateThankYouLinkRequest,
  UpdateLinkRequest,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { type Fault, faultsFrom, invalidArgument } from "../../lib/errors.ts";
import { mayChange } from "../../lib/field-mask.ts";
import { chosenIdFaults } from "../../lib/ids.ts";
import { destinationFaults, type ScreenedUrl, urlsAt } from "../../model/links/screened-url.ts";
import type { Deps } from "../deps.ts";
import { expiryFaults, shortlinkFaults } from "./rules.ts";
import { readLinkUpdate } from "./update-link.ts";
import { cardFaults, contactUrls, ownDestinations, redirectUrls, thankYouUrls } from "./wanted-link.ts";

/** The fields that requests for any kind of link have in common. */
type AnyLink = Pick<
  CreateLinkRequest,
  "id" | "shortlink" | "expiresAt" | "qrcodeDesignId" | "qrcodeTemplateId"
>;

/** What is wrong with requests, without the records that they refer to. */
export function linkChecks({ shortUrl, now }: Pick<Deps, "shortUrl" | "now">) {
  const everyLink = (
    { id, shortlink, expiresAt, qrcodeDesignId, qrcodeTemplateId }: AnyLink,
    urls: readonly ScreenedUrl[],
  ): Fault[] => [
    ...chosenIdFaults(id),
    ...destinationFaults(urls, [shortUrl]),
    ...(shortlink === "" ? [] : shortlinkFaults(shortlink)),
    ...expiryFaults(expiresAt, now()),
    ...(qrcodeDesignId !== "" && qrcodeTemplateId !== ""
      ? [invalidArgument("qrcodeTemplateId", "must not come together with qrcodeDesignId")]
      : []),
  ];
  return {
    redirect: (request: CreateLinkRequest): Fault[] => [
      ...(request.destination === "" ? [invalidArgument("destination", "is required")] : []),
      ...everyLink(request, redirectUrls(request)),
    ],

    contact: (request: CreateContactLinkRequest): Fault[] => [
      ...cardFaults(request),
      ...everyLink(request, contactUrls(request)),
    ],

    thankYou: (request: CreateThankYouLinkRequest): Fault[] => everyLink(request, thankYouUrls(request)),

    change(request: UpdateLinkRequest): Fault[] {
      const { updateMask, fallbackDestination, expiredDestination, expiresAt } = request;
      const given = <Value>(field: string, value: Value) =>
        mayChange(updateMask, field) ? value : undefined;
      const urls = urlsAt(ownDestinations, {
        fallbackDestination: given("fallback_destination", fallbackDestination),
        expiredDestination: given("expired_destination", expiredDestination),
      });
      const contradictions = faultsFrom(() => readLinkUpdate(request));
      const others = [
        ...destinationFaults(urls, [shortUrl]),
        ...expiryFaults(given("expires_at", expiresAt), now()),
      ];
      // A value is not judged when the same request clears its field by a flag.
      const isNamed = ({ field }: Fault) => contradictions.some((one) => one.field === field);
      return [...contradictions, ...others.filter((fault) => !isNamed(fault))];
    },
  };
}
