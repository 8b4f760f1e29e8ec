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

/** What any new link can be asked for, whatever it leads to. */
type AnyLink = Pick<
  CreateLinkRequest,
  "id" | "shortlink" | "expiresAt" | "qrcodeDesignId" | "qrcodeTemplateId"
>;

/** What can be said against requests without the records that they refer to. */
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
      // A value that stands beside the flag that clears it is not judged as well.
      const isNamed = ({ field }: Fault) => contradictions.some((one) => one.field === field);
      return [...contradictions, ...others.filter((fault) => !isNamed(fault))];
    },
  };
}
