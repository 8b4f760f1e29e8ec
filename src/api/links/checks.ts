import type {
  CreateContactLinkRequest,
  CreateLinkRequest,
  CreateThankYouLinkRequest,
  UpdateLinkRequest,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { type Fault, faultsFrom, invalidArgument } from "../../lib/errors.ts";
import { mayChange } from "../../lib/field-mask.ts";
import { chosenIdFaults } from "../../lib/ids.ts";
import { destinationFaults } from "../../model/screened-url.ts";
import { shortlinkFaults } from "./rules.ts";
import { readWanted, screenedUrls } from "./update-link.ts";
import { cardFaults, contactUrls, redirectUrls } from "./wanted-link.ts";

/** What can be said against requests without the records that they refer to. */
export function linkChecks(shortUrl: string) {
  const own = [shortUrl];
  return {
    redirect: (request: CreateLinkRequest): Fault[] => [
      ...(request.destination === "" ? [invalidArgument("destination", "is required")] : []),
      ...destinationFaults(redirectUrls(request), own),
      ...chosenIdFaults(request.id),
      ...everyLink(request),
    ],

    contact: (request: CreateContactLinkRequest): Fault[] => [
      ...cardFaults(request),
      ...destinationFaults(contactUrls(request), own),
      ...everyLink(request),
    ],

    thankYou: (request: CreateThankYouLinkRequest): Fault[] => everyLink(request),

    change(request: UpdateLinkRequest): Fault[] {
      const urls = mayChange(request.updateMask, "fallback_destination") ? screenedUrls(request) : [];
      return [...faultsFrom(() => readWanted(request)), ...destinationFaults(urls, own)];
    },
  };
}

function everyLink({
  shortlink,
  qrcodeDesignId,
  qrcodeTemplateId,
}: Pick<CreateLinkRequest, "shortlink" | "qrcodeDesignId" | "qrcodeTemplateId">): Fault[] {
  return [
    ...(shortlink === "" ? [] : shortlinkFaults(shortlink)),
    ...(qrcodeDesignId !== "" && qrcodeTemplateId !== ""
      ? [invalidArgument("qrcodeTemplateId", "must not come together with qrcodeDesignId")]
      : []),
  ];
}
